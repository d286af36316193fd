"""What cannot be made again from the notes: what is forgotten, and the batch jobs that are under way."""

from __future__ import annotations

from collections.abc import Iterator

from ..tombstones.ledger import Ledger, ledger_path
from .findings import Finding, advice, broken, fine
from .subject import Subject

_AT_THE_PROVIDER = "see at the provider whether its job still runs, then delete it; its texts are sent again"


def check_forgotten(subject: Subject) -> Iterator[Finding]:
    """Whether it can be told what is forgotten; where that cannot be read, nothing is indexed."""
    ledger = Ledger(ledger_path(subject.settings.state_dir, subject.settings.agent_id))
    count = len(ledger.read().stones)  # what cannot be read is an error that says what to do
    if count:
        yield fine("forgotten", f"{ledger.path}: {count} forgotten")


def check_batches(subject: Subject) -> Iterator[Finding]:
    """Whether the records of batch jobs can be read."""
    folder = subject.index.jobs_path
    if not folder.is_dir():
        return
    from ..embed.batch.ledger import Ledger as Jobs

    ledger = Jobs(folder)
    for path in ledger.unreadable():
        yield broken("batches", f"{path} is no record of a batch job", _AT_THE_PROVIDER)
    if aside := ledger.set_aside():
        yield advice(
            "batches", f"damaged records were set aside: {', '.join(map(str, aside))}", _AT_THE_PROVIDER
        )
    jobs = ledger.jobs()
    for job in jobs:
        ledger.digests(job)
    yield fine("batches", f"{folder}: {len(jobs)} under way")
