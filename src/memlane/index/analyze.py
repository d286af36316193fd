"""Text to terms: the one analysis that indexing, querying and comparing texts share. Pure.

Words are folded (case, width, diacritics) and cut to a light stem. Identifiers are terms as a whole and by
part. Scripts written without spaces become overlapping pairs of characters, so that any substring of two or
more is found. The full-text table then only splits at spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from .stem import stem
from .stopwords import STOP_WORDS

ANALYZER_VERSION = 1
"""Raised when the same text gives other terms: full text is then built anew, vectors are kept."""
TOKENIZER = "ascii tokenchars '_-./@:#+&''’'"
"""FTS5's tokenizer for our terms. It keeps every byte beyond ASCII and these signs, and splits at spaces."""
BM25_WEIGHTS = (1.0, 1.0)
"""Heading path and body. Other weights moved no data set beyond its interval."""

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
    """A translation table to one sign a character: U unspaced, L letter, digit or mark, joiners themselves.

    The translated text has the length of the text, so that short patterns over it give exact places, and no
    pattern needs the tables of Unicode.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "So" or _within(code, _UNSPACED):
            sign = "U"  # an emoji is a word too
        elif character in _JOINERS:
            sign = "'" if character == "’" else character
        else:
            sign = "L" if category[0] in "LMN" else " "
        self[code] = sign
        return sign


_CLASSES = _CharacterClasses()
_RUN = re.compile(r"U+|@?[L_]+(?:[-./@:#'&]+[L_]+)*(?:\+\+?|#)?")
_PART = re.compile(r"[LU]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_LETTERS_THEN_DIGITS = re.compile(r"([^\W\d_]{2,})(\d+)")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_WHOLE = re.compile(r"[^\s\"\x00-\x1f!$%()*,;<=>?\[\\\]^`{|}~]{1,64}")
_LONGEST_PART = 64
_WORDS_REMEMBERED = 50_000
_SHORT_QUERY = 3
"""Queries of up to this many words keep their stop words."""


class Analyzer:
    """The analysis, with a memory of the words it has seen: notes repeat their words."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, ...]] = {}

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order."""
        seen = self._seen
        found: list[str] = []
        for start, end in _runs(text):
            run = text[start:end]
            terms = seen.get(run)
            found += self._remembered(run) if terms is None else terms
        return found

    def spans(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Each term with where it stands in the text, as (term, start, end).

        Parts of an identifier are given with the span of the whole.
        """
        for start, end in _runs(text):
            run = text[start:end]
            if _is_unspaced(run) and len(_normal(run)) == len(run):
                for index, term in _unspaced_terms(run):
                    yield term, start + index, start + index + len(term)
            else:
                for term in self._remembered(run):
                    yield term, start, end

    def _remembered(self, run: str) -> tuple[str, ...]:
        terms = self._seen.get(run)
        if terms is None:
            if _is_unspaced(run):
                terms = tuple(term for _, term in _unspaced_terms(_normal(run)))
            else:
                terms = _word_terms(run)
            if len(self._seen) >= _WORDS_REMEMBERED:
                self._seen.clear()
            self._seen[run] = terms
        return terms


_ANALYZER = Analyzer()
"""Shared: what it remembers is a pure function of what it was asked."""


def analyze(text: str) -> list[str]:
    """The terms of a text, in order: for indexing, and for comparing texts."""
    return _ANALYZER.terms(text)


def term_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Where each term stands in the text: (term, start, end) in characters of the text as given."""
    return _ANALYZER.spans(text)


def query_terms(text: str) -> list[str]:
    """The distinct terms worth asking for, in order.

    Stop words are left out of questions, unless there is nothing else. A query of a few words means what
    it says (`Person A`). The last character of an unspaced run is asked for only where the query is that
    one character.
    """
    words: list[str] = []
    telling: list[str] = []
    runs = [text[start:end] for start, end in _runs(text)]
    for run in runs:
        terms = _ANALYZER.terms(run)
        if len(terms) > 1 and _is_unspaced(run) and not _is_han(terms[-1]):
            terms = terms[:-1]
        words += terms
        if not STOP_WORDS.issuperset(_folded(_POSSESSIVE.sub("", run)).replace("’", "'").split("'")):
            telling += terms
    return list(dict.fromkeys(telling if telling and len(runs) > _SHORT_QUERY else words))


def match_expression(terms: Sequence[str]) -> str:
    """The FTS5 expression that matches any of the terms. Nothing in a term is read as syntax."""
    return " OR ".join(
        f'"{term}"*' if _is_lone_syllable(term) else '"' + term.replace('"', '""') + '"' for term in terms
    )


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Where the words, identifiers and unspaced runs of a text begin and end."""
    return (match.span() for match in _RUN.finditer(text.translate(_CLASSES)))


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _is_unspaced(run: str) -> bool:
    return _CLASSES[ord(run[0])] == "U"


def _is_han(term: str) -> bool:
    return _within(ord(term[0]), _HAN)


def _normal(run: str) -> str:
    return run if run.isascii() else unicodedata.normalize("NFKC", run)


def _folded(word: str) -> str:
    """Case, width and, for Latin and Greek letters, diacritics removed."""
    folded = _normal(word).casefold()
    if folded.isascii():
        return folded
    kept: list[str] = []
    latin = False
    for character in unicodedata.normalize("NFD", folded):
        if unicodedata.combining(character):
            if latin:
                continue
        else:
            latin = character < "\u0400" or "\u1e00" <= character < "\u2000"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


def _unspaced_terms(run: str) -> Iterator[tuple[int, str]]:
    """Overlapping pairs of characters, and every Han character by itself, each with its place in the run.

    A Han character is a word or a root; alone it also bridges compounds that share no pair (measured: a
    point of recall on Japanese, none lost on Chinese). Of other scripts only the last character stands
    alone, so that the prefix of a pair, or it, finds each single one.
    """
    last = len(run) - 1
    for index, character in enumerate(run):
        if index < last:
            yield index, run[index : index + 2]
        if index == last or _is_han(character):
            yield index, character


def _is_lone_syllable(term: str) -> bool:
    """A single kana, Hangul syllable or the like: found as the beginning of a pair."""
    return len(term) == 1 and _is_unspaced(term) and not _is_han(term)


def _word_terms(run: str) -> tuple[str, ...]:
    """A word's stem; an identifier as it is and the stems of its parts."""
    word = _normal(_POSSESSIVE.sub("", run))
    parts = [word[slice(*match.span())] for match in _PART.finditer(word.translate(_CLASSES))]
    terms: list[str] = []
    whole = _folded(word)
    if (len(parts) > 1 or whole != _folded("".join(parts))) and _WHOLE.fullmatch(whole):
        terms.append(whole)
    for part in parts:
        folded = _folded(part)[:_LONGEST_PART]
        terms.append(stem(folded))
        terms += [stem(piece.lower()) for piece in _camel_pieces(part)]
        numbered = _LETTERS_THEN_DIGITS.fullmatch(folded) or _ORDINAL.fullmatch(folded)
        if numbered:
            terms += numbered.groups()
    return tuple(terms)


def _camel_pieces(part: str) -> list[str]:
    """`memorySearch` → memory, Search. None for ordinary words and acronyms."""
    if not _IS_CAMEL.search(part):
        return []
    pieces = _CAMEL.findall(part)
    return pieces if len(pieces) > 1 and min(map(len, pieces)) > 1 else []
