"""Text to terms: the one analysis that indexing, querying and comparing texts share. Pure.

Words are folded (case, width, diacritics) and cut to a light stem. Identifiers are terms as a whole and by
part, days and months in one form however they are written. Scripts written without spaces become overlapping
pairs of characters, so that any substring of two or more is found. The full-text table then only splits at
spaces.

Measured on sixteen data sets in five languages, keywords alone, what the choices are worth in recall@5: stems
+0.03 on English, stop words +0.02 on questions, dates +0.02 on dialogues and +0.08 on diaries, question words
and particles of Chinese, Japanese and Korean +0.01. Tried and left out, since no set gained or another lost
as much: phrases of neighbouring words, the exact word beside its stem, triples of unspaced characters, stop
words at a lower weight, more weight for headings. Prefixes and character n-grams of words found 0.07 more
across languages, half of which the stems give too, and disturbed the ranking elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter

from .dates import DateSpan, ideographic_dates, month_names, month_terms, named_dates, numeric_dates
from .fold import fold
from .scripts import CLASSES, characters, is_han, is_unspaced
from .stem import stem
from .stopwords import KOREAN, KOREAN_PARTICLES, PARTICLES, QUESTION_WORDS, function_words

ANALYZER_VERSION = 2
"""Raised when the same text gives other terms: full text is then built anew, vectors are kept."""
TOKENIZER = "ascii tokenchars '_-./@:#+&''’'"
"""FTS5's tokenizer for our terms. It keeps every byte beyond ASCII and these signs, and splits at spaces."""
BM25_WEIGHTS = (1.0, 1.0)
"""Heading path and body. Other weights moved no data set beyond its interval."""

_RUN = re.compile(r"[HU]+|@?[L_]+(?:[-./@:#'&]+[L_]+)*(?:\+\+?|#)?")
_PART = re.compile(r"[LHU]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_LETTERS_THEN_DIGITS = re.compile(r"([^\W\d_]{2,})(\d+)")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_WHOLE = re.compile(r"[^\s\"\x00-\x1f!$%()*,;<=>?\[\\\]^`{|}~]{1,64}")
_DAY = re.compile(r"(?:-|\d{4})-\d\d-\d\d", re.ASCII)
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
        runs = _runs(text)
        for start, end in runs:
            run = text[start:end]
            found += seen.get(run) or self._terms_of(run)
        dates = _written_dates(text, runs, months=_names_month(found))
        return self._with_dates(text, runs, dates) if dates else found

    def _with_dates(self, text: str, runs: Sequence[tuple[int, int]], dates: Sequence[DateSpan]) -> list[str]:
        """The terms of a text's runs, each date behind those of the run in which it begins."""
        found: list[str] = []
        ends: list[int] = []
        for start, end in runs:
            found += self._terms_of(text[start:end])
            ends.append(len(found))
        for term, start, _ in reversed(dates):
            found.insert(ends[bisect_right(runs, start, key=itemgetter(0)) - 1], term)
        return found

    def spans(self, text: str, wanted: frozenset[str] | None = None) -> Iterator[tuple[str, int, int]]:
        """Each term with where it stands in the text, as (term, start, end), by start.

        Parts of an identifier are given with the span of the whole. With `wanted`, only those terms.
        """
        seen = self._seen
        spans: list[DateSpan] = []
        months = False
        runs = _runs(text)
        for start, end in runs:
            run = text[start:end]
            known = seen.get(run)
            if known is None and is_unspaced(run):
                found = _unspaced_spans(run)
                spans += [(term, start + first, start + last) for term, first, last in found]
                continue
            terms = known or self._terms_of(run)
            if not months and not month_terms().isdisjoint(terms):
                months = True
            if wanted is None or not wanted.isdisjoint(terms):
                spans += [(term, start, end) for term in terms]
        spans += _written_dates(text, runs, months=months)
        if wanted is not None:
            spans = [span for span in spans if span[0] in wanted]
        spans.sort(key=itemgetter(1))
        return iter(spans)

    def _terms_of(self, run: str) -> Sequence[str]:
        if is_unspaced(run):
            return _unspaced_terms(run)
        terms = self._seen.get(run)
        if terms is None:
            # Most words are plain: this way they take half the time.
            plain = run.isascii() and run.isalpha() and (run.islower() or run[1:].islower())
            terms = (stem(run.lower()[:_LONGEST_PART]),) if plain else tuple(_word_terms(run))
            if len(self._seen) >= _WORDS_REMEMBERED:
                self._seen.clear()
            self._seen[run] = terms
        return terms


_ANALYZER = Analyzer()
"""Shared: what it remembers is a pure function of what it was asked."""


def analyze(text: str) -> list[str]:
    """The terms of a text, in order: for indexing, and for comparing texts."""
    return _ANALYZER.terms(text)


def term_spans(text: str, wanted: frozenset[str] | None = None) -> Iterator[tuple[str, int, int]]:
    """Where each term stands in the text: (term, start, end) in characters of the text as given.

    With `wanted`, only those terms.
    """
    return _ANALYZER.spans(text, wanted)


def query_terms(text: str) -> list[str]:
    """The distinct terms worth asking for, in order: terms that `analyze` gives, too.

    What questions are made of is left out, unless there is nothing else. A query of a few words means what it
    says (`Person A`). The last character of an unspaced run is asked for only where the query is that one
    character, or where it is Han.
    """
    places = _runs(text)
    runs = [text[start:end] for start, end in places]
    short = len(runs) <= _SHORT_QUERY
    folded = [[] if is_unspaced(run) else _folded_words(run) for run in runs]
    dropped = frozenset() if short else function_words([word for words in folded for word in words])
    everything: list[str] = []
    telling: list[str] = []
    for run, words in zip(runs, folded, strict=True):
        if is_unspaced(run):
            everything += _asked_of(run)
            telling += _telling(run, short)
        else:
            terms = list(_word_terms(run, asked=len(runs) > 1))
            everything += terms
            if not dropped.issuperset(words):
                telling += terms
    telling += [term for term, _, _ in _written_dates(text, places, months=_names_month(everything))]
    return _most_exact_dates(dict.fromkeys(telling or everything))


def _most_exact_dates(terms: Iterable[str]) -> list[str]:
    """The terms without the months of days that are asked for: `--05` beside `--05-02` finds all of May."""
    months = {term[: -len("-00")] for term in terms if _DAY.fullmatch(term)}
    return [term for term in terms if term not in months]


def match_expression(terms: Sequence[str]) -> str:
    """The FTS5 expression that matches any of the terms. Nothing in a term is read as syntax."""
    return " OR ".join(
        f'"{term}"*' if is_prefix(term) else '"' + term.replace('"', '""') + '"' for term in terms
    )


def _runs(text: str) -> list[tuple[int, int]]:
    """Where the words, identifiers and unspaced runs of a text begin and end."""
    return [match.span() for match in _RUN.finditer(text.translate(CLASSES))]


def _names_month(terms: Iterable[str]) -> bool:
    return not month_terms().isdisjoint(terms)


def _written_dates(text: str, runs: Sequence[tuple[int, int]], *, months: bool) -> list[DateSpan]:
    """The dates that are written with words. Most texts have none.

    `runs` are those of the text; `months`: whether one of its terms may be a month's name.
    """
    found: list[DateSpan] = []
    if "月" in text or "월" in text:
        found += ideographic_dates(text)
    if months:
        names = month_names()
        found += named_dates(text, [(start, end) for start, end in runs if text[start:end].lower() in names])
    found.sort(key=itemgetter(1))
    return found


def _unspaced_terms(run: str) -> list[str]:
    """Overlapping pairs of characters, and every Han character by itself.

    A Han character is a word or a root; alone it also bridges compounds that share no pair (measured: a
    point of recall on Japanese, none lost on Chinese). Of other scripts only the last character stands
    alone, so that the prefix of a pair, or it, finds each single one.
    """
    if not unicodedata.is_normalized("NFKC", run):
        run = "".join(character for character, _, _ in characters(run))
    if not run:
        return []
    pairs = [run[index : index + 2] for index in range(len(run))]
    signs = run.translate(CLASSES)
    if "H" not in signs:
        return pairs
    terms: list[str] = []
    for pair, sign in zip(pairs, signs, strict=True):
        terms.append(pair)
        if sign == "H":
            terms.append(pair[0])
    return terms[:-1] if signs[-1] == "H" else terms


def _unspaced_spans(run: str) -> Iterator[DateSpan]:
    """The same, each with its place in the run."""
    found = characters(run)
    for (character, start, end), (following, _, further) in pairwise(found):
        yield character + following, start, further
        if is_han(character):
            yield character, start, end
    yield from found[-1:]


def _asked_of(run: str) -> list[str]:
    """The terms of an unspaced run, without its last character unless it is Han or all there is."""
    terms = _unspaced_terms(run)
    return terms if len(terms) < 2 or is_han(terms[-1]) else terms[:-1]


def _telling(run: str, short: bool) -> list[str]:
    """The terms of an unspaced run but for question words and particles."""
    run = "".join(character for character, _, _ in characters(run))
    if "가" <= run[:1] <= "힣":
        return [] if run in KOREAN and not short else _asked_of(KOREAN_PARTICLES.sub("", run))
    asked = [term for piece in QUESTION_WORDS.split(run) if piece for term in _asked_of(piece)]
    return [term for term in asked if term not in PARTICLES]


def is_prefix(term: str) -> bool:
    """A single kana, Hangul syllable or the like: found as the beginning of a pair."""
    return len(term) == 1 and is_unspaced(term) and not is_han(term)


def _folded_words(run: str) -> list[str]:
    """The words of a run as stop words are written: `what's` is what, `l'ami` l and ami."""
    return fold(_POSSESSIVE.sub("", run)).replace("’", "'").split("'")


def _word_terms(run: str, *, asked: bool = False) -> Iterator[str]:
    """A word's stem; an identifier as it is and the stems of its parts; days and months.

    A name in two humps, as `GitHub` is, is asked for as one word among others: `git` and `hub` would find
    other things. An identifier, and a query of nothing else, is asked for by part too.
    """
    word = unicodedata.normalize("NFKC", _POSSESSIVE.sub("", run))
    parts = [word[slice(*match.span())] for match in _PART.finditer(word.translate(CLASSES))]
    whole = fold(word)
    if (len(parts) > 1 or whole != fold("".join(parts))) and _WHOLE.fullmatch(whole):
        yield whole
    for part in parts:
        folded = fold(part)[:_LONGEST_PART]
        if folded:
            yield stem(folded)
        humps = _humps(part)
        if not asked or len(humps) > 2 or part[0].islower():
            yield from (stem(fold(hump)) for hump in humps)
        if numbered := _LETTERS_THEN_DIGITS.fullmatch(folded) or _ORDINAL.fullmatch(folded):
            yield from numbered.groups()
    yield from (term for term, _, _ in numeric_dates(word) if term != whole)


def _humps(part: str) -> list[str]:
    """`memorySearch` → memory, Search. None for ordinary words and acronyms."""
    if part.islower() or len(part) > _LONGEST_PART:
        return []
    humps = [hump for hump in _HUMP.split(part) if len(hump) > 1]
    return humps if len(humps) > 1 else []
