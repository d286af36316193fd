"""One limiter for all workers of a purpose: they pause together, and learn how much a minute takes.

A service that refuses says how long to wait, but seldom how much it takes. What it took within the minute
before a refusal is kept as the pace; where it took nothing, no pace is known, and the next request is half as
large. A pace that holds grows by a quarter, and stays below what was refused lately; such a size grows, too.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

_WINDOW = 60.0
_LOOK_AGAIN = 0.2
"""Seconds until what is under way may have been taken or refused."""
_CEILING_HOLDS = 600.0
"""How long a size that was refused is not tried again."""


class Waiter(Protocol):
    """Waits, and is told when waiting makes no sense any more."""

    def wait(self, seconds: float) -> bool:
        """Wait that long; True when it was cut short because the work is over."""
        ...


class Cut(Exception):  # noqa: N818 - reads as a statement of fact
    """The wait was cut short."""


class TooLong(Exception):  # noqa: N818
    """The pause is longer than whoever asks can wait.

    Attributes:
        seconds: how long it is.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Turn(NamedTuple):
    """Leave to send one request."""

    items: int
    pauses: int
    """How many pauses there had been: a request of before the last one teaches nothing new."""


class Limiter:
    """Says when the next request may be sent. Safe to be used by several threads at a time."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._ready_at = 0.0
        self._pauses = 0
        self._taken: deque[tuple[float, int]] = deque()
        self._under_way = 0
        self._pace: int | None = None
        """Items a minute; None while no limit of a minute is known."""
        self._size: int | None = None
        """Items a request; None while none was too many by itself."""
        self._proven = 0
        """The most that was taken within a minute since the last pause that taught something."""
        self._ceiling: int | None = None
        self._ceiling_since = 0.0
        self._refused_in_a_row = 0

    @property
    def largest(self) -> int | None:
        """How many items a request may have; None where no limit is known."""
        return min((each for each in (self._pace, self._size) if each is not None), default=None)

    @property
    def refused_in_a_row(self) -> int:
        """How often the service has wanted a pause since it last took anything."""
        return self._refused_in_a_row

    def take(self, items: int, waiter: Waiter, within: float | None = None) -> Turn:
        """Wait for leave to send so many items; at most `largest`, or they never fit.

        Raises TooLong when that takes more than `within` seconds, and Cut when the waiter says so.
        """
        waited = 0.0
        before = -1.0
        while True:
            with self._lock:
                now = self._monotonic()
                pause = self._pause_before(items, now)
                stands_still = now == before  # such a clock cannot tell; having waited must do
                if pause <= 0 or stands_still:
                    self._under_way += items
                    return Turn(items, self._pauses)
            if within is not None and waited + pause > within:
                raise TooLong(pause)
            if waiter.wait(pause):
                raise Cut
            waited += pause
            before = now

    def done(self, turn: Turn) -> None:
        """The service took the request."""
        with self._lock:
            now = self._monotonic()
            self._under_way -= turn.items
            self._taken.append((now, turn.items))
            self._refused_in_a_row = 0
            if self._size is not None and turn.items >= self._size:
                self._size = _grown(self._size)
            spent = self._spent(now)
            self._proven = max(self._proven, spent)
            if self._pace is not None and spent >= self._pace:
                self._grow(spent, now)

    def failed(self, turn: Turn) -> None:
        """The request came to nothing, for reasons that have nothing to do with limits."""
        with self._lock:
            self._under_way -= turn.items

    def refused(self, turn: Turn, pause: float) -> None:
        """The service takes no more for now: everybody pauses."""
        with self._lock:
            now = self._monotonic()
            self._under_way -= turn.items
            self._ready_at = max(self._ready_at, now + pause)
            if turn.pauses < self._pauses:
                return
            self._pauses += 1
            self._refused_in_a_row += 1
            self._learn(turn.items, self._spent(now), now)

    def _grow(self, spent: int, now: float) -> None:
        old = now - self._ceiling_since > _CEILING_HOLDS
        if self._ceiling is not None and (old or spent >= self._ceiling):
            self._ceiling = None
        grown = _grown(spent)
        self._pace = grown if self._ceiling is None else max(spent, min(grown, self._ceiling - 1))

    def _learn(self, items: int, spent: int, now: float) -> None:
        if spent:
            likely = spent + self._under_way
            self._lower(likely, likely + items, now)
        elif 0 < self._proven < items:
            self._lower(self._proven, items, now)
        elif self._refused_in_a_row > 1:
            self._size = max(1, items // 2)
            self._proven = 0

    def _lower(self, pace: int, ceiling: int, now: float) -> None:
        self._pace = pace
        self._ceiling = max(ceiling, pace + 1)
        self._ceiling_since = now

    def _pause_before(self, items: int, now: float) -> float:
        if now < self._ready_at:
            return self._ready_at - now
        if self._pace is None:
            return 0.0
        room = max(self._pace, items) - self._spent(now) - self._under_way
        if room >= items:
            return 0.0
        left = self._taken[0][0] + _WINDOW - now if self._taken else _WINDOW
        return max(0.001, min(left, _LOOK_AGAIN) if self._under_way else left)

    def _spent(self, now: float) -> int:
        while self._taken and self._taken[0][0] + _WINDOW <= now:
            self._taken.popleft()
        return sum(items for _, items in self._taken)


def _grown(items: int) -> int:
    return items + max(1, items // 4)
