"""The only reader of the clock: "now", and "today" as the user's calendar day."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol

from .errors import ConfigError


class Clock(Protocol):
    """Tells the time. Everything that depends on a day (context, remember, decay) asks one of these."""

    def now(self) -> datetime:
        """The present moment, aware, in the user's zone."""
        ...

    def today(self) -> date:
        """The user's calendar day."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment, never going back: for how long something takes."""
        ...


class SystemClock:
    """The host's clock seen in a zone."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone

    def now(self) -> datetime:
        """The present moment in the zone, or in the host's zone when none was given."""
        return datetime.now(UTC).astimezone(self._zone)

    def today(self) -> date:
        """The zone's calendar day, never the UTC day by accident."""
        return self.now().date()

    def monotonic(self) -> float:
        """Seconds that the host's clock cannot set back."""
        return time.monotonic()


class FixedClock:
    """A clock that stands still: for tests and for reproducible runs."""

    def __init__(self, moment: datetime) -> None:
        if moment.tzinfo is None:
            raise ValueError("a fixed clock needs an aware datetime")
        self._moment = moment

    def now(self) -> datetime:
        """The moment given."""
        return self._moment

    def today(self) -> date:
        """The day of the moment given, in its own zone."""
        return self._moment.date()

    def monotonic(self) -> float:
        """Always 0: nothing takes any time, so no deadline passes."""
        return 0.0


def day_start(day: date, zone: tzinfo | None, *, after: int = 0) -> int:
    """When a day begins, or the one `after` so many days, in milliseconds since 1970."""
    shift = datetime.combine(day, datetime.min.time(), zone).utcoffset() or timedelta()
    days = (day - date(1970, 1, 1)).days + after
    return days * 86_400_000 - int(shift.total_seconds() * 1000)


def zone_named(name: str | None) -> tzinfo | None:
    """The IANA zone `name`, or None for the host's zone. Raises ConfigError for an unknown name."""
    if not name:
        return None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(
            f"unknown time zone {name!r} in agents.defaults.userTimezone",
            hint="use an IANA name such as Europe/Berlin or Asia/Seoul",
        ) from error
