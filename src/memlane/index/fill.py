"""Giving every chunk of a space its vector: from the index itself, from the cache, from the provider."""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct

from ..embed.base import Embedder, NoVector, Vector
from ..embed.cache import EmbeddingCache
from ..errors import EmbeddingError, StoreError
from ..events import Observer
from ..markdown import estimate_tokens
from .store import Space, Store, UnembeddedChunk


class FillCount(Struct):
    """How the vectors of a fill came about, in chunks."""

    embedded: int = 0
    from_cache: int = 0
    without_vector: int = 0
    left: int = 0
    """Chunks whose texts are in batch jobs that go on."""
    failure: str = ""
    """Why the provider stopped the fill; what was done before is kept."""


class SpaceFill:
    """Fills one space. A failing provider ends it early; a failing cache only costs what it would save."""

    def __init__(
        self,
        store: Store,
        space: Space,
        embedder: Embedder,
        cache: EmbeddingCache,
        observer: Observer,
        *,
        trusting: bool = True,
    ) -> None:
        """`trusting` takes over vectors that the index holds already for the same texts."""
        self._store = store
        self._space = space
        self._embedder = embedder
        self._cache = cache
        self._observer = observer
        self._trusting = trusting
        self.count = FillCount()

    def run(self, *, known_only: bool = False, left: Set[bytes] = frozenset()) -> FillCount:
        """Embed the chunks that have no vector yet, batch by batch. Raises StoreError alone.

        `known_only` takes what the index and the cache hold and leaves the rest. `left` are the digests of
        texts that are not to be sent now.
        """
        total = self._store.unembedded_count(self._space)
        done = last = 0
        while batch := self._store.unembedded(self._space, after=last, limit=self._embedder.max_batch_items):
            last = batch[-1].chunk
            try:
                vectors = self._known(batch)
                if not known_only:
                    unmade = [chunk for chunk in batch if chunk.digest not in vectors]
                    vectors |= self._made([chunk for chunk in unmade if chunk.digest not in left])
                    self.count.left += sum(chunk.digest in left for chunk in unmade)
            except EmbeddingError as error:
                self.count.failure = str(error)
                break
            found = [(chunk.chunk, vectors[chunk.digest]) for chunk in batch if chunk.digest in vectors]
            self._store.put_vectors(self._space, found)
            self.count.without_vector += sum(isinstance(vector, NoVector) for _, vector in found)
            done += len(batch)
            if not known_only:
                self._observer.progress("embed", done, max(done, total))
        return self.count

    def _known(self, batch: list[UnembeddedChunk]) -> dict[bytes, Vector | NoVector]:
        """Vectors that need not be made, by digest."""
        digests = list({chunk.digest: None for chunk in batch})
        vectors: dict[bytes, Vector | NoVector] = {}
        if self._trusting:
            vectors.update(self._store.known_vectors(self._space, digests))
        vectors.update(self._remembered([digest for digest in digests if digest not in vectors]))
        self.count.from_cache += sum(chunk.digest in vectors for chunk in batch)
        return vectors

    def _made(self, batch: list[UnembeddedChunk]) -> dict[bytes, Vector | NoVector]:
        """Vectors that are not known, by digest, made now."""
        limit = self._embedder.max_input_tokens
        texts = {chunk.digest: chunk.within(limit) for chunk in batch}
        vectors: dict[bytes, Vector | NoVector] = {}
        for digest, text in texts.items():
            if estimate_tokens(text) > limit:
                vectors[digest] = NoVector(
                    f"longer than the {limit} tokens that {self._embedder.model} takes"
                )
        wanted = [digest for digest in texts if digest not in vectors]
        if wanted:
            made = self._embedder.embed_documents([texts[digest] for digest in wanted])
            vectors.update(zip(wanted, made, strict=True))
            self._remember(wanted, made)
            self.count.embedded += len(wanted)
        return vectors

    def _remembered(self, digests: list[bytes]) -> dict[bytes, Vector]:
        try:
            return self._cache.get(self._embedder.identity, digests)
        except StoreError as error:
            self._observer.warning(str(error))
            return {}

    def _remember(self, digests: list[bytes], vectors: list[Vector | NoVector]) -> None:
        sound = [
            (digest, vector)
            for digest, vector in zip(digests, vectors, strict=True)
            if not isinstance(vector, NoVector)
        ]
        try:
            self._cache.put(self._embedder.identity, sound)
        except StoreError as error:
            self._observer.warning(str(error))
