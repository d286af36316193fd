"""When the next pass over the notes is due, and why. Pure: it is told the time and never asks for it."""

from __future__ import annotations

from collections.abc import Iterable

from .values import Value

_MOST_DEBOUNCES = 4
"""A note that never rests is indexed after so many times the quiet that was asked for."""
_FIRST_RETRY, _LAST_RETRY = 1.0, 60.0
_IDLE_SECONDS = 60.0


class Turn(Value, frozen=True):
    """A pass that is due."""

    reasons: tuple[str, ...]
    changed: tuple[str, ...]


class Agenda:
    """Gathers reasons for a pass. However many there are, one pass answers them all. Not thread-safe."""

    def __init__(self, *, debounce: float, interval: float = 0.0) -> None:
        """`debounce`: seconds of quiet before changes count. `interval`: seconds between passes; 0: none."""
        self._debounce = debounce
        self._interval = interval
        self._asked: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._first_change: float | None = None
        self._last_change = 0.0
        self._times: dict[str, float] = {}
        """When passes are due that nobody asks for."""
        self._retry = 0.0

    @property
    def has_changes(self) -> bool:
        """Whether changes are known that no pass has taken up."""
        return self._first_change is not None

    @property
    def retry_pause(self) -> float:
        """How long the next attempt is put off since the last one failed; 0 when it did not."""
        return self._retry

    def ask(self, reason: str) -> None:
        """A pass is wanted at once."""
        self._asked[reason] = None

    def note_changes(self, paths: Iterable[str], now: float) -> None:
        """Something changed: a pass is due once it is quiet."""
        self._changed.update(dict.fromkeys(paths))
        self._first_change = now if self._first_change is None else self._first_change
        self._last_change = now

    def give_back(self, turn: Turn) -> None:
        """A pass was ended early for something more urgent: it is to go on at once."""
        self._asked.update(dict.fromkeys(turn.reasons))
        self._changed.update(dict.fromkeys(turn.changed))

    def end_pass(self, now: float, *, failed: bool, poll: float | None = None) -> None:
        """A pass is over. A failed one is tried again, after longer and longer.

        `poll`: look again after so many seconds in any case.
        """
        self._retry = min(max(2 * self._retry, _FIRST_RETRY), _LAST_RETRY) if failed else 0.0
        wanted = {"retry": self._retry, "interval": self._interval, "poll": poll}
        self._times = {reason: now + seconds for reason, seconds in wanted.items() if seconds}

    def is_due(self, now: float) -> bool:
        """Whether a pass should run now."""
        return bool(self._asked) or self.pause(now) <= 0

    def pause(self, now: float) -> float:
        """Seconds until a pass is due as things stand."""
        if self._asked:
            return 0.0
        times = [*self._times.values(), now + _IDLE_SECONDS]
        if self._first_change is not None:
            times.append(self._changes_due(self._first_change))
        return max(0.0, min(times) - now)

    def take(self, now: float) -> Turn | None:
        """The pass that is due, with all there is to do; None when none is."""
        if not self.is_due(now):
            return None
        reasons = dict(self._asked)
        if self._first_change is not None and self._changes_due(self._first_change) <= now:
            reasons["watch"] = None
        reasons.update(dict.fromkeys(reason for reason, time in self._times.items() if time <= now))
        turn = Turn(tuple(reasons), tuple(self._changed))
        self._asked, self._changed, self._first_change, self._times = {}, {}, None, {}
        return turn

    def _changes_due(self, first: float) -> float:
        return min(self._last_change + self._debounce, first + _MOST_DEBOUNCES * self._debounce)
