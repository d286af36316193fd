"""The tables of phrases, made ready for reading: each language when a query first needs it. Pure."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

from ...index.dates import MONTHS
from ...values import Value
from . import eastern, western
from .words import folded

TABLES = {
    "en": western.ENGLISH,
    "es": western.SPANISH,
    "fr": western.FRENCH,
    "de": western.GERMAN,
    "pt": western.PORTUGUESE,
    "it": western.ITALIAN,
    "nl": western.DUTCH,
    "ru": eastern.RUSSIAN,
    "zh": eastern.CHINESE,
    "ja": eastern.JAPANESE,
    "ko": eastern.KOREAN,
}
UNSPACED = ("zh", "ja", "ko")
_UNITS = ("day", "week", "month", "quarter", "year", "weekend")
_SOME = ((1, 3), (2, 5), (3, 7))
"""What "a couple", "a few" and "several" reach over."""
_LISTS = frozenset(
    {*_UNITS, "triggers", "years", "numbers", "some", "weekdays", "seasons", "months", "doubtful", "signs"}
)

Node = dict[Any, Any]
"""A step in a phrase: by word or `{class}` to the next; at `None`, the operation that a phrase asks for."""


class Operation(Value, frozen=True):
    """What a phrase asks for."""

    verb: str
    """`shift`, or as the tables name it."""
    count: int = 0
    unit: str | None = None
    weekday: int | None = None
    only: str = ""
    """What it is read under alone, as the tables write it: `?`, `^`, `!`."""


class Language(Value, frozen=True):
    """One language's table."""

    phrases: Node
    classes: dict[str, tuple[tuple[str, Any], ...]]
    """Which classes a word belongs to, each with what it stands for."""
    known: dict[str, None]
    """The pieces that words of a script without spaces are cut into."""
    longest: int
    signs: frozenset[str]


class Triggers(Value, frozen=True):
    """What must stand in a query for a language to be looked at."""

    words: dict[str, tuple[str, ...]]
    """The languages of each word."""
    beside_years: dict[str, tuple[str, ...]]
    """The same, of words that count beside a year or a date in numbers."""
    pieces: tuple[tuple[str, tuple[str, ...]], ...]
    """Pieces of text by language, of scripts without spaces."""


@cache
def triggers() -> Triggers:
    """The triggers of all languages."""
    words: dict[str, list[str]] = {}
    beside: dict[str, list[str]] = {}
    pieces = []
    for code, table in TABLES.items():
        lists = _lists(table)
        if code in UNSPACED:
            pieces.append((code, tuple(map(folded, lists["triggers"]))))
            continue
        names = chain(
            lists["weekdays"], lists.get("seasons", ()), lists.get("months", ()), MONTHS[code].split()
        )
        for word in chain(lists["triggers"], *(name.split("|") for name in names)):
            words.setdefault(folded(word), []).append(code)
        for word in lists["years"]:
            beside.setdefault(word, []).append(code)
    return Triggers(
        words={word: tuple(codes) for word, codes in words.items()},
        beside_years={word: tuple(codes) for word, codes in beside.items()},
        pieces=tuple(pieces),
    )


@cache
def language(code: str) -> Language:
    """A language's table, compiled."""
    table = folded(TABLES[code])
    lists = _lists(table)
    classes = _classes(code, lists)
    phrases: Node = {}
    literals: set[str] = set()
    for name, content in _lines(table):
        if name not in _LISTS:
            operation = _operation(name)
            for phrase in content.split(" / "):
                literals.update(_add(phrases, phrase.split(), operation))
    known = dict.fromkeys(sorted({*literals, *classes}) if code in UNSPACED else ())
    return Language(
        phrases=phrases,
        classes=classes,
        known=known,
        longest=max(map(len, known), default=0),
        signs=frozenset(lists.get("signs", ())),
    )


def _lines(table: str) -> list[tuple[str, str]]:
    lines = table.strip().replace("\n    ", " ").split("\n")
    return [(name, content) for name, _, content in (line.partition(": ") for line in lines)]


def _lists(table: str) -> dict[str, list[str]]:
    return {name: content.split() for name, content in _lines(table) if name in _LISTS}


def _classes(code: str, lists: dict[str, list[str]]) -> dict[str, tuple[tuple[str, Any], ...]]:
    doubtful = frozenset(lists.get("doubtful", ()))
    named: list[tuple[str, str, Any]] = [
        *(("n", words, (number, number)) for number, words in enumerate(lists.get("numbers", ()), start=1)),
        *(("some", words, reach) for reach, words in zip(_SOME, lists["some"], strict=False)),
        *(("unit", words, unit) for unit in _UNITS for words in lists.get(unit, ())),
        *(("weekday", words, number) for number, words in enumerate(lists["weekdays"])),
        *(("season", words, number) for number, words in enumerate(lists.get("seasons", ()))),
    ]
    for names in (*folded(MONTHS.get(code, "")).split("\n"), " ".join(lists.get("months", ()))):
        named += [("month", words, number) for number, words in enumerate(names.split(), start=1)]
    classes: dict[str, tuple[tuple[str, Any], ...]] = {}
    for name, words, value in named:
        for word in words.split("|"):
            if word != "_":
                reading = ("maybe" if name == "month" and word in doubtful else name, value)
                classes[word] = (*classes.get(word, ()), reading)
    return classes


def _operation(name: str) -> Operation:
    verb, *rest = name.rstrip(" ?^!").split()
    number = int(rest.pop(0)) if rest and rest[0].lstrip("+-").isdecimal() else None
    if verb.lstrip("+-").isdecimal():
        verb, number = "shift", int(verb)
    unit = rest[0] if rest and rest[0] in _UNITS else None
    day = int(rest[1]) if rest and rest[0] == "weekday" else None
    only = name[-1] if name[-1] in "?^!" else ""
    return Operation(verb=verb, count=number or 0, unit=unit, weekday=day, only=only)


def _add(node: Node, phrase: list[str], operation: Operation) -> set[str]:
    """Write a phrase into the tree; gives its words."""
    if not phrase:
        node.setdefault(None, operation)
        return set()
    first, *rest = phrase
    found: set[str] = set()
    if first.endswith("?"):
        found |= _add(node, rest, operation)
    for step in first.rstrip("?").split("|"):
        found |= _add(node.setdefault(step, {}), rest, operation)
        if not step.startswith("{"):
            found.add(step)
    return found
