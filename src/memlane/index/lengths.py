"""When a model begins to answer vectors of another length under the same name.

A server may be given another model, or another size of it, without a word. Its new vectors cannot be
compared with the stored ones. A search that meets this notes it, and the next pass, once the provider has
confirmed it, makes the vectors of that space anew.
"""

from __future__ import annotations

from contextlib import suppress

from ..embed.base import PROBE, Embedder, NoVector, dimensions_of
from ..errors import EmbeddingError, StoreError
from .store import Space, Store

_NOTE = "other_length"


def note_other_length(store: Store, space: Space) -> None:
    """A query's vector did not have the length of those of the space."""
    with suppress(StoreError):  # an index that can only be read: the search says it all the same
        store.put_note(_NOTE, space.identity)


def is_noted(store: Store, space: Space) -> bool:
    """Whether that was noted of this space."""
    return store.note(_NOTE) == space.identity


def forget_note(store: Store) -> None:
    """The matter is settled."""
    if store.note(_NOTE):
        store.put_note(_NOTE, "")


def length_now(embedder: Embedder) -> int | None:
    """How long the provider's vectors are now, by asking it; None when it does not answer."""
    try:
        vector = embedder.embed_query(PROBE)
    except EmbeddingError:
        return None
    return None if isinstance(vector, NoVector) else dimensions_of(vector)
