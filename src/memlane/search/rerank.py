"""A closer look at the first candidates: late interaction over the pieces that the index keeps of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..embed.bundled import packaged_model
from ..embed.likeness import PieceLikeness, unpack_pieces
from ..embed.pieces import normal_form
from ..errors import ProviderUnavailable
from ..index.store import Store
from .late import QueryPieces, best_window, best_windows, weigh_pieces

DEPTH = 30
"""How many candidates are looked at. Fixed, so that asking for fewer results gives the first of the same;
measured: 10 do two thirds of the good, 60 nothing more."""


def late_interaction(
    store: Store, query: str, terms: Mapping[str, float], chunks: Sequence[int]
) -> dict[int, float]:
    """How well each chunk's best window answers the query, 0..1.

    `terms` are the query's terms with their weights. Empty where the query has no piece that tells something,
    or the embedded model's files are damaged. Raises StoreError.
    """
    try:
        model = packaged_model()
        spans = model.vocabulary.spans(query)
    except ProviderUnavailable:
        return {}
    likeness = PieceLikeness(model)
    asked = weigh_pieces(spans, normal_form(query), terms, likeness.weights([piece for piece, _, _ in spans]))
    passages = {chunk: unpack_pieces(packed) for chunk, packed in store.pieces(chunks).items()}
    return _scores(likeness, asked, passages)


def _scores(
    likeness: PieceLikeness, asked: QueryPieces, passages: Mapping[int, Sequence[int]]
) -> dict[int, float]:
    if not asked.pieces:
        return {}
    if likeness.in_bulk:
        scores = best_windows(
            list(passages.values()), lambda pieces: likeness.matrix(asked.pieces, pieces), asked
        )
        return dict(zip(passages, (max(0.0, score) for score in scores), strict=True))
    distinct = sorted(set().union(*passages.values()))
    cosines = [dict(zip(distinct, row, strict=True)) for row in likeness.cosines(asked.pieces, distinct)]
    return {
        chunk: max(0.0, best_window(pieces, cosines, asked.weights)) for chunk, pieces in passages.items()
    }
