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

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, Han, kana, bopomofo; and Hangul, whose words
# carry particles that a search for the bare word must see past.
_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u303b\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Marks that belong to the word they stand in, which Python's \w leaves out: accents, Hebrew and Arabic
# points, the vowel signs of Indic scripts.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
)
_LETTER = rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])"
_RUN = re.compile(rf"[{_UNSPACED}]+|@?{_LETTER}+(?:[-./@:#'’&]+{_LETTER}+)*(?:\+\+?|#)?")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_IS_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_PART = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
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
        for run in _RUN.findall(text):
            terms = seen.get(run)
            found += self._remembered(run) if terms is None else terms
        return found

    def spans(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Each term with where it stands in the text, as (term, start, end).

        Parts of an identifier are given with the span of the whole.
        """
        for match in _RUN.finditer(text):
            run, start = match[0], match.start()
            if _IS_UNSPACED.match(run) and len(_normal(run)) == len(run):
                for index, term in _unspaced_terms(run):
                    yield term, start + index, start + index + len(term)
            else:
                for term in self._remembered(run):
                    yield term, start, match.end()

    def _remembered(self, run: str) -> tuple[str, ...]:
        terms = self._seen.get(run)
        if terms is None:
            if _IS_UNSPACED.match(run):
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
    runs = _RUN.findall(text)
    for run in runs:
        terms = _ANALYZER.terms(run)
        if len(terms) > 1 and _IS_UNSPACED.match(run) and not _IS_HAN.match(terms[-1]):
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
        if index == last or _IS_HAN.match(character):
            yield index, character


def _is_lone_syllable(term: str) -> bool:
    """A single kana, Hangul syllable or the like: found as the beginning of a pair."""
    return len(term) == 1 and bool(_IS_UNSPACED.match(term)) and not _IS_HAN.match(term)


def _word_terms(run: str) -> tuple[str, ...]:
    """A word's stem; an identifier as it is and the stems of its parts."""
    word = _normal(_POSSESSIVE.sub("", run))
    parts = _PART.findall(word)
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
