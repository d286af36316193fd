"""The two legs of a search. Each gives what it can; one that fails says why and leaves the other alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import field
from msgspec.structs import replace

from ..embed.base import Embedder, NoVector, Vector
from ..errors import EmbeddingError, StoreCorrupt, StoreError
from ..index.identity import space_identity
from ..index.lengths import note_other_length
from ..index.store import Store
from ..index.unrelated import unrelated_of
from ..values import Filters, Value
from .fuse import (
    KeywordEvidence,
    VectorEvidence,
    best_coverage,
    keyword_evidence,
    term_weights,
    vector_score,
)

_MOST_TERMS = 256
"""A pasted page says with its first words what it is about; every term costs a look-up."""
_LEAST = 25
"""Candidates that each source gives at least where one could drown the other: as many as places are shown."""


class KeywordLeg(Value, frozen=True):
    """What the keyword leg found."""

    terms: tuple[str, ...] = ()
    """The query's searchable terms."""
    weights: tuple[float, ...] = ()
    """How much each term tells."""
    evidence: dict[int, KeywordEvidence] = field(default_factory=dict)
    """By chunk, best first."""
    coverage: float = 0.0
    """The share of the query's term weight that the best candidates hold."""
    failure: str = ""


class VectorLeg(Value, frozen=True):
    """What the vector leg found."""

    evidence: dict[int, VectorEvidence] = field(default_factory=dict)
    """By chunk, best first."""
    query: Vector | None = None
    absence: str = ""
    """Why the leg had no say although nothing went wrong: off, no vectors yet, no known word."""
    failure: str = ""
    """What went wrong."""
    unrelated: float = 0.0
    """The cosine that unrelated texts have with the model."""

    @property
    def answered(self) -> bool:
        """Whether the leg compared the query with vectors."""
        return self.query is not None


def keyword_leg(
    store: Store, asked: Sequence[str], *, limit: int, filters: Filters, balanced: bool = False
) -> KeywordLeg:
    """Ask the full-text index for these terms, joined by OR. `balanced` hears every source."""
    terms = asked[:_MOST_TERMS]
    if not terms:
        return KeywordLeg()
    try:
        frequencies, total = store.term_frequencies(terms)
        candidates = store.keyword_candidates(terms, limit=limit, filters=filters)
        if balanced and len(candidates) == limit:
            heard = {candidate.chunk: candidate for candidate in candidates}
            for one in _by_source(filters):
                few = store.keyword_candidates(terms, limit=_LEAST, filters=one)
                heard.update((candidate.chunk, candidate) for candidate in few)
            candidates = sorted(heard.values(), key=lambda candidate: -candidate.bm25)
    except StoreCorrupt:
        raise  # mended one level up, then asked again
    except StoreError as error:
        return KeywordLeg(tuple(terms), failure=str(error))
    weights = term_weights(frequencies, total)
    found = [(candidate.bm25, candidate.matched) for candidate in candidates]
    evidence = keyword_evidence(found, weights)
    return KeywordLeg(
        tuple(terms),
        tuple(weights),
        {candidate.chunk: judged for candidate, judged in zip(candidates, evidence, strict=True)},
        best_coverage(found, weights),
    )


def vector_leg(
    store: Store,
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    filters: Filters,
    balanced: bool = False,
) -> VectorLeg:
    """Embed the query and ask for its nearest neighbours, when query and vectors share an identity.

    `balanced` hears every source.
    """
    if embedder is None:
        return VectorLeg(absence="no embedding provider")
    try:
        space = store.current_space()
        if space is None:
            return VectorLeg(absence="no vectors yet")
        if space.identity != space_identity(embedder.identity):
            return VectorLeg(
                failure=f"the vectors in the index were made by another model than {embedder.id}"
                f" ({embedder.model}); memlane index makes new ones"
            )
        vector = embedder.embed_query(query)
        if isinstance(vector, NoVector):
            return VectorLeg(absence=f"the query has no vector: {vector.reason}")
        if space.dimensions and len(vector) != 4 * space.dimensions:
            note_other_length(store, space)
            return VectorLeg(
                failure=f"{embedder.id} ({embedder.model}) answers {len(vector) // 4} dimensions, the index"
                f" has {space.dimensions}; memlane index makes new vectors"
            )
        candidates = store.vector_candidates(vector, limit=limit, filters=filters)
        if balanced and len(candidates) == limit:
            near = {found.chunk: found for found in candidates}
            for one in _by_source(filters):
                few = store.vector_candidates(vector, limit=_LEAST, filters=one)
                near.update((found.chunk, found) for found in few)
            candidates = sorted(near.values(), key=lambda found: (-found.cosine, found.chunk))
        unrelated = unrelated_of(store, space, embedder)
    except StoreCorrupt:
        raise
    except (EmbeddingError, StoreError) as error:
        return VectorLeg(failure=str(error))
    return VectorLeg(
        {
            found.chunk: VectorEvidence(rank, found.cosine, vector_score(found.cosine, unrelated))
            for rank, found in enumerate(candidates, start=1)
        },
        query=vector,
        unrelated=unrelated,
    )


def _by_source(filters: Filters) -> Iterator[Filters]:
    """The filters for each source apart; none where they leave but one source."""
    if filters.source is None and filters.transcripts:
        yield replace(filters, source="memory")
        yield replace(filters, source="sessions")


def complete_cosines(leg: VectorLeg, store: Store, chunks: Sequence[int]) -> VectorLeg:
    """The leg with the cosines of further chunks, which the other leg found.

    With them a chunk's score no longer depends on how deep the candidate lists go.
    """
    missing = [chunk for chunk in chunks if chunk not in leg.evidence]
    if leg.query is None or not missing:
        return leg
    known = store.cosines(leg.query, missing)
    added = {
        chunk: VectorEvidence(None, cosine, vector_score(cosine, leg.unrelated))
        for chunk, cosine in known.items()
    }
    return replace(leg, evidence={**leg.evidence, **added})
