"""Giving every chunk of a space its vector: from the index itself, from the cache, from the provider.

A slow provider is used well: batches are formed across files, as large as it takes them, and as many are on
their way at a time as it allows. All work on the database is done by the calling thread. What is back is
stored before more is sent, so that a process that is killed loses what is on its way and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Set
from contextlib import suppress

from msgspec import Struct

from ..embed.base import Embedder, NoVector, Vector, dimensions_of, fitting
from ..embed.cache import EmbeddingCache
from ..embed.flights import Flights, Landed
from ..errors import EmbeddingError, StoreError
from ..events import Observer
from .batches import Batching
from .inputs import Draft, draft_of, vectors_of
from .lengths import forget_note, is_noted, length_now
from .store import Space, Store, UnembeddedChunk

_PAGE = 256
"""Chunks that are looked at together: what the index or the cache knows of them is stored at once."""
_GRACE_SECONDS = 2.0
"""How long a fill that is ended waits for what is on its way, which is paid for."""


class FillCount(Struct):
    """How the vectors of a fill came about, in chunks."""

    embedded: int = 0
    """Texts for which the provider was asked."""
    from_cache: int = 0
    without_vector: int = 0
    left: int = 0
    """Chunks whose texts a batch job may yet make vectors of."""
    from_batches: int = 0
    """Vectors that batch jobs have put into the cache."""
    error: EmbeddingError | None = None
    """Why the provider stopped the fill; what was done before is kept."""

    def __add__(self, other: FillCount) -> FillCount:
        return FillCount(
            self.embedded + other.embedded,
            self.from_cache + other.from_cache,
            self.without_vector + other.without_vector,
            self.left + other.left,
            self.from_batches + other.from_batches,
            self.error or other.error,
        )


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
        self._dimensions = space.dimensions
        self._began_anew = False
        self._trusting = trusting
        self._flights: Flights[Draft] = Flights(embedder, lambda drafts: vectors_of(embedder, drafts))
        self._batching = Batching(embedder)
        self._chunks: dict[bytes, set[int]] = {}
        """The chunks of each text that waits or is on its way."""
        self._refused: dict[bytes, NoVector] = {}
        """Texts that have no vector, and will not be asked for twice in a pass."""
        self._back: deque[Landed] = deque()
        """What has come back and is not stored yet."""
        self._after = self._done = self._total = 0
        self._leaving: Set[bytes] = frozenset()
        self.count = FillCount()

    def run(self, *, known_only: bool = False, leaving: Set[bytes] = frozenset()) -> FillCount:
        """Embed the chunks that have no vector yet. Raises StoreError, and what the observer raises.

        `known_only` takes what the index and the cache hold and leaves the rest. `leaving` are the digests of
        texts that are not to be sent now.
        """
        self._leaving = leaving
        self._total = self._store.unembedded_count(self._space)
        self._after = self._done = 0
        try:
            if known_only:
                while self._read_page(known_only=True):
                    pass
            else:
                self._fill()
        except BaseException:
            self._abandon()
            raise
        return self.count

    def _fill(self) -> None:
        self._heed_note()
        more = True
        while True:
            while self.count.error is None and not self._flights.is_full:
                while more and not self._batching.is_ripe:
                    more = self._read_page()
                batch = self._batching.take()
                if not batch:
                    break
                self._flights.send(batch)
            if not self._flights.flying:
                return
            self._back += self._flights.land(self._tell)
            more = self._keep() or more
            self._tell()

    def _heed_note(self) -> None:
        """Begin anew where a search has met a vector of another length, if that is still so."""
        if is_noted(self._store, self._space) and (length := length_now(self._embedder)):
            if length != self._dimensions:
                self._begin_anew(length)
            forget_note(self._store)

    def _read_page(self, *, known_only: bool = False) -> bool:
        """Look at the next chunks: store what is known of them, and queue the others. False at the end."""
        page = self._store.unembedded(
            self._space, after=self._after, limit=max(_PAGE, self._embedder.max_batch_items)
        )
        if not page:
            return False
        self._after = page[-1].chunk
        vectors = self._known(page)
        if not known_only:
            unknown = [chunk for chunk in page if chunk.digest not in vectors]
            vectors |= self._queue([chunk for chunk in unknown if chunk.digest not in self._leaving])
            self.count.left += sum(chunk.digest in self._leaving for chunk in unknown)
        known = [(chunk.chunk, vectors[chunk.digest]) for chunk in page if chunk.digest in vectors]
        if known:
            self._put(known)
            if not known_only:
                self._tell()
        return True

    def _known(self, page: list[UnembeddedChunk]) -> dict[bytes, Vector | NoVector]:
        """Vectors that need not be made, by digest: of the length that the others have."""
        digests = list({chunk.digest: None for chunk in page})
        only = None if self._trusting else self._space
        found = self._store.known_vectors(self._space.identity, digests, only=only)
        found |= self._remembered([digest for digest in digests if digest not in found])
        vectors: dict[bytes, Vector | NoVector] = {
            digest: vector
            for digest, vector in found.items()
            if not isinstance(self._fitting(vector), NoVector)
        }
        self.count.from_cache += sum(chunk.digest in vectors for chunk in page)
        vectors.update({digest: self._refused[digest] for digest in digests if digest in self._refused})
        return vectors

    def _queue(self, chunks: list[UnembeddedChunk]) -> dict[bytes, NoVector]:
        """Have these embedded, each text once. Gives those that the model does not take."""
        unfit: dict[bytes, NoVector] = {}
        for chunk in chunks:
            if chunk.digest in self._chunks:
                self._chunks[chunk.digest].add(chunk.chunk)
                continue
            drafted = draft_of(chunk, self._embedder)
            if isinstance(drafted, NoVector):
                unfit[chunk.digest] = drafted
                continue
            self._chunks[chunk.digest] = {chunk.chunk}
            self._batching.add(chunk.digest, *drafted)
        return unfit

    def _keep(self) -> bool:
        """Store what is back. True when the whole space begins anew.

        Nothing is forgotten before it is stored: an interruption in between stores it again.
        """
        anew = False
        while self._back:
            landed = self._back[0]
            anew = self._fit_length(landed.made) or anew
            current = {digest: vector for digest, vector in landed.made.items() if not self._is_late(vector)}
            if len(current) < len(landed.made):  # their chunks are looked at again
                anew, self._after = True, 0
            made = {digest: self._fitting(vector) for digest, vector in current.items()}
            self._remember(made)
            self._put(
                [(chunk, vector) for digest, vector in made.items() for chunk in self._chunks.get(digest, ())]
            )
            self.count.embedded += len(made)
            for digest in landed.asked:
                self._chunks.pop(digest, None)
            self._refused.update(
                {digest: vector for digest, vector in made.items() if isinstance(vector, NoVector)}
            )
            self._back.popleft()
            if isinstance(landed.error, EmbeddingError):
                self.count.error = self.count.error or landed.error
            elif landed.error is not None:
                raise landed.error
        return anew

    def _fit_length(self, made: Mapping[bytes, Vector | NoVector]) -> bool:
        """Begin the space anew where the model's vectors have another length now. True when that is so."""
        lengths = {dimensions_of(vector) for vector in made.values() if not isinstance(vector, NoVector)}
        if not lengths:
            return False
        if self._dimensions is None or len(lengths) > 1 or self._dimensions in lengths:
            return False
        (length,) = lengths
        if length_now(self._embedder) != length:
            return False
        self._begin_anew(length)
        return True

    def _is_late(self, vector: Vector | NoVector) -> bool:
        """Whether a vector was on its way, in the old length, when the space began anew."""
        return (
            self._began_anew
            and not isinstance(vector, NoVector)
            and dimensions_of(vector) != self._dimensions
        )

    def _fitting(self, vector: Vector | NoVector) -> Vector | NoVector:
        """The vector, or why there is none where it is not as long as the others."""
        if self._dimensions is None and not isinstance(vector, NoVector):
            self._dimensions = dimensions_of(vector)
        return fitting(vector, self._dimensions)

    def _begin_anew(self, length: int) -> None:
        """Forget the vectors of the space, and those of another length that the cache holds."""
        self.count.left = 0
        self._began_anew = True
        self._space = self._store.empty_space(self._space)
        self._dimensions = length
        try:
            self._cache.forget_others(self._embedder.identity, length)
        except StoreError as error:
            self._observer.warning(str(error))
        self._total = self._store.unembedded_count(self._space)
        self._after = self._done = 0

    def _put(self, vectors: list[tuple[int, Vector | NoVector]]) -> None:
        self._store.put_vectors(self._space, vectors)
        self._done += len(vectors)
        self.count.without_vector += sum(isinstance(vector, NoVector) for _, vector in vectors)

    def _tell(self) -> None:
        self._observer.progress("embed", self._done, max(self._done, self._total))

    def _abandon(self) -> None:
        """Cancel the calls on their way, and store what is back."""
        self._back += self._flights.abandon(_GRACE_SECONDS)
        with suppress(Exception):  # what ended the fill is raised, not what follows from it
            self._keep()

    def _remembered(self, digests: list[bytes]) -> dict[bytes, Vector]:
        try:
            return self._cache.get(self._embedder.identity, digests)
        except StoreError as error:
            self._observer.warning(str(error))
            return {}

    def _remember(self, vectors: Mapping[bytes, Vector | NoVector]) -> None:
        sound = [(digest, vector) for digest, vector in vectors.items() if not isinstance(vector, NoVector)]
        try:
            if sound:
                self._cache.put(self._embedder.identity, sound)
        except StoreError as error:
            self._observer.warning(str(error))
