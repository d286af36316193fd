"""Runs the checks, each within its time; one that fails is a finding and stops no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors import MemlaneError
from ..patience import TookTooLong, within
from .configuration import check_configuration
from .findings import DoctorReport, Finding, advice, broken, failure
from .indexes import check_cache, check_index
from .mending import mend
from .notes import check_workspace
from .providers import check_provider
from .records import check_batches, check_forgotten
from .reranking import check_reranking
from .storage import check_storage
from .subject import Subject
from .surroundings import check_time, check_watching, check_writers

Check = Callable[[Subject], Iterator[Finding]]

_ALWAYS: dict[str, Check] = {
    "configuration": check_configuration,
    "workspace": check_workspace,
    "time": check_time,
}
_WHEN_ENABLED: dict[str, Check] = {
    "storage": check_storage,
    "forgotten": check_forgotten,
    "writers": check_writers,
    "cache": check_cache,
    "index": check_index,
    "batches": check_batches,
    "provider": check_provider,
    "reranking": check_reranking,
    "watching": check_watching,
}


def examine(subject: Subject, *, fix: bool = False) -> DoctorReport:
    """Look at everything memory depends on. With `fix`, mend what is safe and look again."""
    agent = subject.settings.agent_id
    findings = _findings(subject)
    if not fix or not any(finding.fixable for finding in findings):
        return DoctorReport(agent, findings)
    mended = tuple(mend(subject, findings))
    return DoctorReport(agent, _findings(subject), mended)


def _findings(subject: Subject) -> tuple[Finding, ...]:
    checks = _ALWAYS | (_WHEN_ENABLED if subject.settings.enabled else {})
    return tuple(finding for name, check in checks.items() for finding in _run(name, check, subject))


def _run(name: str, check: Check, subject: Subject) -> list[Finding]:
    try:
        return within(subject.seconds, lambda: list(check(subject)))
    except TookTooLong:
        remedy = "see whether the disk and the network answer, then try again"
        severity = broken if name in {"provider", "storage", "workspace"} else advice
        return [severity(name, f"this check took longer than {subject.seconds:.0f} s and was left", remedy)]
    except MemlaneError as error:
        return [failure(name, error)]
    except Exception as error:  # noqa: BLE001 - one check must not stop the others
        return [broken(name, f"this check failed: {type(error).__name__}: {error}", "please report it")]
