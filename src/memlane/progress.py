"""How far the work of a memory is, how long it may take, and how to end it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from .errors import Interrupted
from .events import Observer, Stage
from .values import Progress


class ProgressRelay:
    """Passes what is reported on to the host's observer, remembers the latest of it, and can end the work."""

    def __init__(self, observer: Observer, *, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives seconds; only differences count."""
        self._observer = observer
        self._clock = clock
        self._latest: Progress | None = None
        self._began: tuple[Stage, float, int] | None = None
        """The stage at hand, when it began, and how much of it was done then."""
        self._told: set[str] = set()
        self.tells_once = False
        """Whether a warning that was told is kept back until `forget`."""
        self.is_over: Callable[[Stage], bool] = lambda _stage: False
        """Asked after each step of a stage whether the work is to end there."""

    @property
    def latest(self) -> Progress | None:
        """The work at hand; None when there is none."""
        return self._latest

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """Pass a step on. Raises Interrupted when the work is to end."""
        now = self._clock()
        if self._began is None or self._began[0] != stage:
            self._began = (stage, now, done)
        _, began, before = self._began
        made = done - before
        left = (now - began) / made * (total - done) if made > 0 else None
        self._latest = Progress(stage, done, total, left)
        self._observer.progress(stage, done, total)
        if self.is_over(stage):
            raise Interrupted("indexing was stopped", hint="what is done so far is kept")

    def warning(self, message: str) -> None:
        """Pass a warning on."""
        if self.tells_once and message in self._told:
            return
        self._told.add(message)
        self._observer.warning(message)

    def forget(self) -> None:
        """All is well: what goes wrong from now on is told again."""
        self._told.clear()

    def finish(self) -> None:
        """The work at hand is over."""
        self._latest = self._began = None
