"""What time a question speaks of: "last week", "hace dos semanas", "3주 전", "5月2日". Pure, without a model.

The phrases are tables of eleven languages (`western`, `eastern`), looked at only where a word of theirs
stands in the query: 5 µs for a query without any, 30 to 70 with, 1 to 6 ms the first time; 2.5 ms to import.
The library dateparser knows more languages; its `search_dates` takes 233 ms to import and 65 a query, gives
days where weeks are meant, and read a date into 19 of 25 texts without one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from math import sqrt

from ...values import Value
from .grammar import language, triggers
from .numeric import numeric_spans
from .reading import Reading, readings
from .spans import Span
from .words import DATE, folded

__all__ = ["Period", "nearness", "periods"]

_LONGEST_QUERY = 2_000
"""Characters that are looked at; a question is shorter, and a pasted log is no question."""
_WORD = r"[^\W\d_]+"
_YEAR = r"(?:19|20)\d\d"
_FADES_AFTER = 3.0
"""Days until a note outside a period of one day counts nothing; it grows with the root of the length."""


class Period(Value, frozen=True):
    """A span of days that a text speaks of."""

    start: date
    end: date
    """The last day, itself included."""
    phrase: str
    """What was read, as it stands in the text (composed, NFC)."""
    exact: bool = True
    """False where the words leave room: weeks and longer ago, a few days, a date without its year."""


def periods(query: str, today: date) -> tuple[Period, ...]:
    """The periods that a query speaks of, in the order of its words; mostly none.

    Weeks begin on Monday (ISO 8601). "Last week" is the calendar week before this one, "in the last week" the
    seven days until today; "three weeks ago" is seven days with that day in their middle. What has no year or
    week, as "in March", "May 2nd" or "on Monday", is the latest that has begun. Future periods ("next week")
    are read too. What is only before a day is no period, what is since or after one ends today.

    Not read: times of day, ages and durations, versions (`2026.4.10`), names with a sign in them (`today.md`,
    `#march`), `5/2/2023`, numbers that are only perhaps a year.
    """
    text = query[:_LONGEST_QUERY]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    low = folded(text)
    numeric = list(numeric_spans(low)) if any(map(str.isdecimal, low)) else []
    codes = _languages(low, bool(numeric) or re.search(_YEAR, low) is not None)
    if not (codes or numeric):
        return ()
    for start, end, _ in numeric:
        low = low[:start] + DATE * (end - start) + low[end:]
    dates = {start: span for start, _, span in numeric}
    found = [Reading(start, end, span) for start, end, span in numeric]
    for code in codes:
        found += readings(low, text, language(code), dates, today)
    return _periods(text, found)


def nearness(day: date, periods: Iterable[Period]) -> float:
    """How near a day lies to the nearest of some periods: 1 within one, 0 far from all, or without any.

    It falls evenly outside, to nothing after 3·√length days: 3 for a day, 8 for a week, 17 for a month, 57
    for a year.
    """
    return max((_nearness(day, period) for period in periods), default=0.0)


def _nearness(day: date, period: Period) -> float:
    outside = max((period.start - day).days, (day - period.end).days, 0)
    return max(0.0, 1.0 - outside / (_FADES_AFTER * sqrt((period.end - period.start).days + 1)))


def _languages(text: str, year: bool) -> tuple[str, ...]:
    """The languages a folded text may speak of time in."""
    wanted = triggers()
    found: dict[str, None] = {}
    for word in re.findall(_WORD, text):
        if word in wanted.words:
            found.update(dict.fromkeys(wanted.words[word]))
        if year and word in wanted.beside_years:
            found.update(dict.fromkeys(wanted.beside_years[word]))
    if not text.isascii():
        for code, pieces in wanted.pieces:
            if any(piece in text for piece in pieces):
                found[code] = None
    return tuple(found)


def _periods(text: str, found: list[Reading]) -> tuple[Period, ...]:
    """The longest readings that do not overlap, by place; a weekday right before its date is dropped."""
    chosen: list[Reading] = []
    for reading in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(reading.end <= other.start or other.end <= reading.start for other in chosen):
            chosen.append(reading)
    chosen.sort(key=lambda one: one.start)
    kept: dict[Span, Period] = {}
    for reading, following in zip(chosen, [*chosen, None][1:], strict=False):
        beside = following and following.span and text[reading.end : following.start].strip(" ,(（、") == ""
        if reading.span and not (beside and not reading.whole):
            start, end = reading.span
            period = Period(start, end, text[reading.start : reading.end], reading.exact)
            kept.setdefault(reading.span, period)
    return tuple(kept.values())
