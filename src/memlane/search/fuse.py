"""From the raw figures of two legs to one score in 0..1. Pure.

The scale has a meaning: near 0 is what unrelated text gets, near 1 what the same text gets, and exactly 1
is kept for a text that is the query.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..values import Value

KEYWORD_CEILING = 0.95
"""The score of a passage that holds every term of the query and leads its list."""
_RRF_K = 60


class KeywordEvidence(Value, frozen=True):
    """What the keyword leg says of a candidate."""

    rank: int
    """1-based."""
    bm25: float
    matched: tuple[int, ...]
    """Which of the query's terms it holds."""
    coverage: float
    """The share of the query's term weight that it holds, 0..1."""
    score: float


class VectorEvidence(Value, frozen=True):
    """What the vector leg says of a candidate."""

    rank: int | None
    """1-based; None when it was found by the keyword leg alone and its cosine computed afterwards."""
    cosine: float
    score: float


class Weights(Value, frozen=True):
    """How much each leg counts; they sum to 1."""

    vector: float
    text: float


def term_weights(frequencies: Sequence[int], total: int) -> list[float]:
    """How much each query term tells: its inverse document frequency, never negative.

    `ln(1 + (N − n + ½) / (n + ½))` for a term in n of N passages (Robertson & Zaragoza 2009, with the one
    that keeps common terms above zero). A term that occurs nowhere weighs most: that a passage lacks it
    tells much.
    """
    return [math.log1p((total - count + 0.5) / (count + 0.5)) if total else 1.0 for count in frequencies]


def keyword_evidence(
    found: Sequence[tuple[float, tuple[int, ...]]], weights: Sequence[float]
) -> list[KeywordEvidence]:
    """Scores for the keyword leg's candidates, given best first as (BM25, matched terms).

    A BM25 value alone says nothing: its size depends on the corpus. Two relative figures do: how close a
    passage comes to the best one of this query, and how much of the query's term weight the best one holds
    at all. Their product falls strictly with BM25 and does not depend on the number of notes.
    """
    total = sum(weights)
    coverages = [sum(weights[term] for term in matched) / total if total else 0.0 for _, matched in found]
    best = max((bm25 for bm25, _ in found if math.isfinite(bm25)), default=0.0)
    strength = max(coverages[:_LEADERS], default=0.0)
    evidence = []
    for rank, ((bm25, matched), coverage) in enumerate(zip(found, coverages, strict=True), start=1):
        relative = bm25 / best if best > 0 and math.isfinite(bm25) else 0.0
        score = KEYWORD_CEILING * max(0.0, relative) * strength
        evidence.append(KeywordEvidence(rank, bm25, matched, coverage, score))
    return evidence


_LEADERS = 3
"""The best coverage is looked for among this many first candidates."""


def vector_score(cosine: float, unrelated: float) -> float:
    """A cosine on the scale of the model at hand: 0 for unrelated texts, below 1 for all but the same."""
    if not math.isfinite(cosine):
        return 0.0
    return min(max(0.0, (cosine - unrelated) / (1.0 - unrelated)), 0.999)


def weighted(keyword: KeywordEvidence | None, vector: VectorEvidence | None, weights: Weights) -> float:
    """`vector weight × vector score + text weight × text score`; a leg without a say counts 0."""
    return weights.vector * (vector.score if vector else 0.0) + weights.text * (
        keyword.score if keyword else 0.0
    )


def reciprocal_rank(
    keyword: KeywordEvidence | None, vector: VectorEvidence | None, weights: Weights
) -> float:
    """Reciprocal rank fusion (Cormack et al. 2009, k = 60), scaled so that first in both legs is near 1."""
    score = 0.0
    for evidence, weight in ((keyword, weights.text), (vector, weights.vector)):
        rank = evidence.rank if evidence else None
        if rank is not None:
            score += weight * (_RRF_K + 1) / (_RRF_K + rank)
    return min(score, 0.999)
