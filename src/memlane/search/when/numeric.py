"""Dates that are written in numbers alone: the same in every language. Pure.

`2023-05-02`, `2023/5/2`, `2023. 5. 2.`, `02.05.2023`, `2023-05`, `2023-Q2`, `Q2 2023`. Of `5/2/2023` nobody
can tell the month: such a form is a date only where one part exceeds twelve. `2026.4.10` and `2026.4` are
how versions are numbered: with dots and without blanks, the year first, a date has two digits a part, and
no fourth part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from .spans import Span, month_of

_YEAR = r"(?:19|20)\d\d"
_PATTERN = (
    rf"(?<![\w.:+#-])(?<!\d/)(?:"
    rf"(?P<y1>{_YEAR})(?:(?P<dash>[-/])(?P<m1>\d\d?)(?P=dash)(?P<d1>\d\d?)|\.(?P<m2>\d\d)\.(?P<d2>\d\d)"
    rf"|\.\s(?P<m3>\d\d?)\.\s(?P<d3>\d\d?)\.?)"
    rf"|(?P<d4>\d\d?)\.\s?(?P<m4>\d\d?)\.\s?(?P<y4>{_YEAR})"
    rf"|(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y5>{_YEAR})"
    rf"|(?P<y6>{_YEAR})-(?P<m6>\d\d)"
    rf"|(?P<y7>{_YEAR})[- ]?[Qq](?P<q7>[1-4])|[Qq](?P<q8>[1-4])[ /-]?(?P<y8>{_YEAR})"
    rf")(?![\d/:]|[.-]\d|[^\W\d_](?<![Tt年日]))"
)


def numeric_spans(text: str) -> Iterator[tuple[int, int, Span]]:
    """Each date, month or quarter in numbers: where it starts and ends in the text, and its span of days."""
    for found in re.finditer(_PATTERN, text, re.ASCII):
        try:
            span = _span(
                {name: int(part) for name, part in found.groupdict().items() if name != "dash" and part}
            )
        except ValueError:
            continue
        if span:
            yield *found.span(), span


def _span(parts: dict[str, int]) -> Span | None:
    if "a" in parts:
        low, high = sorted((parts["a"], parts["b"]))
        return _day(parts["y5"], low, high) if high > 12 or low == high else None
    for form in "1234":
        if f"d{form}" in parts:
            year = parts["y4"] if form == "4" else parts["y1"]
            return _day(year, parts[f"m{form}"], parts[f"d{form}"])
    if "m6" in parts:
        # The season 2011-12 is no December.
        return None if parts["m6"] == parts["y6"] % 100 + 1 else month_of(parts["y6"], parts["m6"])
    year, quarter = (parts["y7"], parts["q7"]) if "q7" in parts else (parts["y8"], parts["q8"])
    return month_of(year, 3 * quarter - 2, 3)


def _day(year: int, month: int, day: int) -> Span:
    return date(year, month, day), date(year, month, day)
