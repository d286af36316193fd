"""Where a text may be cut without tearing what a reader sees as one character.

The rules are those of Unicode's extended grapheme clusters (UAX #29), taken a little wider so that the
categories of `unicodedata` are enough and no table has to be shipped: nothing is cut after a joiner or
between the parts of an Indic conjunct. Every border found here is one by the standard too, save for a few
historic scripts and for characters newer than the interpreter's Unicode tables. (The `regex` package knows
them exactly; its import costs as much time as chunking a hundred notes, for a case most notes never meet.)
"""

from __future__ import annotations

from unicodedata import category, combining

_JOINER = "\u200d"
_MARKS = frozenset({"Mn", "Me", "Mc"})
# Extending or spacing characters whose category does not say so: the zero-width non-joiner, Thai and Lao
# AM, half-width voicing marks.
_EXTENDING = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
# Arabic and Syriac number signs and the like (not the historic scripts'), which hold on to what follows.
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
)
_VIRAMA = 9  # canonical combining class


def is_border(text: str, index: int, floor: int = 0) -> bool:
    """Whether `text` may be cut before `text[index]`.

    `floor` is a border already known, before which there is no need to look (runs of flags are counted
    backwards from `index`). Both ends of the text are borders.
    """
    if index <= floor or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if after < "\u0300" and before < "\u0300":
        return not (before == "\r" and after == "\n")
    if _is_indicator(before) and _is_indicator(after):
        return _run_of_indicators(text, index, floor) % 2 == 0
    return not (_extends(after) or _holds(before, after) or _is_syllable(_hangul(before), _hangul(after)))


def _extends(character: str) -> bool:
    return (
        category(character) in _MARKS
        or character in _EXTENDING
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags, as in the flags of Scotland and Wales
    )


def _holds(before: str, after: str) -> bool:
    """Whether a joiner, a sign that goes before a number, or a virama keeps what follows it."""
    return (
        before in _PREPENDED
        or (before == _JOINER and after >= "\u0300")
        or (combining(before) == _VIRAMA and category(after) == "Lo")
    )


def _is_indicator(character: str) -> bool:
    """Half a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _run_of_indicators(text: str, index: int, floor: int) -> int:
    start = index
    while start > floor and _is_indicator(text[start - 1]):
        start -= 1
    return index - start


def _hangul(character: str) -> str:
    """L, V or T for a jamo, LV or LVT for a syllable, nothing for other characters."""
    if "\uac00" <= character <= "\ud7a3":
        return "LVT" if (ord(character) - 0xAC00) % 28 else "LV"
    if "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c":
        return "L"
    if "\u1160" <= character <= "\u11a7" or "\ud7b0" <= character <= "\ud7c6":
        return "V"
    if "\u11a8" <= character <= "\u11ff" or "\ud7cb" <= character <= "\ud7fb":
        return "T"
    return ""


_SYLLABLES = {
    "L": ("L", "V", "LV", "LVT"),
    "V": ("V", "T"),
    "LV": ("V", "T"),
    "T": ("T",),
    "LVT": ("T",),
}


def _is_syllable(before: str, after: str) -> bool:
    return after in _SYLLABLES.get(before, ())


def last_border(text: str, start: int, limit: int) -> int:
    """The last border after `start` and not beyond `limit`; `limit` itself when there is none."""
    for index in range(limit, start, -1):
        if is_border(text, index, start):
            return index
    return limit
