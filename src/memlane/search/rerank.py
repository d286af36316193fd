"""A closer look at the first candidates: late interaction over the pieces that the index keeps of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..embed.bundled import packaged_model
from ..embed.likeness import PieceLikeness, unpack_in_bulk, unpack_pieces
from ..embed.pieces import normal_form
from ..errors import ProviderUnavailable
from ..index.store import Store
from .late import QueryPieces, best_window, best_windows, weigh_pieces

DEPTH = 30
"""How many candidates are looked at. Fixed, so that asking for fewer results gives the first of the same;
measured: 10 do four fifths of the good that 60 do, 30 all but a thirtieth."""
_LONGEST_QUERY = 2_000
"""Characters of a query that are compared: a pasted page says with its first lines what it is about."""


def late_interaction(
    store: Store, query: str, terms: Mapping[str, float], chunks: Sequence[int]
) -> dict[int, float]:
    """How well each chunk's best window answers the query, 0..1.

    `terms` are the query's terms with their weights. Chunks without pieces are left out. Empty where the
    query has no piece that tells something, or the embedded model's files are damaged. Raises StoreError.
    """
    query = query[:_LONGEST_QUERY]
    try:
        model = packaged_model()
        spans = model.vocabulary.spans(query)
    except ProviderUnavailable:
        return {}
    likeness = PieceLikeness(model)
    asked = weigh_pieces(spans, normal_form(query), terms, likeness.weights([piece for piece, _, _ in spans]))
    passages = {chunk: packed for chunk, packed in store.pieces(chunks).items() if packed}
    return _scores(likeness, asked, passages) if asked.pieces and passages else {}


def _scores(likeness: PieceLikeness, asked: QueryPieces, passages: Mapping[int, bytes]) -> dict[int, float]:
    """Both ways give the very same."""
    if likeness.in_bulk:
        unpacked = unpack_in_bulk(list(passages.values()))
        scores = best_windows(unpacked, lambda pieces: likeness.matrix(asked.pieces, pieces), asked)
    else:
        pieces = [unpack_pieces(packed) for packed in passages.values()]
        distinct = sorted(set().union(*pieces))
        rows = likeness.cosines(asked.pieces, distinct)
        cosines = [dict(zip(distinct, row, strict=True)) for row in rows]
        scores = [best_window(one, cosines, asked.weights) for one in pieces]
    return {chunk: max(0.0, score) for chunk, score in zip(passages, scores, strict=True)}
