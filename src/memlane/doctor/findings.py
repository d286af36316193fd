"""What a check gives: how bad, what, and what to do."""

from __future__ import annotations

from typing import Literal

from ..errors import MemlaneError
from ..values import Value

Severity = Literal["fine", "advice", "broken"]
Mending = Literal["modes", "sync", "rebuild", "cache"]
"""What `--fix` can do: close files to others, bring the index up to date, build it again, mend the cache."""


class Finding(Value, frozen=True):
    """One thing that was looked at."""

    check: str
    """What it belongs to.

    One of configuration, workspace, time, storage, forgotten, writers, cache, index, batches, provider,
    reranking, watching.
    """
    severity: Severity
    """`broken`: memory does less than it should. `advice`: worth knowing. `fine`: nothing to do."""
    message: str
    remedy: str = ""
    """What to do about it."""
    mending: Mending | None = None
    """How `--fix` mends it; None when only a person can."""

    @property
    def fixable(self) -> bool:
        """Whether `memlane doctor --fix` mends it."""
        return self.mending is not None


class DoctorReport(Value, frozen=True):
    """What the doctor found out about one agent's memory."""

    agent: str
    findings: tuple[Finding, ...]
    mended: tuple[str, ...] = ()
    """What was mended on the way to these findings."""

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The findings that keep memory from doing all it should."""
        return tuple(finding for finding in self.findings if finding.severity == "broken")


def fine(check: str, message: str) -> Finding:
    """Nothing to do."""
    return Finding(check, "fine", message)


def advice(check: str, message: str, remedy: str = "", *, mending: Mending | None = None) -> Finding:
    """Worth knowing."""
    return Finding(check, "advice", message, remedy, mending)


def broken(check: str, message: str, remedy: str = "", *, mending: Mending | None = None) -> Finding:
    """Memory does less than it should."""
    return Finding(check, "broken", message, remedy, mending)


def failure(check: str, error: MemlaneError, *, mending: Mending | None = None) -> Finding:
    """An error as a finding: its hint is the remedy."""
    return Finding(check, "broken", str(error), error.hint, mending)


def unusable_configuration(error: MemlaneError, agent: str = "") -> DoctorReport:
    """The report when the configuration does not even load: nothing else can be looked at."""
    return DoctorReport(agent, (failure("configuration", error),))
