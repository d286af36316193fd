"""Searching: what is asked, what is answered, and how it came about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, Literal

from msgspec import field

from .base import Value
from .notes import Modality, Source

Mode = Literal["hybrid", "keyword", "vector"]


class Filters(Value, frozen=True):
    """What a search is limited to. Applied inside both legs, never after."""

    source: Source | None = None
    path: str | None = None
    """A glob over result paths."""
    since: date | None = None
    until: date | None = None
    curated: bool = True
    """False leaves MEMORY.md out, for sessions that are not private."""
    transcripts: bool = True
    """False leaves out what was said in sessions, likewise."""
    since_at: int | None = None
    """The moment at which the day `since` begins, in milliseconds since 1970: for what was said."""
    until_at: int | None = None
    """The moment at which the day `until` is over."""


class Explanation(Value, frozen=True):
    """How one result came by its score. A field is None where its step did not touch the result."""

    keyword_rank: int | None = None
    """1-based."""
    keyword_raw: float | None = None
    """BM25, positive, bigger is better."""
    keyword_score: float | None = None
    vector_rank: int | None = None
    vector_raw: float | None = None
    """Cosine."""
    vector_score: float | None = None
    media: Modality | None = None
    """Set when it is a picture or a sound. Its vector score counts in full, or with its name where that tells
    more."""
    vector_weight: float = 0.0
    text_weight: float = 0.0
    fused: float = 0.0
    """Both legs together, 0..1."""
    late: float | None = None
    """Late interaction: how well the best window answers, piece by piece, 0..1."""
    reranked: float | None = None
    """What the reranking model says, 0..1."""
    nearness: float | None = None
    """How near the note's day lies to the time the question speaks of, 0..1."""
    strength: float = 0.0
    """All of the evidence together."""
    lead: float = 0.0
    """By how much the strength exceeds the best one of any other note."""
    threshold: float = 0.0
    passed_by: str = ""
    """Which leg carried it over the threshold."""
    age_days: int | None = None
    decay: float | None = None
    mmr_penalty: float | None = None
    mmr_against: str | None = None
    matched_terms: tuple[str, ...] = ()


class Hit(Value, frozen=True):
    """One search result."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: Source
    citation: str | None = None
    """`path#Lstart-Lend`, when citations are on."""
    matched_terms: tuple[str, ...] = ()
    explanation: Explanation | None = None


class SearchTotals(Value, frozen=True):
    """What happened to the candidates of a query on the way to its results."""

    keyword_candidates: int = 0
    vector_candidates: int = 0
    dropped_by_score: int = 0
    dropped_missing_file: int = 0
    dropped_by_size: int = 0
    periods: tuple[str, ...] = ()
    """The times that the question speaks of, as they were read."""
    generation: int | None = None
    last_sync: str | None = None
    """ISO time of the last pass that changed the index; for explained searches."""
    milliseconds: dict[str, float] = field(default_factory=dict)


class Why(Value, frozen=True):
    """Why a result list is empty, or why its results are hardly an answer (nothing_relevant).

    `code` is stable: disabled, denied, blank_query, no_searchable_terms, nothing_indexed, no_match,
    below_threshold, nothing_relevant, provider_failed, file_gone.
    """

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


class Fallback(Value, frozen=True):
    """Which provider or backend was wanted, and why another one answered."""

    origin: str = field(name="from")
    """The one that was wanted."""
    reason: str


class Building(Value, frozen=True):
    """Vectors of the configured model that are not all there yet."""

    model: str
    done: int
    """Chunks that have one."""
    total: int

    def __str__(self) -> str:
        return f"{self.model}: {self.done:,} of {self.total:,} chunks"


class SearchResult(Value, frozen=True):
    """The answer to one search. Iterates over its hits."""

    hits: tuple[Hit, ...]
    provider: str
    model: str | None
    """The one whose vectors answered."""
    mode: Mode
    citations: str = "auto"
    fallback: Fallback | None = None
    stale: bool = False
    partial: bool = False
    building: Building | None = None
    """Set while the vectors of the configured model are not all there."""
    confidence: float | None = None
    """The chance that the best passage answers the question, 0..1; None where nothing was searched, or by
    keyword alone: such scores are no chances."""
    warning: str | None = None
    why: Why | None = None
    totals: SearchTotals = field(default_factory=SearchTotals)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


class Recalled(Value, frozen=True):
    """Memories that a message calls for."""

    text: str = ""
    """Fenced as data, to be put before the message; empty where nothing is worth it."""
    hits: tuple[Hit, ...] = ()
    """By path and line, so that the same memories are always the same text."""
