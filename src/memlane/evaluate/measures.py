"""What a ranked list is worth, and what a list of figures says. Pure.

Recall and nDCG count places, not results: a result that reaches two expected places gains both, a second
result on the same place gains nothing but takes a rank of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..values import Value

DEPTH = 10
"""How many results count."""


class Measures(Value, frozen=True):
    """The worth of one ranked list, or the mean over several. All in 0..1."""

    recall_at_1: float
    """The share of the expected places among the first result."""
    recall_at_5: float
    recall_at_10: float
    mrr: float
    """1 / rank of the first result on an expected place, 0 beyond the first ten."""
    ndcg_at_10: float
    """Gains discounted by log2(rank + 1), as a share of the best possible (Järvelin & Kekäläinen 2002)."""


NAMES = {
    "recall_at_1": "recall@1",
    "recall_at_5": "recall@5",
    "recall_at_10": "recall@10",
    "mrr": "MRR",
    "ndcg_at_10": "nDCG@10",
}
"""The usual name of each measure."""


def measured(ranks: Sequence[int | None]) -> Measures:
    """The measures of one question: for each expected place the 1-based rank of the first result on it."""
    assert ranks, "a question without expected places has no recall"
    reached = sorted(rank for rank in ranks if rank is not None and rank <= DEPTH)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(ranks), DEPTH) + 1))
    gained = sum(1 / math.log2(rank + 1) for rank in reached)
    recalls = [sum(rank <= depth for rank in reached) / len(ranks) for depth in (1, 5, DEPTH)]
    return Measures(
        recall_at_1=recalls[0],
        recall_at_5=recalls[1],
        recall_at_10=recalls[2],
        mrr=1 / reached[0] if reached else 0.0,
        ndcg_at_10=min(1.0, gained / best),
    )


def mean_measures(rows: Sequence[Measures]) -> Measures | None:
    """The mean of each measure; None over nothing."""
    if not rows:
        return None
    return Measures(*(mean([getattr(row, name) for row in rows]) for name in NAMES))


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 over nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0..1) of the values lie, interpolated linearly; 0 over nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, ties counted half (Mann-Whitney).

    None when there is nothing on one side.
    """
    if not positive or not negative:
        return None
    ordered = sorted(negative)
    from bisect import bisect_left, bisect_right

    wins = sum(bisect_left(ordered, one) + bisect_right(ordered, one) for one in positive) / 2
    return wins / (len(positive) * len(negative))


class Detection(Value, frozen=True):
    """How well something is told from the rest."""

    right: int
    """Told, and rightly."""
    wrong: int
    """Told, but wrongly."""
    missed: int
    """Not told, although it should have been."""

    @property
    def precision(self) -> float | None:
        """The share of what was told that was right; None when nothing was told."""
        told = self.right + self.wrong
        return self.right / told if told else None

    @property
    def recall(self) -> float | None:
        """The share that was told of what should have been; None when there was nothing to tell."""
        due = self.right + self.missed
        return self.right / due if due else None


def detection(told: Sequence[bool], true: Sequence[bool]) -> Detection:
    """Counts of what was told against what is true, item by item."""
    pairs = list(zip(told, true, strict=True))
    return Detection(
        right=sum(said and is_so for said, is_so in pairs),
        wrong=sum(said and not is_so for said, is_so in pairs),
        missed=sum(is_so and not said for said, is_so in pairs),
    )


def bootstrap_interval(values: Sequence[float], *, resamples: int = 1000) -> tuple[float, float]:
    """The 95 % percentile interval of the mean (Efron 1979), from a fixed seed; (0, 0) over nothing.

    Given the differences of pairs it is the interval of the paired difference.
    """
    from random import Random

    if not values:
        return 0.0, 0.0
    random = Random(0)  # noqa: S311 - the same data must give the same interval
    means = sorted(math.fsum(random.choices(values, k=len(values))) / len(values) for _ in range(resamples))
    return means[int(resamples * 0.025)], means[int(resamples * 0.975) - 1]


def sign_test(wins: int, losses: int) -> float:
    """The two-sided chance of a split at least this uneven if either side were as likely; 1 over nothing."""
    total, fewer = wins + losses, min(wins, losses)
    if not total:
        return 1.0
    tail = sum(math.comb(total, count) for count in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))
