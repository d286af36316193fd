"""A chunk on its way through the steps, and the account of what each did to it."""

from __future__ import annotations

from datetime import date, datetime, tzinfo

from ..index.store import Passage
from ..values import Explanation, Value
from .fuse import VECTOR_ALONE, KeywordEvidence, VectorEvidence, Weights


class Candidate(Value, frozen=True):
    """A chunk that a leg found. Each step gives a changed copy."""

    passage: Passage
    keyword: KeywordEvidence | None
    vector: VectorEvidence | None
    fused: float
    """What the two legs say, 0..1."""
    in_full: bool = False
    """Its vector score counts in full, since it is a picture or a sound."""
    late: float | None = None
    """How well its best window answers the question piece by piece, 0..1; None when it was not compared."""
    reranked: float | None = None
    """What the reranking model says, 0..1; None when it was not asked."""
    nearness: float = 0.0
    """How near its day lies to the time the question speaks of, 0..1."""
    strength: float = 0.0
    """All of the above together: what the order goes by."""
    lead: float = 0.0
    """By how much its strength exceeds the best of any other note; negative behind."""
    score: float = 0.0
    """The chance that it answers the question, 0..1; then what age took away."""
    passed_by: str = ""
    age_days: int | None = None
    decay: float | None = None
    mmr_penalty: float | None = None
    mmr_against: str | None = None

    @property
    def order(self) -> tuple[float, float, bool, str, int, int]:
        """Best first, notes before what was said; ties in an order that does not depend on the index."""
        passage = self.passage
        said = passage.source == "sessions"
        return -self.score, -self.strength, said, passage.path, passage.start_line, passage.chunk

    @property
    def note(self) -> str:
        """Which note it is of."""
        return f"{self.passage.source}:{self.passage.path}"

    @property
    def citation(self) -> str:
        """`path#Lstart-Lend`, or `path#Lstart`."""
        passage = self.passage
        last = f"-L{passage.end_line}" if passage.end_line > passage.start_line else ""
        return f"{passage.path}#L{passage.start_line}{last}"

    def day(self, zone: tzinfo | None) -> date | None:
        """The day its age counts from; None for evergreen ones."""
        passage = self.passage
        if passage.last_at is not None:
            return datetime.fromtimestamp(passage.last_at / 1000, zone).date()
        if passage.day is not None or passage.evergreen:
            return passage.day
        return datetime.fromtimestamp(passage.mtime_ns / 1e9, zone).date()

    def explanation(self, weights: Weights, threshold: float, matched: tuple[str, ...]) -> Explanation:
        """What each step did to it."""
        word, meaning = self.keyword, self.vector
        if self.in_full:
            weights = VECTOR_ALONE
        return Explanation(
            keyword_rank=word.rank if word else None,
            keyword_raw=word.bm25 if word else None,
            keyword_score=word.score if word else None,
            vector_rank=meaning.rank if meaning else None,
            vector_raw=meaning.cosine if meaning else None,
            vector_score=meaning.score if meaning else None,
            media=self.passage.media,
            vector_weight=weights.vector,
            text_weight=weights.text,
            fused=self.fused,
            late=self.late,
            reranked=self.reranked,
            nearness=self.nearness or None,
            strength=self.strength,
            lead=self.lead,
            threshold=threshold,
            passed_by=self.passed_by,
            age_days=self.age_days,
            decay=self.decay,
            mmr_penalty=self.mmr_penalty,
            mmr_against=self.mmr_against,
            matched_terms=matched,
        )
