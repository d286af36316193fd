"""What a question says of time, and how well a note's day fits it. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date

from ..index.dates import day_terms
from ..values import Value
from .when import Period, nearness, periods

_WITH_YEAR = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?")
_DAY = re.compile(r"(?:\d{4}|-)-\d\d-\d\d", re.ASCII)
_OF_ANY_YEAR = re.compile(r"--\d\d(?:-\d\d)?", re.ASCII)


class AskedTime(Value, frozen=True):
    """The time that a question speaks of."""

    periods: tuple[Period, ...] = ()
    named: frozenset[str] = frozenset()
    """Days and months that it names, as terms: those with a year where there are any."""

    @property
    def said(self) -> bool:
        """Whether it speaks of time at all."""
        return bool(self.periods or self.named)

    @property
    def terms(self) -> tuple[str, ...]:
        """Days that are meant but not written, such as yesterday, as terms to search for."""
        return tuple(
            period.start.isoformat()
            for period in self.periods
            if period.exact and period.start == period.end and period.start.isoformat() not in self.named
        )

    def is_day(self, day: date) -> bool:
        """Whether this very day is asked for, not a week or a month that it lies in."""
        named = {term for term in self.named & day_terms(day) if _DAY.fullmatch(term)}
        return bool(named) or any(period.start == period.end == day for period in self.periods)

    def nearness(self, day: date) -> float:
        """How well a note of this day fits: 1 for a day that is meant, falling to 0 with the distance.

        What is said of a month tells less than what is said of a day, and a year tells nothing. A day that is
        named without its year ("May 6th") fits in every year.
        """
        named = (_telling(1 if _DAY.fullmatch(term) else 30) for term in self.named & day_terms(day))
        meant = (
            nearness(day, (period,)) * _telling((period.end - period.start).days + 1)
            for period in self.periods
        )
        return max((*named, *meant), default=0.0)


def _telling(days: int) -> float:
    """How much a period of so many days tells: 1 for a day, 0.67 for a week, 0.42 for a month."""
    return max(0.0, 1.0 - math.log(days) / math.log(365))


def asked_time(query: str, terms: Sequence[str], today: date) -> AskedTime:
    """The time that a question speaks of, given its searchable terms."""
    named = [term for term in terms if _WITH_YEAR.fullmatch(term)]
    return AskedTime(
        periods(query, today),
        frozenset(named or (term for term in terms if _OF_ANY_YEAR.fullmatch(term))),
    )
