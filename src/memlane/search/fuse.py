"""From the raw figures of two legs to one score in 0..1. Pure.

The scale has a meaning: near 0 is what unrelated text gets, near 1 what the same text gets, and exactly 1
is kept for a text that is the query.

`adaptive`, the default, was chosen by measurement on seven data sets in four languages; the figures are in
docs/search-quality.md.
What was tried against it: fixed weights (let chance word matches bury the right passage when the answer is
in another language), scores scaled between the best and worst of a query (lose what a low best score says),
and reciprocal rank fusion (a chance match at rank one counts like a perfect one).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from ..values import Value

KEYWORD_CEILING = 0.95
"""The score of a passage that holds every term of the query and leads its list."""
_COVERAGE_SCALE = 0.25
"""How fast the share of the query's term weight that a passage holds turns into a score."""
_CHANCE_SCALE = 0.12
"""The same for the threshold, where it only matters that the match is not a chance one: a tenth of a long
question's weight, in rare words, is enough."""
_COSINE_SCALE = 0.32
"""How fast a cosine above that of unrelated texts turns into confidence."""
_LEADERS = 3
"""How well the keyword leg covers the query is judged by the best of this many first candidates."""
_SHIFT = 4.0
"""How strongly that coverage shifts the weights, in log odds from none to all."""
_NEUTRAL_COVERAGE = 0.4
"""The coverage at which the configured weights hold as they are."""
_RRF_K = 60
_LATE_WEIGHT = 1.4
"""How much late interaction counts beside the fused score; from 1.0 to 3.0 the mean of recall@5 and MRR stays
within .0015."""
_MODEL_WEIGHT = _LATE_WEIGHT
"""How much a reranking model counts: not measured. Its scores lie further apart than those of late
interaction, so that with the same weight it mostly decides."""
_NEARNESS_WEIGHT = 0.8
"""How much it counts that a note is of the time a question speaks of. On diaries 0.8 and 1.2 put one question
of 26 further up than 0.4 does; dialogues do not tell them apart."""


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


def coverage(matched: Sequence[int], weights: Sequence[float]) -> float:
    """The share of the query's term weight that these terms hold, 0..1."""
    total = sum(weights)
    return sum(weights[term] for term in matched) / total if total else 0.0


def best_coverage(found: Sequence[tuple[float, tuple[int, ...]]], weights: Sequence[float]) -> float:
    """How well the keyword leg covers the query: the best coverage among its first candidates."""
    return max((coverage(matched, weights) for _, matched in found[:_LEADERS]), default=0.0)


def keyword_evidence(
    found: Sequence[tuple[float, tuple[int, ...]]], weights: Sequence[float]
) -> list[KeywordEvidence]:
    """Scores for the keyword leg's candidates, given best first as (BM25, matched terms).

    A BM25 value alone says nothing: its size depends on the corpus. Two relative figures do: how close a
    passage comes to the best one of this query, and how much of the query's term weight the best ones hold
    at all. The product of the two falls strictly with BM25 and does not depend on the number of notes.
    """
    best = max((bm25 for bm25, _ in found if math.isfinite(bm25)), default=0.0)
    strength = KEYWORD_CEILING * _saturated(best_coverage(found, weights), _COVERAGE_SCALE)
    evidence = []
    for rank, (bm25, matched) in enumerate(found, start=1):
        relative = max(0.0, bm25 / best) if best > 0 and math.isfinite(bm25) else 0.0
        share = coverage(matched, weights)
        evidence.append(KeywordEvidence(rank, bm25, matched, share, strength * relative))
    return evidence


def vector_score(cosine: float, unrelated: float) -> float:
    """A cosine on the scale of scores: 0 for what unrelated texts have with this model, 1 for the same."""
    if not math.isfinite(cosine):
        return 0.0
    return _saturated(min(max(0.0, (cosine - unrelated) / (1.0 - unrelated)), 1.0), _COSINE_SCALE)


def adapted(weights: Weights, keyword_coverage: float, relative_weight: float = 1.0) -> Weights:
    """The weights for a query whose best keyword hits hold this share of its term weight.

    When the words of the query stand in a passage, they tell more than any model; when they do not, chance
    matches tell nothing. The log odds of the configured weights move in proportion to the coverage, so
    that a weight of 0 or 1 stays. `relative_weight` is how much the model's vectors count beside those of
    the embedded static one, for which the default weights hold.
    """
    vector = weights.vector * relative_weight
    text = weights.text * math.exp(_SHIFT * (keyword_coverage - _NEUTRAL_COVERAGE))
    total = vector + text
    return Weights(vector=vector / total, text=text / total)


def carried_by(
    keyword: KeywordEvidence | None, vector: VectorEvidence | None, minimum: float
) -> Literal["keyword", "vector"] | None:
    """Which leg by itself finds a candidate good enough; None when neither does.

    The keyword leg asks that the match is more than chance. Where the model sees no likeness at all (less
    than half of the minimum), it asks for more: words that are convincing by themselves, half-way from the
    minimum to certainty. One of several words is not; an exact rare token is.
    """
    if vector and vector.score >= minimum:
        return "vector"
    if keyword is None:
        return None
    contradicted = vector is not None and vector.score < minimum / 2
    if contradicted:
        convincing = KEYWORD_CEILING * _saturated(keyword.coverage, _COVERAGE_SCALE)
        return "keyword" if convincing >= (1 + minimum) / 2 else None
    return "keyword" if KEYWORD_CEILING * _saturated(keyword.coverage, _CHANCE_SCALE) >= minimum else None


def weighted(keyword: KeywordEvidence | None, vector: VectorEvidence | None, weights: Weights) -> float:
    """`vector weight × vector score + text weight × text score`; a leg without a say counts 0."""
    meaning = vector.score if vector else 0.0
    words = keyword.score if keyword else 0.0
    return weights.vector * meaning + weights.text * words


def counts_in_full(media: bool, by_meaning: float, by_both: float) -> bool:
    """Whether a candidate's vector score counts in full: that of a picture or a sound, if it is the greater.

    Their words are a file name, which says little of what they show or let hear: that a query does not match
    it speaks against nothing. A match of the name can lift them all the same.
    """
    return media and by_meaning > 0 and by_meaning >= by_both


def strength(fused: float, late: float | None, nearness: float, *, in_full: bool = False) -> float:
    """All evidence for a candidate together, about 0 to 3: what the order goes by.

    `in_full` is for a picture or a sound found by its vector: it has no words that could be compared piece by
    piece, so that its vector score stands for this comparison, too.

    The weights lie on plateaus that were found by measurement on thirteen sets (docs/search-quality.md).
    """
    closer = max(late, fused) if late is not None and in_full else late or 0.0
    return fused + _LATE_WEIGHT * closer + _NEARNESS_WEIGHT * nearness


def model_evidence(reranked: float | None, *, alone: bool) -> float:
    """What a reranking model's score (0..1) adds to the strength: `weight × (score − ½)`.

    A model in doubt changes nothing, so that the strength keeps its meaning. Where the model is `alone`,
    without late interaction, it takes its place on the scale: `weight × score`. A passage that it did not
    read counts like one that it finds no answer, and so passes none that it read.
    """
    return _MODEL_WEIGHT * ((reranked or 0.0) - (0.0 if alone else 0.5))


VECTOR_ALONE = Weights(vector=1.0, text=0.0)


def reciprocal_rank(
    keyword: KeywordEvidence | None, vector: VectorEvidence | None, weights: Weights
) -> float:
    """Reciprocal rank fusion (Cormack et al. 2009, k = 60), scaled so that first in both legs is near 1."""
    score = 0.0
    for evidence, weight in ((keyword, weights.text), (vector, weights.vector)):
        rank = evidence.rank if evidence else None
        if rank is not None:
            score += weight * (_RRF_K + 1) / (_RRF_K + rank)
    return score


def _saturated(share: float, scale: float) -> float:
    """A concave curve from (0, 0) to (1, 1): what is gained first counts most."""
    return math.expm1(-share / scale) / math.expm1(-1.0 / scale)
