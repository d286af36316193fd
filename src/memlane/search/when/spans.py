"""Days, weeks, months and years as spans of days. Weeks begin on Monday (ISO 8601). Pure.

A span is its first and last day, both of it. What lies outside the calendar of `date` raises ValueError or
OverflowError.
"""

from __future__ import annotations

from datetime import date, timedelta

Span = tuple[date, date]

DAYS = {"day": 1, "week": 7, "month": 31, "quarter": 91, "year": 365, "weekend": 7}
"""About how long the units are."""


def days(day: date, count: int) -> date:
    """The day so many days later."""
    return day + timedelta(days=count)


def months(day: date, count: int) -> date:
    """The same day of the month so many months later, or that month's last."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, _last_day(year, month + 1)))


def _last_day(year: int, month: int) -> int:
    # By itself: the module calendar takes longer to import than this room.
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def later(day: date, count: int, unit: str) -> date:
    """The day so many units later."""
    if unit in {"day", "week", "weekend"}:
        return days(day, count * DAYS[unit])
    return months(day, count * {"month": 1, "quarter": 3, "year": 12}[unit])


def month_of(year: int, month: int, length: int = 1) -> Span:
    """A calendar month, or so many from it on."""
    last = months(date(year, month, 1), length - 1)
    return date(year, month, 1), last.replace(day=_last_day(last.year, last.month))


def unit_around(day: date, unit: str, shift: int = 0) -> Span:
    """The calendar unit that a day lies in, or the one so many before or after it.

    The weekend of a week is its Saturday and Sunday.
    """
    if unit == "day":
        return days(day, shift), days(day, shift)
    if unit in {"week", "weekend"}:
        monday = days(day, 7 * shift - day.weekday())
        return days(monday, 5 if unit == "weekend" else 0), days(monday, 6)
    length = {"month": 1, "quarter": 3, "year": 12}[unit]
    year, index = divmod((day.year * 12 + day.month - 1) // length * length + shift * length, 12)
    return month_of(year, index + 1, length)


def about(day: date, count: int, unit: str) -> Span:
    """The time so many units later: as long as the unit, with that day in its middle."""
    if unit == "weekend":
        return unit_around(day, unit, count)
    middle = later(day, count, unit)
    reach = DAYS[unit] // 2
    return days(middle, -reach), days(middle, reach)


def weekday(day: date, number: int, shift: int) -> Span:
    """The weekday (Monday is 0) of the week of a day (0), or the last before (-1) or first after (+1) it."""
    if shift == 0:
        found = days(day, number - day.weekday())
    elif shift < 0:
        found = days(day, -((day.weekday() - number - 1) % 7 + 1) + 7 * (shift + 1))
    else:
        found = days(day, (number - day.weekday() - 1) % 7 + 1 + 7 * (shift - 1))
    return found, found


def season(year: int, number: int) -> Span:
    """Spring (0), summer, autumn or winter (3) of a year, of the northern half; winter ends in the next."""
    return month_of(year, 3 + 3 * number, 3)
