"""From evidence to a score that means something: the chance that a passage answers the question. Pure.

Two figures tell it: how strong the evidence is, and how far it stands out from that of the other notes.
Strong evidence that ten notes share is a topic of them all; the same evidence in one alone is the answer.
Passages of the same note do not compete: that several of it match speaks for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_BIAS = -5.07
_PER_STRENGTH = 2.11
_PER_LEAD = 5.78
"""A logistic regression over the first five results of questions that the notes answer and of questions about
other things; docs/search-quality.md tells how well it holds on sets it has not seen. How far a passage lies
behind the best of the others tells nothing beyond its own strength.
"""
_BACKGROUND = 0.8
"""The strength that unrelated passages reach: what a lone candidate stands out from."""
_GREATEST_LEAD = 0.6
"""A greater lead tells no more."""
MOST = 0.999
"""The highest score of a text that is not the query itself."""


def leads(evidence: Sequence[tuple[float, str]]) -> list[float]:
    """By how much each strength exceeds the best one of any other note; negative where it does not.

    `evidence` is (strength, note), best first.
    """
    if not evidence:
        return []
    best, first = evidence[0]
    second = max((strength for strength, note in evidence if note != first), default=0.0)
    return [strength - max(second if note == first else best, _BACKGROUND) for strength, note in evidence]


def chance(strength: float, lead: float) -> float:
    """The chance that a passage with this evidence answers the question, below 1."""
    odds = _BIAS + _PER_STRENGTH * strength + _PER_LEAD * min(max(lead, 0.0), _GREATEST_LEAD)
    return min(MOST, 1.0 / (1.0 + math.exp(-odds)))
