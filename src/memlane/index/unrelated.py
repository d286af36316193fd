"""Which cosine unrelated texts have, for models of which nobody knows: told by the vectors that are stored.

Some models give 0.05, others 0.75. Without that zero of its scale a cosine says nothing about relevance.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ..embed.base import Embedder, Vector, cosine, unpack
from .store import Space, Store

_NOTE = "unrelated_cosine"
_SAMPLE = 40
_FEWEST = 8
_UNTIL_MEASURED = 0.2
"""Stands in while there are too few vectors to tell. A guess: models are known from 0.05 to 0.75."""


def unrelated_cosine(vectors: Sequence[Vector]) -> float:
    """The lower quartile of the cosines of all pairs.

    Most passages of a workspace do not belong together, and those that do lie above it.
    """
    unpacked = [unpack(vector) for vector in vectors]
    cosines = sorted(cosine(one, other) for one, other in combinations(unpacked, 2))
    return max(0.0, cosines[len(cosines) // 4])


def measure_unrelated(store: Store, space: Space, embedder: Embedder) -> None:
    """Measure it on the vectors of a space and note it, where nobody knows it.

    Again when the index has doubled since; not on a handful of vectors.
    """
    if embedder.unrelated_cosine is not None:
        return
    noted = _noted(store)
    chunks = store.chunk_count()
    if noted.get("identity") == space.identity and chunks < 2 * noted["chunks"]:
        return
    vectors = store.sample_vectors(space, _SAMPLE)
    if len(vectors) >= _FEWEST:
        measured = {
            "identity": space.identity,
            "chunks": chunks,
            "cosine": round(unrelated_cosine(vectors), 4),
        }
        store.put_note(_NOTE, json.dumps(measured))


def unrelated_of(store: Store, space: Space, embedder: Embedder) -> float:
    """The cosine of unrelated texts with the model that made the vectors of a space. Raises StoreError."""
    if embedder.unrelated_cosine is not None:
        return embedder.unrelated_cosine
    noted = _noted(store)
    return float(noted["cosine"]) if noted.get("identity") == space.identity else _UNTIL_MEASURED


def _noted(store: Store) -> dict[str, Any]:
    return json.loads(store.note(_NOTE) or "{}")  # type: ignore[no-any-return]
