"""Takes one job through its provider's interface, and writes down each step before the next one.

What costs money is the creation of a job, and it may happen without being heard of: the answer is lost, or
the process is killed before it can write it down. So the job carries our id, and before one is created again
its provider is asked whether it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from msgspec.structs import replace

from ...clock import Clock
from .base import BatchProtocol, Call, JobRefused, JobState, Json, Pause, ResultRow, Unclear, Wire
from .ledger import Job, Ledger
from .lines import json_object, split_lines

_Answer = TypeVar("_Answer")
_ATTEMPTS = 3
"""How often a job is created when nobody knows whether it has been."""
_PAUSE = 2.0
_MOST_PAGES = 100
"""So many pages of jobs are looked through for one of ours."""
_NOT_FOUND = 404


class JobDriver:
    """Hands in, finds, looks at and reads the jobs of one endpoint."""

    def __init__(
        self,
        protocol: BatchProtocol,
        wire: Wire,
        ledger: Ledger,
        *,
        clock: Clock,
        pause: Pause,
    ) -> None:
        self._protocol = protocol
        self._wire = wire
        self._ledger = ledger
        self._clock = clock
        self._pause = pause

    def hand_in(self, job: Job, digests: Collection[bytes], lines: Iterable[bytes]) -> Job:
        """Upload the texts and create the job. Gives the job as far as it has come.

        Raises JobRefused when the provider does not want it, and Unclear when the upload fails; then nothing
        is left of it in the ledger. When only the creation is unclear, the job stays `uploaded`.
        """
        self._ledger.add(job, digests)
        try:
            answer = self._wire.answer(self._protocol.upload(job.id, lines))
            file = self._read(self._protocol.uploaded, answer)
        except (JobRefused, Unclear):
            self._ledger.remove(job)
            raise
        job = replace(job, stage="uploaded", file=file)
        self._ledger.put(job)
        return self.create(job)

    def create(self, job: Job, *, perhaps_there: bool = False) -> Job:
        """Create an uploaded job, unless it turns out to be there already.

        `perhaps_there`: it may have been created before. Gives it as it is, still `uploaded` when nobody
        knows. Raises JobRefused when the provider does not want it; then it is removed from the ledger.
        """
        for attempt in range(_ATTEMPTS):
            try:
                found = self._find(job.id) if attempt or perhaps_there else None
                state = found or self._created(job)
            except (JobRefused, Unclear) as error:
                last = attempt + 1 == _ATTEMPTS
                if isinstance(error, JobRefused) and (last or not error.passing):
                    self._ledger.remove(job)
                    raise
                if not last:
                    self._pause(_PAUSE)
            else:
                return self._seen(replace(job, stage="created", remote=state.remote), state)
        return job

    def look(self, job: Job) -> tuple[Job, JobState | None]:
        """The job as its provider tells of it now; None when it is not known there.

        Raises JobRefused or Unclear when the provider does not say.
        """
        try:
            state = self._asked(self._protocol.look(job.remote), self._protocol.state)
        except JobRefused as error:
            if error.status != _NOT_FOUND:
                raise
            return job, None
        return self._seen(job, state), state

    def rows(self, file: str) -> Iterator[ResultRow | None]:
        """The rows of a result file; None for a line that cannot be read. Raises JobRefused or Unclear."""
        for line in split_lines(self._wire.parts(self._protocol.download(file))):
            try:
                row = self._protocol.row(line)
            except ValueError:
                row = None
            yield row

    def _created(self, job: Job) -> JobState:
        answer = self._wire.answer(self._protocol.create(job.id, job.file), once=True)
        return self._read(self._protocol.state, answer)

    def _find(self, own: str) -> JobState | None:
        """A job of ours among all that the provider has.

        Raises Unclear when the provider does not tell: an unknown job must not be taken for one that is
        not there.
        """
        page = ""
        try:
            for _ in range(_MOST_PAGES):
                jobs, page = self._asked(self._protocol.listing(page), self._protocol.listed)
                for job in jobs:
                    if job.own == own:
                        return job
                if not page:
                    return None
        except JobRefused as error:
            raise Unclear(str(error), hint=error.hint) from error
        raise Unclear("there are too many batch jobs to look through")

    def _asked(self, call: Call, reader: Callable[[Json], _Answer]) -> _Answer:
        return self._read(reader, self._wire.answer(call))

    def _read(self, reader: Callable[[Json], _Answer], answer: bytes) -> _Answer:
        with _understood():
            return reader(json_object(answer))

    def _seen(self, job: Job, state: JobState) -> Job:
        job = replace(
            job,
            state=state.state,
            done=max(job.done, state.done),
            failed=max(job.failed, state.failed),
            looked=self._clock.now(),
        )
        self._ledger.put(job)
        return job


@contextmanager
def _understood() -> Iterator[None]:
    """An answer that is not of the documented shape says nothing."""
    try:
        yield
    except (ValueError, TypeError, AttributeError) as error:
        raise Unclear(f"an answer cannot be understood: {error}") from error
