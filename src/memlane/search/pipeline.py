"""A query's way through the index: two independent legs, then one ranked list.

    query → keyword candidates ┐
            vector candidates  ┴→ fuse → late interaction → time asked for → chance → threshold
                                 → reranking model → chance → temporal decay → sort → MMR → top results
                                 → snippets

Every ranking step is a pure function of its own module; this one asks the store and the embedder, and keeps
account of what happened to each candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from msgspec.structs import replace

from ..clock import Clock
from ..embed.base import Embedder
from ..errors import StoreCorrupt, StoreError
from ..index.analyze import query_terms
from ..index.store import Store
from ..values import Filters, SearchResult, SearchTotals, Why
from .balance import balanced
from .calibrate import MOST, chance, leads
from .candidate import Candidate
from .dated import AskedTime, asked_time
from .decay import age_in_days, decay_factor
from .fuse import (
    VECTOR_ALONE,
    Weights,
    adapted,
    carried_by,
    counts_in_full,
    model_evidence,
    reciprocal_rank,
    strength,
    weighted,
)
from .legs import KeywordLeg, VectorLeg, complete_cosines, keyword_leg, vector_leg
from .mmr import distinct_words, diversify
from .model import ModelScores, RerankingModel
from .present import Answer, present
from .rerank import DEPTH, late_interaction
from .settings import NOISE, SearchRequest, SearchSettings

_POOL_RESULTS = 25
"""Candidate lists are as deep as if at least this many results were wanted, so that asking for fewer gives
the first of the same; who asks for more has deeper lists, whose order may differ."""
_DEEPEST_POOL = 4096
_LONGEST_QUERY = 8_000
"""Characters of a query that are read: a pasted page says with its first lines what it is about."""


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
        model: RerankingModel | None = None,
    ) -> None:
        """`rater` is a fast model that finds the line to show where `embedder` is a slow one.

        `model` reads the first passages, where there is one.
        """
        self._store = store
        self._embedder = embedder
        self._rater = rater or embedder
        self._model = model
        self._settings = settings
        self._clock = clock

    def run(self, request: SearchRequest, filters: Filters) -> SearchResult:
        """The ranked answer to a request. An empty one says why. Raises StoreCorrupt on a damaged index."""
        request = replace(request, query=request.query.strip()[:_LONGEST_QUERY])
        generation = self._store.current_generation()
        result = self._answer(request, filters)
        if self._store.current_generation() != generation:
            # A rebuilt index took the place of the old one between two looks at it.
            result = self._answer(request, filters)
        return result

    def _answer(self, request: SearchRequest, filters: Filters) -> SearchResult:
        if not request.query.strip():
            return self._empty(Why("blank_query", "the query is blank"))
        terms = query_terms(request.query)
        if not terms:
            return self._empty(
                Why("no_searchable_terms", "the query holds no word or sign that can be searched for")
            )
        times = _Times()
        asked = asked_time(request.query, terms, self._clock.today())
        terms += asked.terms
        keyword, vector = self._legs(request.query, terms, self._pool(request), filters)
        times.lap("legs")
        unrelated = self._embedder.unrelated_cosine if self._embedder else 0.0
        vector = complete_cosines(vector, self._store, list(keyword.evidence), unrelated)
        weights = self._weights(keyword, vector)
        candidates = self._fused(keyword, vector, weights)
        times.lap("fuse")
        candidates = self._reranked(request.query, candidates, keyword, vector)
        times.lap("rerank")
        candidates = self._scored(candidates, asked, request.query)
        candidates = self._over_threshold(candidates, request.min_score, asked)
        heard = self._heard(request.query, candidates)
        if heard.scores:
            candidates = _with_query_first(_with_model(candidates, heard.scores), request.query)
        if self._model is not None:
            times.lap("model")
        kept = [candidate for candidate in candidates if candidate.passed_by]
        ranked = sorted(self._decayed(kept), key=lambda candidate: candidate.order)
        times.lap("rank")
        if self._settings.balanced and request.max_results > 1:
            ranked = balanced(ranked, request.max_results)
        ranked, vanished = _existing(ranked, self._depth(request))
        if self._settings.mmr:
            ranked = self._diversified(ranked, request.max_results)
        times.lap("diversify")
        answer = Answer(
            keyword=keyword,
            vector=vector,
            weights=weights,
            ranked=ranked[: request.max_results],
            periods=asked.periods,
            warning=heard.warning,
            confidence=_confidence(candidates),
            totals=SearchTotals(
                keyword_candidates=len(keyword.evidence),
                vector_candidates=sum(evidence.rank is not None for evidence in vector.evidence.values()),
                dropped_by_score=len(candidates) - len(kept),
                dropped_missing_file=vanished,
                milliseconds=times.laps,
            ),
        )
        result = present(answer, request, filters, self._store, self._embedder, self._rater)
        times.lap("snippets")
        return result

    def _legs(
        self, query: str, terms: Sequence[str], limit: int, filters: Filters
    ) -> tuple[KeywordLeg, VectorLeg]:
        """Both legs, keywords first: they wait for no provider. Without hybrid, the one that can answer."""

        def words() -> KeywordLeg:
            return keyword_leg(
                self._store, terms, limit=limit, filters=filters, balanced=self._settings.balanced
            )

        def meaning() -> VectorLeg:
            return vector_leg(
                self._store,
                self._embedder,
                query,
                limit=limit,
                filters=filters,
                balanced=self._settings.balanced,
            )

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
        if self._settings.fusion != "adaptive":
            return configured
        relative = self._embedder.relative_weight if self._embedder else 1.0
        return adapted(configured, keyword.coverage, relative)

    def _fused(self, keyword: KeywordLeg, vector: VectorLeg, weights: Weights) -> list[Candidate]:
        """Every candidate of either leg, best first."""
        fuse = reciprocal_rank if self._settings.fusion == "rrf" else weighted
        chunks = list(dict.fromkeys((*keyword.evidence, *vector.evidence)))
        candidates = []
        for chunk, passage in self._store.passages(chunks).items():
            word, meaning = keyword.evidence.get(chunk), vector.evidence.get(chunk)
            fused, alone = fuse(word, meaning, weights), fuse(None, meaning, VECTOR_ALONE)
            in_full = counts_in_full(passage.media is not None, alone, fused)
            fused = alone if in_full else fused
            candidates.append(Candidate(passage, word, meaning, fused, in_full, score=fused))
        candidates.sort(key=lambda candidate: candidate.order)
        return candidates

    def _reranked(
        self, query: str, candidates: Sequence[Candidate], keyword: KeywordLeg, vector: VectorLeg
    ) -> list[Candidate]:
        """The candidates with what a closer look at the first of them says."""
        looked_at = balanced(candidates, DEPTH) if self._settings.balanced else candidates
        first = [candidate.passage.chunk for candidate in looked_at[:DEPTH]]
        if not (self._settings.rerank and vector.answered and keyword.terms and first):
            return list(candidates)
        terms = dict(zip(keyword.terms, keyword.weights, strict=False))
        try:
            late = late_interaction(self._store, query, terms, first)
        except StoreCorrupt:
            raise
        except StoreError:
            late = {}
        return [replace(candidate, late=late.get(candidate.passage.chunk)) for candidate in candidates]

    def _scored(self, candidates: Sequence[Candidate], asked: AskedTime, query: str) -> list[Candidate]:
        """The candidates with their scores, best first, by all the evidence but a reranking model's."""
        zone = self._clock.now().tzinfo
        weighed = []
        for candidate in candidates:
            day = candidate.day(zone) if asked.said else None
            near = asked.nearness(day) if day else 0.0
            total = strength(candidate.fused, candidate.late, near, in_full=candidate.in_full)
            weighed.append(replace(candidate, nearness=near, strength=total, score=min(total, MOST)))
        weighed.sort(key=lambda candidate: candidate.order)
        if any(candidate.late is not None for candidate in weighed):
            weighed = _with_chances(weighed)
        return _with_query_first(weighed, query)

    def _heard(self, query: str, candidates: Sequence[Candidate]) -> ModelScores:
        """What the reranking model says of the first of those that are good enough and that it can read."""
        if self._model is None:
            return ModelScores()
        passed = [candidate for candidate in candidates if candidate.passed_by and not candidate.in_full]
        texts = [candidate.passage.text for candidate in passed[: self._model.candidates]]
        return self._model.look(query, texts)

    def _over_threshold(
        self, candidates: Sequence[Candidate], minimum: float, asked: AskedTime
    ) -> list[Candidate]:
        """Marks those that at least one leg finds good enough by itself, unless both together say otherwise.

        When a rare token settles a query, what the model finds faintly alike is noise beside it. What no leg
        finds good enough may be so by all the evidence together, and what was written on the very day that
        is asked for needs no other likeness.
        """
        zone = self._clock.now().tzinfo
        enough = minimum / 2 if minimum <= NOISE else minimum
        marked = []
        for candidate in candidates:
            leg = carried_by(candidate.keyword, candidate.vector, minimum)
            passed = ""
            if leg and candidate.fused >= minimum / 2:
                passed = leg
            elif candidate.late is not None and candidate.score >= enough:
                passed = "evidence"
            elif asked.said and (day := candidate.day(zone)) and asked.is_day(day):
                passed = "day"
            marked.append(replace(candidate, passed_by=passed) if passed else candidate)
        return marked

    def _decayed(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        if not self._settings.decay:
            return list(candidates)
        now = self._clock.now()
        today, zone = self._clock.today(), now.tzinfo
        aged = []
        for candidate in candidates:
            day = candidate.day(zone)
            if day is None:
                aged.append(candidate)
                continue
            age = age_in_days(day, today)
            factor = decay_factor(age, self._settings.half_life_days)
            aged.append(replace(candidate, age_days=age, decay=factor, score=candidate.score * factor))
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

    def _diversified(self, ranked: Sequence[Candidate], limit: int) -> list[Candidate]:
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
                mmr_against=None if pick.against is None else ranked[pick.against].citation,
            )
            for pick in picks
        ]

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


def _with_model(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """The candidates with what a model says of the first of them that passed, best first."""
    said = iter(scores)
    alone = all(candidate.late is None for candidate in candidates)
    weighed = []
    for candidate in candidates:
        # A picture has no text that could be read: its vector score stands for the model's.
        reranked = next(said, None) if candidate.passed_by and not candidate.in_full else None
        evidence = candidate.fused if candidate.in_full else reranked
        total = candidate.strength + model_evidence(evidence, alone=alone)
        weighed.append(replace(candidate, reranked=reranked, strength=total, score=min(total, MOST)))
    return _with_chances(sorted(weighed, key=lambda candidate: candidate.order))


def _with_chances(ranked: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, given best first, with the chance that each answers as its score."""
    lead = leads([(candidate.strength, candidate.note) for candidate in ranked])
    return [
        replace(candidate, lead=ahead, score=chance(candidate.strength, ahead))
        for candidate, ahead in zip(ranked, lead, strict=True)
    ]


def _confidence(candidates: Sequence[Candidate]) -> float | None:
    """The best chance; None where scores are no chances, because nobody took a closer look."""
    if candidates and all(candidate.late is None is candidate.reranked for candidate in candidates):
        return None
    return max((candidate.score for candidate in candidates), default=0.0)


def _with_query_first(candidates: Sequence[Candidate], query: str) -> list[Candidate]:
    """The candidates; a text that is the query itself gets the score that is kept for it."""
    return [
        replace(candidate, score=1.0) if _is_query(candidate.passage.text, query) else candidate
        for candidate in candidates
    ]


def _is_query(text: str, query: str) -> bool:
    """Whether a text is the query, but for white space."""
    return text.lstrip().startswith(query.lstrip()[:1]) and text.split() == query.split()


def _existing(ranked: Sequence[Candidate], depth: int) -> tuple[list[Candidate], int]:
    """The first `depth` candidates whose file is still there, and how many were passed over on the way."""
    seen: dict[str, bool] = {}
    found: list[Candidate] = []
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
