"""Which texts become jobs, how long jobs are waited for, and what becomes of what they made.

The vectors of a job go into the embedding cache; whoever embeds directly afterwards finds them there, and
sends what is still missing, but for the texts of jobs that may yet make them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import chain, islice
from time import sleep
from typing import Literal
from uuid import uuid4

from msgspec import field

from ...clock import Clock
from ...events import Observer
from ...values import Value
from ..base import CheckedEmbedder
from ..cache import EmbeddingCache
from .base import BatchService, JobRefused, JobState, Pause, Phase, Unclear
from .collect import Collector
from .decide import is_over, verdict
from .driver import JobDriver
from .ledger import Job, Ledger
from .settings import BatchSettings

_MOST_BYTES = 100_000_000
"""A file is held in memory while it is uploaded."""
_FAILURES = 2
"""So many failures in a row switch batch jobs off for the pass."""
_STEP = 1.0
_LEAST_INTERVAL = 0.1
_REST = timedelta(seconds=30)
"""A pass that somebody waits for does not look at a job again so soon."""
_KEPT = timedelta(days=30)
"""After so long, no provider has the results of a job any more."""

Text = tuple[bytes, str]
"""The digest of a text, and the text."""


class BatchOutcome(Value, frozen=True):
    """What a pass may rely on."""

    left: frozenset[bytes] = frozenset()
    """Digests of texts that a later pass finds made: they are not to be sent now."""
    taken: int = 0
    """Vectors that jobs have put into the cache."""
    resent: int = 0
    """Texts of ended jobs that have no vector: they are to be sent directly."""
    outlook: str = ""
    """What is said of the texts that are left; empty where there are none."""
    warnings: tuple[str, ...] = ()
    """What went wrong; the observer has been told."""


class _Group(Value, frozen=True):
    """The texts of one job."""

    digests: list[bytes] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)


class BatchFill:
    """The batch jobs of one pass over one vector space. The caller holds the writer's lock."""

    def __init__(
        self,
        service: BatchService,
        embedder: CheckedEmbedder,
        cache: EmbeddingCache,
        ledger: Ledger,
        settings: BatchSettings,
        *,
        space: str,
        observer: Observer,
        clock: Clock,
        pause: Pause = sleep,
    ) -> None:
        """`space` is the identity of the space; `pause` waits for so many seconds."""
        self._protocol = service.protocol
        self._wire = service.connect(self._rest)
        self._embedder = embedder
        self._ledger = ledger
        self._settings = settings
        self._space = space
        self._observer = observer
        self._clock = clock
        self._pause = pause
        self._driver = JobDriver(self._protocol, self._wire, ledger, clock=clock, pause=self._rest)
        self._collector = Collector(self._driver, embedder, cache, ledger, warn=self._warn)
        self._live: dict[str, Job] = {}
        self._failures = 0
        self._put_off: set[str] = set()
        """Ended jobs whose results could not be taken over in this pass: they may be gigabytes."""
        self._warnings: list[str] = []
        self._total = 0

    def run(self, missing: Iterable[Text], *, total: int, brief: bool = False) -> BatchOutcome:
        """Take up the jobs there are, hand in new ones where `missing` is large, wait as configured.

        `missing` is asked after what is finished has been taken over; it gives each text once. `total` is
        the number of all of them, for progress. `brief`: do not wait. Raises StoreError, and what the
        observer raises to end the work; the jobs go on in either case.
        """
        self._total = total
        try:
            return self._run(missing, brief=brief)
        finally:
            self._wire.close()

    def look(self) -> BatchOutcome:
        """Look at the jobs there are and take over what is finished; begin none. Raises StoreError."""
        try:
            self._take_up(rested=timedelta(0))
        finally:
            self._wire.close()
        return self._outcome(self._claimed())

    def _run(self, missing: Iterable[Text], *, brief: bool) -> BatchOutcome:
        waiting = self._settings.wait and not brief
        self._take_up(rested=_REST if brief else timedelta(0))
        groups = self._groups(missing)
        until = self._until()
        while True:
            if self._begin_next(groups):
                until = self._until()
            due = [job for job in self._live.values() if job.id not in self._put_off]
            if not due or not waiting or self._clock.monotonic() >= until:
                break
            self._wait(until)
            self._look_at([job for job in self._live.values() if job.id not in self._put_off])
        left = self._claimed()
        if not waiting and not self._off:
            left.update(digest for group in groups for digest in group.digests)
        return self._outcome(left)

    @property
    def _off(self) -> bool:
        return self._failures >= _FAILURES

    def _outcome(self, left: set[bytes]) -> BatchOutcome:
        made = self._collector
        outlook = self._outlook(len(left)) if left else ""
        return BatchOutcome(frozenset(left), made.taken, made.without_vector, outlook, tuple(self._warnings))

    def _take_up(self, *, rested: timedelta) -> None:
        """Go on with what earlier passes began. Jobs looked at less than `rested` ago are left alone."""
        for name in self._ledger.sweep():
            self._warn(f"the record {name} of a batch job cannot be read; its texts are sent directly")
        now = self._clock.now()
        due = []
        for job in self._ledger.jobs():
            if job.space != self._space:
                if now - job.ends > _KEPT:
                    self._ledger.remove(job)
                continue
            if job.stage == "new":
                self._ledger.remove(job)  # it was never handed in
                continue
            self._live[job.id] = job
            if job.looked is None or now - job.looked >= rested:
                due.append(job)
        self._look_at(due)

    def _groups(self, missing: Iterable[Text]) -> Iterator[_Group]:
        """The texts of one job after another; those too few to be worth one are left out."""
        if not self._settings.enabled:
            return
        claimed = self._claimed() | self._collector.over
        wanted = (text for text in missing if text[0] not in claimed)
        first = list(islice(wanted, self._settings.worth_a_job))
        limit = min(_MOST_BYTES, self._protocol.max_bytes)
        group, size = _Group(), 0
        for digest, text in chain(first, wanted):
            line = self._protocol.line(digest.hex(), text)
            if len(group.lines) >= self._protocol.max_requests or (group.lines and size + len(line) > limit):
                yield group
                group, size = _Group(), 0
            group.digests.append(digest)
            group.lines.append(line)
            size += len(line)
        if len(group.lines) >= self._settings.worth_a_job:
            yield group

    def _begin_next(self, groups: Iterator[_Group]) -> bool:
        """Begin jobs as long as there is room for them. Gives whether any was."""
        begun = False
        while len(self._live) < self._settings.concurrency and not self._off:
            group = next(groups, None)
            if group is None:
                break
            self._begin(group)
            begun = True
        return begun

    def _begin(self, group: _Group) -> None:
        now = self._clock.now()
        job = Job(
            id=f"memlane-{uuid4().hex}",
            provider=self._embedder.id,
            model=self._embedder.model,
            space=self._space,
            texts=len(group.digests),
            digest_bytes=len(group.digests[0]),
            created=now,
            ends=now + self._protocol.window,
        )
        try:
            job = self._driver.hand_in(job, group.digests, group.lines)
        except (JobRefused, Unclear) as error:
            self._count_failure(f"{self._embedder.id} took no batch job: {error}")
        else:
            self._live[job.id] = job

    def _look_at(self, jobs: list[Job]) -> None:
        for job in jobs:
            try:
                self._settle(job)
            except (JobRefused, Unclear) as error:
                self._warn(f"the batch job {job.remote or job.id} cannot be looked at: {error}")
                self._forget_after_all(job)

    def _settle(self, job: Job) -> None:
        """Look at a job and do what follows. Raises JobRefused or Unclear when its provider does not say."""
        if job.stage == "uploaded":
            self._live.pop(job.id)
            try:
                job = self._live[job.id] = self._driver.create(job, perhaps_there=True)
            except JobRefused as error:
                self._count_failure(f"{self._embedder.id} took no batch job: {error}")
                return
        state = None
        phase: Phase | Literal["gone"] = "unknown"
        if job.stage == "created":
            job, state = self._driver.look(job)
            self._live[job.id] = job
            phase = state.phase if state else "gone"
        decided = verdict(phase, over=is_over(self._clock.now(), job.ends))
        if decided == "collect" and state is not None:
            self._collect(job, state)
        elif decided == "give up":
            self._collector.give_up(job)
            self._drop(job)
            known = "is not known there" if phase == "gone" else f'is still "{job.state}" after its time'
            self._count_failure(f"the batch job {job.remote or job.id} at {job.provider} {known}")

    def _collect(self, job: Job, state: JobState) -> None:
        """Take over what a job has made, and forget it."""
        found = self._collector.collect(job, state)
        if found is None:
            self._put_off.add(job.id)  # not all of it could be read or stored; a later pass may
            self._forget_after_all(job)
            return
        self._drop(job)
        if found:
            self._failures = 0
        else:
            said = f": {state.reason}" if state.reason else ""
            self._count_failure(f'the batch job {job.remote} at {job.provider} ended "{state.state}"{said}')

    def _forget_after_all(self, job: Job) -> None:
        """Give up a job of which nothing could be learned until its results are gone."""
        if job.id in self._live and self._clock.now() - job.ends > _KEPT:
            self._collector.give_up(job)
            self._drop(job)

    def _drop(self, job: Job) -> None:
        self._live.pop(job.id, None)
        self._ledger.remove(job)

    def _count_failure(self, message: str) -> None:
        self._failures += 1
        self._warn(f"{message}; its texts are sent directly")
        if self._failures == _FAILURES:
            self._warn("two batch jobs have failed in a row: for now, all texts are sent directly")

    def _until(self) -> float:
        return self._clock.monotonic() + self._settings.timeout_seconds

    def _wait(self, until: float) -> None:
        """Let an interval pass between two looks."""
        interval = max(self._settings.poll_seconds, _LEAST_INTERVAL)
        self._rest(min(interval, max(until - self._clock.monotonic(), _LEAST_INTERVAL)))

    def _rest(self, seconds: float) -> None:
        """Let time pass, in steps in which the observer may end the work."""
        done = self._collector.taken + sum(job.done for job in self._live.values())
        while seconds > 0:
            self._observer.progress("embed", min(done, self._total), self._total)
            self._pause(min(seconds, _STEP))
            seconds -= _STEP

    def _claimed(self) -> set[bytes]:
        """The texts that running jobs hold."""
        return set().union(*(self._ledger.digests(job) for job in self._live.values()))

    def _outlook(self, texts: int) -> str:
        states = ", ".join(f"{job.remote or job.id}: {job.state or job.stage}" for job in self._live.values())
        return (
            f"{texts} texts are left to batch jobs that go on ({states}); a later pass takes over what they"
            " make, and memlane index --batch-status looks at them"
        )

    def _warn(self, message: str) -> None:
        if message not in self._warnings:
            self._warnings.append(message)
            self._observer.warning(message)
