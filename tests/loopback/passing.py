"""A clock for code that waits: time passes when it does, and at no other moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

START = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Time:
    """A clock that goes on when somebody waits, and does not wait."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.pauses: list[float] = []
        self.over = False

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed)

    def today(self) -> date:
        return self.now().date()

    def monotonic(self) -> float:
        return self.passed

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.passed += seconds

    def wait(self, seconds: float) -> bool:
        self.pause(seconds)
        return self.over
