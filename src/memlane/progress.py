"""How far the work of a memory is, how long it may take, and how to end it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from .errors import Interrupted
from .events import Observer, Stage
from .values import Value


class Progress(Value, frozen=True):
    """How far the work at hand is."""

    stage: Stage
    done: int
    total: int
    """Files for `index`, chunks for `embed`."""
    seconds_left: float | None
    """At the pace so far; None while there is no pace yet."""


class ProgressRelay:
    """Passes what is reported on to the host's observer, remembers the latest of it, and can end the work."""

    def __init__(self, observer: Observer, *, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives seconds; only differences count."""
        self._observer = observer
        self._clock = clock
        self._stopping = threading.Event()
        self._latest: Progress | None = None
        self._stage: Stage | None = None
        self._began = (0.0, 0)
        """When the stage began, and how much of it was done then."""

    @property
    def latest(self) -> Progress | None:
        """The work at hand; None when there is none."""
        return self._latest

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """Pass a step on. Raises Interrupted once `stop` was called."""
        now = self._clock()
        if stage != self._stage:
            self._stage, self._began = stage, (now, done)
        began, before = self._began
        made = done - before
        left = (now - began) / made * (total - done) if made > 0 else None
        self._latest = Progress(stage, done, total, left)
        self._observer.progress(stage, done, total)
        if self._stopping.is_set():
            raise Interrupted("indexing was stopped; what is done so far is kept")

    def warning(self, message: str) -> None:
        """Pass a warning on."""
        self._observer.warning(message)

    def finish(self) -> None:
        """The work at hand is over."""
        self._latest = self._stage = None

    def stop(self) -> None:
        """End the work at its next step, and all work after it."""
        self._stopping.set()
