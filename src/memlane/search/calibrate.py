"""From evidence to a score that means something: the chance that a passage answers the question. Pure.

Two figures tell it: how strong the evidence is, and how far it stands out from the next best. Strong evidence
that ten passages share is a topic of the notes; the same evidence for one alone is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_BIAS = -5.4
_PER_STRENGTH = 2.75
_PER_LEAD = 5.0
"""A logistic regression over the first five results of questions that the notes answer and of questions about
other things; docs/search-quality.md tells how well it holds on sets it has not seen. How far a passage lies
behind the first tells nothing beyond its own strength (0.1)."""
_BACKGROUND = 0.8
"""The strength that unrelated passages reach: what a lone candidate stands out from."""
_GREATEST_LEAD = 0.6
"""A greater lead tells no more."""
MOST = 0.999
"""The highest score of a text that is not the query itself."""


def leads(strengths: Sequence[float]) -> list[float]:
    """By how much each exceeds the best of the others. They must come best first."""
    if not strengths:
        return []
    best = strengths[0]
    second = max(strengths[1] if len(strengths) > 1 else 0.0, _BACKGROUND)
    return [best - second, *(strength - best for strength in strengths[1:])]


def chance(strength: float, lead: float) -> float:
    """The chance that a passage with this evidence answers the question, below 1."""
    odds = _BIAS + _PER_STRENGTH * strength + _PER_LEAD * min(max(lead, 0.0), _GREATEST_LEAD)
    return min(MOST, 1.0 / (1.0 + math.exp(-odds)))
