"""Which characters form words, and which stand in scripts without spaces. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from .fold import INVISIBLE

# Scripts written without spaces (Thai, Lao, Myanmar, Khmer, Han, kana, bopomofo), and Hangul, whose words
# carry particles that a search for the bare word must see past.
_UNSPACED = (
    (0x0E01, 0x0E4E),
    (0x0E81, 0x0ECE),
    (0x1000, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17D3),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x303B, 0x303B),
    (0x303C, 0x303C),
    (0x3041, 0x3096),
    (0x3099, 0x3099),
    (0x309A, 0x309A),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3105, 0x312F),
    (0x3131, 0x318E),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)
_HAN = (
    (0x3005, 0x3005),
    (0x3007, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_JOINERS = "-./@:#'’&+_"


class _CharacterClasses(dict[int, str]):
    """A translation table to one sign a character.

    H is Han, U otherwise unspaced, L a letter, digit or mark; joiners are themselves, the rest is blank. The
    translated text has the length of the text, so that short patterns over it give exact places, and no
    pattern needs the tables of Unicode.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if _within(code, _HAN):
            sign = "H"
        elif category == "So" or _within(code, _UNSPACED):
            sign = "U"  # an emoji is a word too
        elif character in _JOINERS:
            sign = "'" if character == "’" else character
        elif character in INVISIBLE:
            sign = "L"
        else:
            sign = "L" if category[0] in "LMN" else " "
        self[code] = sign
        return sign


CLASSES = _CharacterClasses()


def is_unspaced(run: str) -> bool:
    """Whether a run of text belongs to a script written without spaces, or to Hangul."""
    return CLASSES[ord(run[0])] in "HU"


def is_han(term: str) -> bool:
    """Whether a term begins with a Han character."""
    return CLASSES[ord(term[0])] == "H"


def characters(run: str) -> list[tuple[str, int, int]]:
    """The normalised (NFKC) characters of an unspaced run, each with where it stands in the run as given."""
    if unicodedata.is_normalized("NFKC", run):
        return [(character, index, index + 1) for index, character in enumerate(run)]
    return [
        (character, start, end)
        for start, end in _clusters(run)
        for character in unicodedata.normalize("NFKC", run[start:end]).casefold()
        if character.isalnum() or not character.isascii()
    ]


def _clusters(run: str) -> Iterator[tuple[int, int]]:
    """Where the characters of a run begin and end that are normalised by themselves."""
    start = 0
    for index in range(1, len(run)):
        if not _is_attached(run[index]):
            yield start, index
            start = index
    yield start, len(run)


def _is_attached(character: str) -> bool:
    """Whether a character may become one with the one before: marks, voicing, Hangul vowels and finals."""
    return bool(unicodedata.combining(character)) or "\u1160" <= character <= "\u11ff" or character in "ﾞﾟ"


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
