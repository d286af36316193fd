"""Batch jobs: texts that a provider is embedding in its own time."""

from __future__ import annotations

from .base import Value


class BatchJob(Value, frozen=True):
    """One job, as it was when somebody looked last."""

    id: str
    """Ours; the provider has it too, as metadata or as the name that is shown."""
    provider: str
    model: str
    remote_id: str
    """The provider's; empty before it has taken the job."""
    state: str
    """The provider's word; before there is one, `new` or `uploaded`."""
    texts: int
    done: int
    failed: int
    """Of the texts, as far as the provider counts."""
    created: str
    """ISO time."""
    age_seconds: int
    looked: str | None
    """ISO time of the last look at it."""
    ends: str
    """ISO time by which the provider is to be done with it."""
    in_use: bool = True
    """False: it is of another model or endpoint than the configured one."""


class BatchReport(Value, frozen=True):
    """What a look at the jobs found and did."""

    jobs: tuple[BatchJob, ...] = ()
    """Those that go on."""
    collected: int = 0
    """Vectors that were taken over from jobs that have ended."""
    resent: int = 0
    """Texts of those jobs that have no vector; the next pass sends them directly."""
    warnings: tuple[str, ...] = ()
