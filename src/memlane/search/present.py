"""From ranked candidates to the answer: snippets, citations, and what to say when there is hardly any."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..embed.base import Embedder, NoVector
from ..index.store import Store
from ..index.vectors import exact_cosines
from ..values import Filters, Hit, Mode, SearchResult, SearchTotals, Value, Why
from .candidate import Candidate
from .fuse import Weights
from .legs import KeywordLeg, VectorLeg
from .settings import DOUBTFUL, NOISE, SearchRequest
from .snippet import cut_snippet, find_matches
from .when import Period

_RATED_RESULTS = 6
"""In how many results without a matching word the passage to show is looked for by meaning: 0.05 ms a
word, so some ten milliseconds for a full chunk."""
_TOTAL_CHARACTERS = 40_000
"""What all snippets of an answer may add up to."""


class Answer(Value, frozen=True):
    """What the ranking found."""

    keyword: KeywordLeg
    vector: VectorLeg
    weights: Weights
    ranked: Sequence[Candidate]
    """The candidates to show, best first."""
    periods: Sequence[Period]
    confidence: float | None
    """The best chance, before age and threshold; None where scores are no chances."""
    totals: SearchTotals
    warning: str = ""
    """Which step was left out, and why."""


def present(
    answer: Answer,
    request: SearchRequest,
    filters: Filters,
    store: Store,
    embedder: Embedder | None,
    rater: Embedder | None,
) -> SearchResult:
    """The result of a search. `rater` finds the line to show of a passage without a matching word."""
    hits, unshown = _hits(answer, request, _likeness(request.query, answer.vector, embedder, rater))
    generation = store.current_generation()
    space = store.current_space() if answer.vector.answered else None
    failures = [
        failure for failure in (answer.keyword.failure, answer.vector.failure, answer.warning) if failure
    ]
    return SearchResult(
        hits=hits,
        provider=embedder.id if embedder else "none",
        model=embedder.model if embedder else None,
        mode=_mode(answer.keyword, answer.vector),
        confidence=answer.confidence,
        partial=bool(generation and not generation.complete) or bool(space and not space.complete),
        warning="; ".join(failures) or None,
        why=_doubt(answer) if hits else _why_empty(answer, request, store, filters),
        totals=replace(
            answer.totals,
            dropped_by_size=unshown,
            periods=tuple(f"{period.phrase}: {period.start} to {period.end}" for period in answer.periods),
            generation=generation.id if generation else None,
        ),
    )


def _hits(
    answer: Answer, request: SearchRequest, likeness: Callable[[str], float] | None
) -> tuple[tuple[Hit, ...], int]:
    """The results to show, and how many were left out because the answer would be too long."""
    keyword = answer.keyword
    weights = dict(zip(keyword.terms, keyword.weights, strict=False))
    hits: list[Hit] = []
    characters = 0
    for rank, candidate in enumerate(answer.ranked, start=1):
        passage = candidate.passage
        matches = find_matches(passage.text, keyword.terms)
        rated = likeness if rank <= _RATED_RESULTS else None
        snippet = cut_snippet(passage.text, matches, weights, likeness=rated)
        characters += len(snippet)
        if hits and characters > _TOTAL_CHARACTERS:
            break
        matched = _matched_terms(candidate, keyword)
        hits.append(
            Hit(
                path=passage.path,
                start_line=passage.start_line,
                end_line=passage.end_line,
                score=candidate.score,
                snippet=snippet,
                source=passage.source,
                citation=candidate.citation if request.cite else None,
                matched_terms=matched,
                explanation=candidate.explanation(answer.weights, request.min_score, matched)
                if request.explain
                else None,
            )
        )
    return tuple(hits), len(answer.ranked) - len(hits)


def _likeness(
    wording: str, vector: VectorLeg, embedder: Embedder | None, rater: Embedder | None
) -> Callable[[str], float] | None:
    """Rates a line by its likeness to the query, where embedding one costs next to nothing."""
    query = vector.query
    if rater is None or query is None or rater.worth_caching:
        return None
    if rater is not embedder:
        other = rater.embed_query(wording)
        if isinstance(other, NoVector):
            return None
        query = other

    def rate(line: str) -> float:
        embedded = rater.embed_query(line)
        return -1.0 if isinstance(embedded, NoVector) else exact_cosines(query, [(0, embedded)])[0]

    return rate


def _mode(keyword: KeywordLeg, vector: VectorLeg) -> Mode:
    if not vector.answered:
        return "keyword"
    return "hybrid" if keyword.terms and not keyword.failure else "vector"


def _matched_terms(candidate: Candidate, keyword: KeywordLeg) -> tuple[str, ...]:
    return tuple(keyword.terms[index] for index in candidate.keyword.matched) if candidate.keyword else ()


def _doubt(answer: Answer) -> Why | None:
    """What to say when there are results, but hardly an answer among them."""
    if answer.confidence is None or answer.confidence >= DOUBTFUL:
        return None
    return Why(
        "nothing_relevant", "nothing in the notes seems to answer this; these are the nearest passages"
    )


def _why_empty(answer: Answer, request: SearchRequest, store: Store, filters: Filters) -> Why:
    statistics = store.statistics()
    source = filters.source
    if not statistics.chunks:
        return Why("nothing_indexed", "nothing is indexed yet; memlane index reads the notes")
    if source and not statistics.by_source.get(source):
        return Why("nothing_indexed", f"nothing of the source {source} is indexed")
    why = _why_no_hit(answer, request, filters)
    if failed := len(statistics.failed):
        unread = "1 note" if failed == 1 else f"{failed} notes"
        details = {**why.details, "unread": failed}
        return Why(why.code, f"{why.message}; {unread} could not be read (memlane status)", details)
    return why


def _why_no_hit(answer: Answer, request: SearchRequest, filters: Filters) -> Why:
    """Why nothing that is indexed is an answer."""
    keyword, vector, totals = answer.keyword, answer.vector, answer.totals
    if totals.dropped_missing_file:
        return Why("file_gone", "the notes that matched are no longer there; memlane index catches up")
    if totals.dropped_by_score:
        return _too_weak(totals.dropped_by_score, request.min_score, answer.confidence)
    if keyword.failure and (vector.failure or not vector.answered):
        return Why("provider_failed", f"the search failed: {keyword.failure}")
    if vector.failure:
        return Why("provider_failed", f"no word matched, and search by meaning failed: {vector.failure}")
    left = " that the filters leave" if filters != Filters(curated=filters.curated) else ""
    return Why("no_match", f"nothing in the notes{left} matches the query")


def _too_weak(count: int, minimum: float, confidence: float | None) -> Why:
    passages = f"{count} {'passage' if count == 1 else 'passages'}"
    details = {"dropped": count}
    if minimum <= NOISE and confidence is not None and confidence < DOUBTFUL:
        return Why(
            "nothing_relevant",
            f"nothing in the notes answers this; {passages} came near, but too weakly to be more than chance",
            details,
        )
    return Why(
        "below_threshold",
        f"{passages} matched, but too weakly; lower the minimum score to see them",
        details,
    )
