"""Texts without a vector on their way into batch jobs, before what is left is embedded directly."""

from __future__ import annotations

from collections.abc import Iterator

from ..embed.base import Embedder
from ..embed.batch.fill import BatchFill, BatchOutcome, Text
from ..embed.cache import EmbeddingCache
from ..errors import StoreError
from ..markdown import estimate_tokens
from .store import Space, Store

_PAGE = 512


def fill_by_jobs(
    batches: BatchFill,
    store: Store,
    space: Space,
    embedder: Embedder,
    cache: EmbeddingCache,
    *,
    trusting: bool,
    brief: bool,
) -> BatchOutcome:
    """Have batch jobs make what is missing in a space, as far as they are worth it; it goes into the cache.

    `trusting`: what the index holds of the same model is not missing. `brief`: without waiting. Raises
    StoreError, and what the observer raises.
    """
    missing = _missing(store, space, embedder, cache, trusting=trusting)
    return batches.run(missing, total=store.unembedded_count(space), brief=brief)


def _missing(
    store: Store, space: Space, embedder: Embedder, cache: EmbeddingCache, *, trusting: bool
) -> Iterator[Text]:
    """The texts that neither index nor cache has a vector of, each once, without those that are too long."""
    limit = embedder.max_input_tokens
    seen: set[bytes] = set()
    after = 0
    while page := store.unembedded(space, after=after, limit=_PAGE):
        after = page[-1].chunk
        texts = {chunk.digest: chunk for chunk in page if chunk.digest not in seen}
        seen.update(texts)
        known = set(store.known_vectors(space.identity, list(texts), only=None if trusting else space))
        try:
            known |= set(cache.get(embedder.identity, [digest for digest in texts if digest not in known]))
        except StoreError:
            return  # a cache that cannot be read takes no vectors of jobs either
        for digest, chunk in texts.items():
            if chunk.media is not None:
                continue  # jobs take texts; pictures and sounds are sent directly
            text = chunk.within(limit)
            if digest not in known and estimate_tokens(text) <= limit:
                yield digest, text
