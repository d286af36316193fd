"""A query's way through the index: two independent legs, then one ranked list.

    query → keyword candidates ┐
            vector candidates  ┴→ fuse → threshold → temporal decay → sort → MMR → top results → snippets

Every ranking step is a pure function of its own module; this one asks the store and the embedder, and keeps
account of what happened to each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, tzinfo
from pathlib import Path
from time import perf_counter

from msgspec.structs import replace

from ..clock import Clock
from ..embed.base import Embedder, NoVector
from ..index.analyze import query_terms
from ..index.store import Passage, Store
from ..index.vectors import exact_cosines
from ..values import Explanation, Filters, Hit, Mode, SearchResult, SearchTotals, Source, Value, Why
from .decay import age_in_days, decay_factor
from .fuse import KeywordEvidence, VectorEvidence, Weights, adapted, carried_by, reciprocal_rank, weighted
from .legs import KeywordLeg, VectorLeg, complete_cosines, keyword_leg, vector_leg
from .mmr import distinct_words, diversify
from .settings import SearchRequest, SearchSettings
from .snippet import cut_snippet, find_matches

_POOL_RESULTS = 25
"""Candidate lists are as deep as if at least this many results were wanted, so that asking for fewer gives
the first of the same."""
_DEEPEST_POOL = 4096
_RATED_RESULTS = 6
"""In how many results without a matching word the passage to show is looked for by meaning: 0.05 ms a
word, so some ten milliseconds for a full chunk."""
_TOTAL_CHARACTERS = 40_000
"""What all snippets of an answer may add up to."""


class _Candidate(Value, frozen=True):
    """A chunk on its way through the steps."""

    passage: Passage
    keyword: KeywordEvidence | None
    vector: VectorEvidence | None
    fused: float
    score: float
    passed_by: str = ""
    age_days: int | None = None
    decay: float | None = None
    mmr_penalty: float | None = None
    mmr_against: str | None = None

    @property
    def order(self) -> tuple[float, str, int, int]:
        """Best first; ties in an order that does not depend on how the index came about."""
        return -self.score, self.passage.path, self.passage.start_line, self.passage.chunk


class Search:
    """Searches one store."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        settings: SearchSettings,
        clock: Clock,
        *,
        rater: Embedder | None = None,
    ) -> None:
        """`rater` is a fast model that finds the line to show where `embedder` is a slow one."""
        self._store = store
        self._embedder = embedder
        self._rater = rater or embedder
        self._settings = settings
        self._clock = clock

    def run(self, request: SearchRequest, filters: Filters) -> SearchResult:
        """The ranked answer to a request. An empty one says why. Raises StoreCorrupt on a damaged index."""
        generation = self._store.current_generation()
        result = self._answer(request, filters)
        if self._store.current_generation() != generation:
            # A rebuilt index took the place of the old one between two looks at it.
            result = self._answer(request, filters)
        return result

    def _answer(self, request: SearchRequest, filters: Filters) -> SearchResult:
        times = _Times()
        if not request.query.strip():
            return self._empty(Why("blank_query", "the query is blank"))
        if not query_terms(request.query):
            return self._empty(
                Why("no_searchable_terms", "the query holds no word or sign that can be searched for")
            )
        pool = self._pool(request)
        keyword, vector = self._legs(request.query, pool, filters)
        times.lap("legs")
        vector = complete_cosines(vector, self._store, list(keyword.evidence), self._unrelated)
        candidates = self._fused(request.query, keyword, vector)
        kept = self._over_threshold(candidates, request.min_score)
        ranked = sorted(self._decayed(kept), key=lambda candidate: candidate.order)
        times.lap("rank")
        ranked, vanished = _existing(ranked, self._depth(request))
        if self._settings.mmr:
            ranked = self._diversified(ranked, request.max_results)
        times.lap("diversify")
        hits, unshown = self._hits(ranked[: request.max_results], keyword, vector, request)
        times.lap("snippets")
        totals = SearchTotals(
            keyword_candidates=len(keyword.evidence),
            vector_candidates=sum(evidence.rank is not None for evidence in vector.evidence.values()),
            dropped_by_score=len(candidates) - len(kept),
            dropped_missing_file=vanished,
            dropped_by_size=unshown,
            milliseconds=times.laps,
        )
        return self._result(hits, keyword, vector, totals, filters.source)

    @property
    def _unrelated(self) -> float:
        return self._embedder.unrelated_cosine if self._embedder else 0.0

    def _legs(self, query: str, limit: int, filters: Filters) -> tuple[KeywordLeg, VectorLeg]:
        """Both legs, keywords first: they wait for no provider. Without hybrid, the one that can answer."""

        def words() -> KeywordLeg:
            return keyword_leg(self._store, query, limit=limit, filters=filters)

        def meaning() -> VectorLeg:
            return vector_leg(self._store, self._embedder, query, limit=limit, filters=filters)

        if self._settings.hybrid:
            return words(), meaning()
        vector = meaning()
        return (KeywordLeg() if vector.answered else words()), vector

    def _weights(self, keyword: KeywordLeg, vector: VectorLeg) -> Weights:
        """The weights in force for this query; all to the one leg that answered when there is but one."""
        if not vector.answered:
            return Weights(vector=0.0, text=1.0)
        if not keyword.terms or keyword.failure:
            return Weights(vector=1.0, text=0.0)
        configured = Weights(self._settings.vector_weight, self._settings.text_weight)
        return adapted(configured, keyword.coverage) if self._settings.fusion == "adaptive" else configured

    def _fused(self, query: str, keyword: KeywordLeg, vector: VectorLeg) -> list[_Candidate]:
        weights = self._weights(keyword, vector)
        chunks = list(dict.fromkeys((*keyword.evidence, *vector.evidence)))
        candidates = []
        for chunk, passage in self._store.passages(chunks).items():
            word, meaning = keyword.evidence.get(chunk), vector.evidence.get(chunk)
            if self._settings.fusion == "rrf":
                fused = reciprocal_rank(word, meaning, weights)
            else:
                fused = weighted(word, meaning, weights)
            fused = 1.0 if _is_query(passage.text, query) else min(fused, 0.999)
            candidates.append(_Candidate(passage, word, meaning, fused, fused))
        return candidates

    def _over_threshold(self, candidates: Sequence[_Candidate], minimum: float) -> list[_Candidate]:
        """Those that at least one leg finds good enough by itself, unless both together say otherwise.

        When a rare token settles a query, what the model finds faintly alike is noise beside it.
        """
        kept = []
        for candidate in candidates:
            leg = carried_by(candidate.keyword, candidate.vector, minimum)
            if leg and candidate.fused >= minimum / 2:
                kept.append(replace(candidate, passed_by=leg))
        return kept

    def _decayed(self, candidates: Sequence[_Candidate]) -> list[_Candidate]:
        if not self._settings.decay:
            return list(candidates)
        today = self._clock.today()
        zone = self._clock.now().tzinfo
        aged = []
        for candidate in candidates:
            day = _day_of(candidate.passage, zone)
            if day is None:
                aged.append(candidate)
                continue
            age = age_in_days(day, today)
            factor = decay_factor(age, self._settings.half_life_days)
            aged.append(replace(candidate, age_days=age, decay=factor, score=candidate.fused * factor))
        return aged

    def _depth(self, request: SearchRequest) -> int:
        """How many candidates the last steps look at."""
        if not self._settings.mmr:
            return request.max_results
        return self._pool(request)

    def _pool(self, request: SearchRequest) -> int:
        """How many candidates each leg gives."""
        wanted = self._settings.candidate_multiplier * max(request.max_results, _POOL_RESULTS)
        return min(wanted, _DEEPEST_POOL)

    def _diversified(self, ranked: Sequence[_Candidate], limit: int) -> list[_Candidate]:
        terms = [distinct_words(candidate.passage.text) for candidate in ranked]
        picks = diversify(
            [candidate.score for candidate in ranked],
            terms,
            trade_off=self._settings.mmr_lambda,
            limit=limit,
        )
        return [
            replace(
                ranked[pick.index],
                mmr_penalty=pick.penalty,
                mmr_against=None if pick.against is None else _citation(ranked[pick.against].passage),
            )
            for pick in picks
        ]

    def _hits(
        self, ranked: Sequence[_Candidate], keyword: KeywordLeg, vector: VectorLeg, request: SearchRequest
    ) -> tuple[list[Hit], int]:
        """The results to show, and how many were left out because the answer would be too long."""
        weights = dict(zip(keyword.terms, keyword.weights, strict=False))
        likeness = self._likeness(request.query, vector)
        fusion = self._weights(keyword, vector)
        hits: list[Hit] = []
        characters = 0
        for rank, candidate in enumerate(ranked, start=1):
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
                    citation=_citation(passage) if request.cite else None,
                    matched_terms=matched,
                    explanation=_explanation(candidate, fusion, request.min_score, matched)
                    if request.explain
                    else None,
                )
            )
        return hits, len(ranked) - len(hits)

    def _likeness(self, wording: str, vector: VectorLeg) -> Callable[[str], float] | None:
        """Rates a line by its likeness to the query, where embedding one costs next to nothing."""
        embedder, query = self._rater, vector.query
        if embedder is None or query is None or embedder.worth_caching:
            return None
        if embedder is not self._embedder:
            other = embedder.embed_query(wording)
            if isinstance(other, NoVector):
                return None
            query = other

        def rate(line: str) -> float:
            embedded = embedder.embed_query(line)
            return -1.0 if isinstance(embedded, NoVector) else exact_cosines(query, [(0, embedded)])[0]

        return rate

    def _result(
        self,
        hits: list[Hit],
        keyword: KeywordLeg,
        vector: VectorLeg,
        totals: SearchTotals,
        source: Source | None,
    ) -> SearchResult:
        generation = self._store.current_generation()
        space = self._store.current_space() if vector.answered else None
        failures = [failure for failure in (keyword.failure, vector.failure) if failure]
        return SearchResult(
            hits=tuple(hits),
            provider=self._embedder.id if self._embedder else "none",
            model=self._embedder.model if self._embedder else None,
            mode=_mode(keyword, vector),
            partial=bool(generation and not generation.complete) or bool(space and not space.complete),
            warning="; ".join(failures) or None,
            why=None if hits else self._why_empty(keyword, vector, totals, source),
            totals=replace(totals, generation=generation.id if generation else None),
        )

    def _why_empty(
        self, keyword: KeywordLeg, vector: VectorLeg, totals: SearchTotals, source: Source | None
    ) -> Why:
        statistics = self._store.statistics()
        if not statistics.chunks:
            return Why("nothing_indexed", "nothing is indexed yet; memlane index reads the notes")
        if source and not statistics.by_source.get(source):
            return Why("nothing_indexed", f"nothing of the source {source} is indexed")
        if totals.dropped_missing_file:
            return Why("file_gone", "the notes that matched are no longer there; memlane index catches up")
        if totals.dropped_by_score:
            count = totals.dropped_by_score
            return Why(
                "below_threshold",
                f"{count} {'passage' if count == 1 else 'passages'} matched, but too weakly; lower the"
                " minimum score to see them",
                {"dropped": count},
            )
        if keyword.failure and (vector.failure or not vector.answered):
            return Why("provider_failed", f"the search failed: {keyword.failure}")
        if vector.failure:
            return Why("provider_failed", f"no word matched, and search by meaning failed: {vector.failure}")
        return Why("no_match", "nothing in the notes matches the query")

    def _empty(self, why: Why) -> SearchResult:
        return SearchResult(
            hits=(),
            provider=self._embedder.id if self._embedder else "none",
            model=self._embedder.model if self._embedder else None,
            mode="hybrid" if self._embedder else "keyword",
            why=why,
        )


class _Times:
    """Milliseconds per step."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, step: str) -> None:
        now = perf_counter()
        self.laps[step] = round(1000 * (now - self._last), 3)
        self._last = now


def _existing(ranked: Sequence[_Candidate], depth: int) -> tuple[list[_Candidate], int]:
    """The first `depth` candidates whose file is still there, and how many were passed over on the way."""
    seen: dict[str, bool] = {}
    found: list[_Candidate] = []
    vanished = 0
    for candidate in ranked:
        location = candidate.passage.location
        if location not in seen:
            seen[location] = Path(location).is_file()
        if not seen[location]:
            vanished += 1
            continue
        found.append(candidate)
        if len(found) == depth:
            break
    return found, vanished


def _day_of(passage: Passage, zone: tzinfo | None) -> date | None:
    """The day a passage's age counts from; None for evergreen ones."""
    if passage.day is not None:
        return passage.day
    if passage.evergreen:
        return None
    return datetime.fromtimestamp(passage.mtime_ns / 1e9, zone).date()


def _mode(keyword: KeywordLeg, vector: VectorLeg) -> Mode:
    if not vector.answered:
        return "keyword"
    return "hybrid" if keyword.terms and not keyword.failure else "vector"


def _citation(passage: Passage) -> str:
    lines = f"#L{passage.start_line}"
    return f"{passage.path}{lines}" + (
        f"-L{passage.end_line}" if passage.end_line > passage.start_line else ""
    )


def _matched_terms(candidate: _Candidate, keyword: KeywordLeg) -> tuple[str, ...]:
    return tuple(keyword.terms[index] for index in candidate.keyword.matched) if candidate.keyword else ()


def _is_query(text: str, query: str) -> bool:
    return text.split() == query.split()


def _explanation(
    candidate: _Candidate, weights: Weights, threshold: float, matched: tuple[str, ...]
) -> Explanation:
    word, meaning = candidate.keyword, candidate.vector
    return Explanation(
        keyword_rank=word.rank if word else None,
        keyword_raw=word.bm25 if word else None,
        keyword_score=word.score if word else None,
        vector_rank=meaning.rank if meaning else None,
        vector_raw=meaning.cosine if meaning else None,
        vector_score=meaning.score if meaning else None,
        vector_weight=weights.vector,
        text_weight=weights.text,
        fused=candidate.fused,
        threshold=threshold,
        passed_by=candidate.passed_by,
        age_days=candidate.age_days,
        decay=candidate.decay,
        mmr_penalty=candidate.mmr_penalty,
        mmr_against=candidate.mmr_against,
        matched_terms=matched,
    )
