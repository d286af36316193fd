"""What a search can be told."""

from __future__ import annotations

from typing import Literal

from ..values import Value

Fusion = Literal["adaptive", "weighted", "rrf"]

NOISE = 0.35
"""A minimum score above this is a wish for certainty, not a guard against noise."""
DOUBTFUL = 0.04
"""Below this chance the best passage is said to be no answer: so it is for half of the questions about other
things, and for one of two hundred and fifty whose answer stands first."""


class SearchSettings(Value, frozen=True):
    """`memorySearch.query` of an agent, as the pipeline needs it."""

    hybrid: bool = True
    """False: the vector leg alone, where there is one."""
    vector_weight: float = 0.7
    text_weight: float = 0.3
    candidate_multiplier: int = 4
    fusion: Fusion = "adaptive"
    rerank: bool = True
    """A closer look at the first candidates."""
    rerank_candidates: int = 20
    """How many the reranking model looks at, where there is one."""
    rerank_seconds: float = 0.25
    """Its deadline; 0 is none."""
    mmr: bool = False
    mmr_lambda: float = 0.7
    decay: bool = False
    half_life_days: float = 30.0
    balanced: bool = False
    """There is more than one source, and each keeps a share of the places."""


class SearchRequest(Value, frozen=True):
    """One question, with what it overrides."""

    query: str
    max_results: int
    min_score: float
    cite: bool = False
    """Give each result its citation, `path#Lstart-Lend`."""
    explain: bool = False
