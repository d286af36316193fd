"""From words to spans of days: find the phrases of one language, and work out what they mean today. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from ...values import Value
from . import spans
from .grammar import Language, Node, Operation
from .spans import Span
from .words import DATE, ORDINAL_LETTERS, Word, words

Values = Mapping[str, Any]
_ARTICLE = 3
"""One word of up to so many letters may stand between `since` and its date."""


_BETWEEN = 1
"""So many words may stand between two dates of one year."""


class Reading(Value, frozen=True):
    """A phrase that was read: where it starts and ends in the text, and what it means."""

    start: int
    end: int
    span: Span | None
    """None: it reads like a period and is none, and nothing in it is."""
    exact: bool = True
    whole: bool = True
    """False: a weekday by itself, which says nothing beside its date."""


class _Phrase(Value, frozen=True):
    first: int
    last: int
    """Which words it is made of: from `first` up to, without, `last`."""
    operation: Operation
    values: dict[str, Any]


def readings(
    text: str, original: str, language: Language, dates: Mapping[int, Span], today: date
) -> list[Reading]:
    """The phrases of a language in a text.

    Args:
        text: folded, with dates in numbers written over.
        original: the same before folding, character for character.
        language: the language to read.
        dates: where a date in numbers starts, and its span.
        today: the day on which it is asked.
    """
    said = words(text, language.known, language.longest)
    found: list[Reading] = []
    phrases = list(_phrases(said, language, dates))
    index = 0
    while index < len(phrases):
        phrase = phrases[index]
        index += 1
        if not _holds(phrase, said, original, language):
            continue
        following = phrases[index] if index < len(phrases) else None
        if following and following.first - phrase.last <= _BETWEEN:
            phrase = _with_year_of(phrase, following)
        try:
            if phrase.operation.verb not in {"since", "before", "after"}:
                span, exact = _meaning(phrase.operation, phrase.values, today)
                found.append(_reading(phrase, phrase, said, span, exact))
            elif following and _leads(phrase, following, said):
                span, exact = _meaning(following.operation, following.values, today)
                if span:
                    span, exact = _moved(phrase, span, today, exact)
                    found.append(_reading(phrase, following, said, span, exact))
                    index += 1
        except (ValueError, OverflowError):
            continue
    return found


def _with_year_of(phrase: _Phrase, following: _Phrase) -> _Phrase:
    """The first of two dates with the year of the second: `between August 11 and August 15, 2023`."""
    values = phrase.values
    parts = {"month", "day", "year"}
    if (
        following.values.keys() == parts
        and parts - values.keys() == {"year"}
        and values["month"] <= following.values["month"]
    ):
        return _Phrase(
            phrase.first, phrase.last, phrase.operation, {**values, "year": following.values["year"]}
        )
    return phrase


def _reading(first: _Phrase, last: _Phrase, said: list[Word], span: Span | None, exact: bool) -> Reading:
    whole = first.operation.verb != "written" or set(last.values) != {"weekday"}
    return Reading(
        start=said[first.first][1], end=said[last.last - 1][2], span=span, exact=exact, whole=whole
    )


def _phrases(said: list[Word], language: Language, dates: Mapping[int, Span]) -> Iterator[_Phrase]:
    """The longest phrase at each place, one after the other."""
    readings = [_classes(word, language) for word in said]
    index = 0
    while index < len(said):
        best = _longest(language.phrases, said, readings, index)
        if best is None and said[index][0][:1] == DATE:
            best = index + 1, Operation(verb="written"), {"date": dates[said[index][1]]}
        if best is None:
            index += 1
        else:
            yield _Phrase(index, *best)
            index = best[0]


_Match = tuple[int, Operation, dict[str, Any]]


def _longest(node: Node, said: list[Word], classes: list[list[tuple[str, Any]]], index: int) -> _Match | None:
    best: _Match | None = (index, node[None], {}) if None in node else None
    if index == len(said) or not said[index][0]:
        return best
    word = said[index][0]
    steps: list[tuple[str, Any]] = [(word, None), *classes[index]]
    for step, value in steps:
        if step in node:
            match = _longest(node[step], said, classes, index + 1)
            if match and (best is None or match[0] > best[0]):
                end, operation, values = match
                best = end, operation, values if value is None else {_key(step): value, **values}
    return best


def _key(step: str) -> str:
    """The value that a class gives: both kinds of month are months."""
    return {"{maybe}": "month", "{m}": "month", "{ord}": "day", "{some}": "n"}.get(step, step[1:-1])


def _classes(word: Word, language: Language) -> list[tuple[str, Any]]:
    text = word[0]
    if not text.isdecimal():
        if text[:1].isdecimal() and 1 <= (day := int(text.rstrip(ORDINAL_LETTERS)[:3])) <= 31:
            return [("{ord}", day), ("{day}", day)]
        return [(f"{{{name}}}", value) for name, value in language.classes.get(text, ())]
    found: list[tuple[str, Any]] = []
    number = int(text[:5])
    if len(text) <= 3 and number:
        found.append(("{n}", (number, number)))
    if len(text) <= 2 and 1 <= number <= 31:
        found.append(("{day}", number))
    if len(text) <= 2 and 1 <= number <= 12:
        found.append(("{m}", number))
    # Behind a year of older days stands 年; a bare number of four digits is as often something else.
    if len(text) == 4 and (1000 if language.known else 1900) <= number < 2100:
        found.append(("{year}", number))
    return found


def _holds(phrase: _Phrase, said: list[Word], original: str, language: Language) -> bool:
    """Whether a phrase that may as well be something else is what it seems."""
    only = phrase.operation.only
    if only == "^":
        return all(original[start:end].islower() for _, start, end in said[phrase.first : phrase.last])
    if only == "?":
        outside = said[: phrase.first] + said[phrase.last :]
        return len(said) == 1 or any(word in language.signs for word, _, _ in outside)
    if only == "!":
        following = said[phrase.last][0] if phrase.last < len(said) else ""
        return original[said[phrase.first][1]].isupper() and not following.endswith(("s", "people"))
    return True


def _leads(phrase: _Phrase, following: _Phrase, said: list[Word]) -> bool:
    """Whether `since` or the like stands before a date, with an article between them at most."""
    between = said[phrase.last : following.first]
    near = not between or (len(between) == 1 and 0 < len(between[0][0]) <= _ARTICLE)
    return near and following.operation.verb not in {"since", "before", "after", "none"}


def _moved(phrase: _Phrase, span: Span, today: date, exact: bool) -> tuple[Span | None, bool]:
    """What `since`, `two weeks before` and `the day after` make of a span."""
    start, end = span
    verb, values = phrase.operation.verb, phrase.values
    if verb == "since":
        return ((start, today) if start <= today else span), exact
    sign = -1 if verb == "before" else 1
    edge = start if sign < 0 else end
    if "n" in values:
        return _away(edge, values["n"], values["unit"], sign), False
    if "weekday" in values:
        return spans.weekday(edge, values["weekday"], sign), exact
    if "unit" in values:
        near, far = spans.days(edge, sign), spans.later(edge, sign, values["unit"])
        return (min(near, far), max(near, far)), exact
    # All that was before is no period; all that was after ends today.
    after = spans.days(end, 1)
    return ((after, today) if sign > 0 and after <= today else None), exact


def _meaning(operation: Operation, values: Values, today: date) -> tuple[Span | None, bool]:
    verb, count = operation.verb, operation.count
    unit: str = operation.unit or values.get("unit", "")
    reach: tuple[int, int] = values.get("n") or (count, count)
    if operation.weekday is not None:
        values = {**values, "weekday": operation.weekday}
    if verb == "written" and operation.unit == "weekend":
        this = spans.unit_around(today, unit)
        return (this if this[0] <= today else spans.unit_around(today, unit, -1)), False
    if verb == "written":
        return _written(values, today)
    if verb == "shift":
        return _shifted(count, unit, values, today)
    if verb == "in":
        return _within_unit(count, values, today), True
    if verb == "ago":
        return _away(today, reach, unit, -1), unit == "day" and reach[0] == reach[1]
    if verb == "ahead":
        return _away(today, reach, unit, 1), unit == "day" and reach[0] == reach[1]
    if verb == "within":
        return (spans.later(today, -reach[1], unit), today), reach[0] == reach[1]
    return None, True


def _away(day: date, reach: tuple[int, int], unit: str, sign: int) -> Span:
    """So many units before (-1) or after (1) a day."""
    low, high = reach
    if low == high:
        return spans.about(day, sign * low, unit)
    near, far = spans.later(day, sign * low, unit), spans.later(day, sign * high, unit)
    return min(near, far), max(near, far)


def _shifted(count: int, unit: str, values: Values, today: date) -> tuple[Span | None, bool]:
    """The unit, weekday, month or season so far from now."""
    if "weekday" in values:
        return spans.weekday(today, values["weekday"], count), True
    if unit:
        return spans.unit_around(today, unit, count), True
    first = (
        spans.month_of(today.year, values["month"])
        if "month" in values
        else spans.season(today.year, values["season"])
    )
    if count:
        # The last one that is over, the next one to begin.
        years = range(today.year, today.year + 2) if count > 0 else range(today.year, today.year - 3, -1)
        for year in years:
            span = _of_year(year, values)
            if (span[0] > today) if count > 0 else (span[1] < today):
                return span, True
    return first, True


def _of_year(year: int, values: Values) -> Span:
    if "season" in values:
        return spans.season(year, values["season"])
    if "day" in values:
        day = date(year, values["month"], values["day"])
        return day, day
    return spans.month_of(year, values["month"])


def _within_unit(count: int, values: Values, today: date) -> Span:
    """A weekday of last week; a month, day or season of last year."""
    if "weekday" in values:
        return spans.weekday(spans.days(today, 7 * count), values["weekday"], 0)
    return _of_year(today.year + count, values)


def _written(values: Values, today: date) -> tuple[Span | None, bool]:
    """A date as far as it is written; the latest that has begun, where the year is not."""
    if "date" in values:
        return values["date"], True
    if "month" in values or "season" in values:
        if "year" in values:
            return _of_year(values["year"], values), True
        for year in range(today.year, today.year - 9, -1):
            if "day" in values and values["month"] == 2 and values["day"] == 29 and year % 4:
                continue
            span = _of_year(year, values)
            if span[0] <= today:
                return span, False
        return None, False
    if "year" in values:
        plausible = values["year"] <= today.year + 2
        return ((date(values["year"], 1, 1), date(values["year"], 12, 31)) if plausible else None), True
    return spans.weekday(spans.days(today, 1), values["weekday"], -1), False
