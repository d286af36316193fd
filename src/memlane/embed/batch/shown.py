"""The jobs in the ledger as values for everybody: as they were at the last look, without asking anybody."""

from __future__ import annotations

from ...clock import Clock
from ...values import BatchJob
from .ledger import Job, Ledger


def shown(ledger: Ledger, clock: Clock, *, space: str | None) -> tuple[BatchJob, ...]:
    """The jobs there are. `space` is the identity of the configured model's space; None where it has none."""
    return tuple(_shown(job, clock, in_use=job.space == space) for job in ledger.jobs())


def _shown(job: Job, clock: Clock, *, in_use: bool) -> BatchJob:
    return BatchJob(
        id=job.id,
        provider=job.provider,
        model=job.model,
        remote_id=job.remote,
        state=job.state or job.stage,
        texts=job.texts,
        done=job.done,
        failed=job.failed,
        created=job.created.isoformat(timespec="seconds"),
        age_seconds=max(0, int((clock.now() - job.created).total_seconds())),
        looked=job.looked.isoformat(timespec="seconds") if job.looked else None,
        ends=job.ends.isoformat(timespec="seconds"),
        in_use=in_use,
    )
