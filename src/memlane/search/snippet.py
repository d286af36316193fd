"""The part of a chunk that shows why it was found. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..index.analyze import term_spans
from ..markdown import is_border
from ..values import Value

SNIPPET_CHARACTERS = 700
_ELLIPSIS = "…"
_LEAD = 80
"""How much text may stand before the first match of a cut snippet, so that it begins in context."""
_NEAR = 40
"""How far a cut may move to fall between two words."""


class Match(Value, frozen=True):
    """A place where a query term stands in a text."""

    term: str
    start: int
    end: int


def find_matches(text: str, terms: Sequence[str]) -> list[Match]:
    """Where the terms stand in the text, in order."""
    return [Match(term, start, end) for term, start, end in term_spans(text, frozenset(terms))]


def cut_snippet(
    text: str,
    matches: Sequence[Match],
    weights: Mapping[str, float],
    *,
    limit: int = SNIPPET_CHARACTERS,
    likeness: Callable[[str], float] | None = None,
) -> str:
    """At most `limit` characters of the text around the best of its matches.

    The window is the one whose distinct matched terms weigh most. Without a match, the passage that
    `likeness` rates highest is shown; without either, the beginning. Cut between words where it can be,
    never inside a grapheme; an ellipsis marks each cut.
    """
    if len(text) <= limit:
        return text
    room = limit - 2 * len(_ELLIPSIS)
    if matches:
        start = _heaviest_window(matches, weights, room - _LEAD) - _LEAD
    elif likeness is not None and "\n" in text:
        start = _likest_passage(text, likeness)
    else:
        start = 0
    start = max(0, min(start, len(text) - room))
    return _trimmed(text, start, start + room)


def _heaviest_window(matches: Sequence[Match], weights: Mapping[str, float], width: int) -> int:
    """Where the window begins whose distinct terms weigh most; the earliest among equals."""
    best_start, best_weight = matches[0].start, -1.0
    for first, match in enumerate(matches):
        inside = {other.term for other in matches[first:] if other.end <= match.start + width}
        weight = sum(weights.get(term, 0.0) for term in inside)
        if weight > best_weight:
            best_start, best_weight = match.start, weight
    return best_start


def _likest_passage(text: str, likeness: Callable[[str], float]) -> int:
    """Where the line begins that is most like the query."""
    best_start, best_likeness, start = 0, float("-inf"), 0
    for line in text.split("\n"):
        if line.strip():
            found = likeness(line)
            if found > best_likeness:
                best_start, best_likeness = start, found
        start += len(line) + 1
    return best_start


def _trimmed(text: str, start: int, end: int) -> str:
    """`text[start:end]` moved inwards to word borders, or to grapheme borders inside a long word."""
    head = tail = ""
    if start > 0:
        start, head = _border_after(text, start), _ELLIPSIS
    if end < len(text):
        end, tail = _border_before(text, end), _ELLIPSIS
    return f"{head}{text[start:end].strip()}{tail}"


def _border_after(text: str, position: int) -> int:
    """The first word border at or after `position`, if one is near; else a grapheme border."""
    for index in range(position, min(position + _NEAR, len(text))):
        if text[index - 1].isspace() or text[index].isspace():
            return index
    return next(index for index in range(position, len(text) + 1) if is_border(text, index))


def _border_before(text: str, position: int) -> int:
    """The last word border at or before `position`, if one is near; else a grapheme border."""
    for index in range(position, max(position - _NEAR, 0), -1):
        if text[index - 1].isspace() or text[index].isspace():
            return index
    return next(index for index in range(position, -1, -1) if is_border(text, index))
