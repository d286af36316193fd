"""Maximal marginal relevance: results that say the same give way to ones that say more. Pure.

Carbonell & Goldstein 1998, "The Use of MMR, Diversity-Based Reranking".
"""

from __future__ import annotations

from collections.abc import Sequence

from ..index.analyze import term_spans
from ..values import Value


class Pick(Value, frozen=True):
    """One step of the selection."""

    index: int
    """Which candidate was taken."""
    penalty: float
    """What its likeness to an earlier pick cost it."""
    against: int | None
    """The earlier pick it is most alike to, when it is alike to any."""


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared terms over all terms; 0 for two empty sets, which say nothing of each other."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def distinct_words(text: str) -> frozenset[str]:
    """The terms by which two texts are compared: those of full text, an identifier once and not by part.

    A text without terms is comparable with the same text alone.
    """
    first_terms: dict[int, str] = {}
    for term, start, _ in term_spans(text):
        first_terms.setdefault(start, term)
    return frozenset(first_terms.values()) or frozenset({text})


def diversify(
    scores: Sequence[float], terms: Sequence[frozenset[str]], *, trade_off: float, limit: int
) -> list[Pick]:
    """Pick up to `limit` candidates, each time the one with the best `λ × relevance − (1 − λ) × likeness`.

    Relevance is the score as a share of the best one, likeness the greatest Jaccard similarity to what was
    picked before. (Scaling from the lowest score instead would call the last of a few good candidates
    worthless, and near-duplicates of the first would push it out.) `trade_off` (λ) 1 gives the order of the
    scores, 0 the greatest diversity. Equal candidates are taken in the given order, so `scores` should come
    sorted.
    """
    best = max(scores, default=0.0)
    relevance = [score / best if best > 0 else 1.0 for score in scores]
    likeness = [0.0] * len(scores)
    nearest: list[int | None] = [None] * len(scores)
    left = list(range(len(scores)))
    picks: list[Pick] = []
    while left and len(picks) < limit:
        taken = max(left, key=lambda index: trade_off * relevance[index] - (1 - trade_off) * likeness[index])
        left.remove(taken)
        picks.append(Pick(taken, (1 - trade_off) * likeness[taken], nearest[taken]))
        for index in left:
            alike = jaccard(terms[index], terms[taken])
            if alike > likeness[index]:
                likeness[index], nearest[index] = alike, taken
    return picks
