"""What a pass would do, found out without doing it: nothing is written, nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator

from ..embed.base import Embedder, NoVector
from ..embed.cache import EmbeddingCache
from ..errors import StoreError
from ..events import SilentObserver
from ..values import IndexPlan, Source
from ..workspace import is_readable
from .batches import Batching
from .growth import ANY_GROWTH
from .identity import space_identity
from .inputs import MediaDraft, draft_of
from .plan import plan_sync
from .reader import NoteReader
from .sources import Sources, remembered
from .store import FailFile, Generation, ReplaceFile, ReplaceLines, Store, UnembeddedChunk
from .sync import Chunking
from .transcripts import TranscriptReader, changes_of

_PAGE = 256


class Forecast:
    """Looks at one tree and the index over it, as a pass would."""

    def __init__(
        self,
        store: Store | None,
        *,
        embedder: Embedder | None,
        standing_in: Embedder | None,
        substitute: Embedder | None,
        cache: EmbeddingCache,
        chunking: Chunking,
        price: float | None,
    ) -> None:
        """`store` None: there is no index yet. `price` is that of a million tokens.

        `standing_in` and `substitute` may answer in place of `embedder`.
        """
        self._store = store
        self._embedder = embedder
        self._standing_in = standing_in
        self._others = [other for other in (standing_in, substitute) if other is not None]
        self._cache = cache
        self._chunking = chunking.within(embedder).within(substitute)
        self._price = price
        self._from_index = self._from_cache = self._unfit = 0
        self._sent: set[bytes] = set()
        self._tokens = self._files = self._bytes = 0

    def run(self, sources: Sources, *, force: bool) -> IndexPlan:
        """Read what changed, in memory, and count what lacks a vector. Raises StoreError."""
        scan, forgotten = sources.scan(), sources.tombstones()
        growth = sources.sessions.growth(None) if sources.sessions else ANY_GROWTH
        current = self._store.current_generation() if self._store else None
        kept = current if current and current.layout == self._chunking.layout and not force else None
        indexed = self._store.indexed_files(current) if self._store and current else {}
        scan = remembered(scan, forgotten, indexed if kept else {})
        plan = plan_sync(scan, indexed, force=kept is None, is_readable=is_readable, has_grown=growth)
        reader = NoteReader(self._chunking, indexed if kept else {}, forgotten)
        said = TranscriptReader(
            self._chunking,
            secrets=sources.sessions.secrets if sources.sessions else tuple,
            zone=None,
            observer=SilentObserver(),
            forgotten=forgotten,
        )
        # A doubted removal is not done yet; these files keep what they have.
        gone = {(one.source, one.path) for one in plan.remove} if not plan.doubt else set()
        batching = Batching(self._embedder) if self._embedder else None
        waiting: list[UnembeddedChunk] = []
        chunks = 0
        for _, change in changes_of(plan, reader, said, indexed if kept else {}):
            if isinstance(change, ReplaceFile | FailFile) or (
                isinstance(change, ReplaceLines) and not change.after
            ):
                gone.add((change.entry.source, change.entry.path))
            if not isinstance(change, ReplaceFile | ReplaceLines):
                continue
            chunks += len(change.chunks)
            file = change.entry
            waiting += [
                UnembeddedChunk(0, one.digest, one.heading, one.text, file.location, file.media, file.size)
                for one in change.chunks
            ]
            if batching and len(waiting) >= _PAGE:
                self._look(waiting, batching, force=force)
                waiting = []
        if batching:
            self._look(waiting, batching, force=force)
            for page in self._waiting(kept, gone):
                self._look(page, batching, force=force)
        return IndexPlan(
            provider=self._embedder.id if self._embedder else "none",
            model=self._embedder.model if self._embedder else None,
            files_to_read=len(plan.read),
            files_to_remove=0 if plan.doubt else len(plan.remove),
            unchanged=plan.unchanged + reader.refreshed,
            failed=(*plan.failed, *reader.failed, *said.failed, *scan.failed),
            chunks=chunks,
            from_index=self._from_index,
            from_cache=self._from_cache,
            without_vector=self._unfit,
            texts=len(self._sent) - self._files,
            files_to_upload=self._files,
            bytes_to_upload=self._bytes,
            tokens=self._tokens,
            requests=_batches(batching) if batching else 0,
            cost=None if self._price is None else self._price * self._tokens / 1_000_000,
            meanwhile=self._meanwhile(),
        )

    def _waiting(
        self, generation: Generation | None, gone: set[tuple[Source, str]]
    ) -> Iterator[list[UnembeddedChunk]]:
        """The chunks of files that stay as they are which lack a vector of this model."""
        if self._store is None or self._embedder is None or generation is None:
            return
        space = self._store.find_space(generation, space_identity(self._embedder.identity))
        after = 0
        while page := self._store.waiting(generation, space, after=after, limit=_PAGE):
            after = page[-1].chunk.chunk
            yield [one.chunk for one in page if (one.source, one.path) not in gone]

    def _look(self, chunks: list[UnembeddedChunk], batching: Batching, *, force: bool) -> None:
        """Count where the vectors of these chunks would come from."""
        if self._embedder is None:
            return
        digests = list({chunk.digest: None for chunk in chunks})
        known = set()
        if self._store and not force:
            known = set(self._store.known_vectors(space_identity(self._embedder.identity), digests))
        cached = self._cached([digest for digest in digests if digest not in known])
        for chunk in chunks:
            self._from_index += chunk.digest in known
            self._from_cache += chunk.digest in cached
            if chunk.digest in known or chunk.digest in cached or chunk.digest in self._sent:
                continue
            drafted = draft_of(chunk, self._embedder)
            if isinstance(drafted, NoVector):
                self._unfit += 1
                continue
            draft, tokens = drafted
            self._sent.add(chunk.digest)
            self._tokens += tokens
            if isinstance(draft, MediaDraft):
                self._files += 1
                self._bytes += draft.size
            batching.add(chunk.digest, "" if isinstance(draft, str) else draft, tokens)

    def _cached(self, digests: list[bytes]) -> set[bytes]:
        if self._embedder is None or not self._embedder.worth_caching:
            return set()
        try:
            return self._cache.known(self._embedder.identity, digests)
        except StoreError:
            return set()

    def _meanwhile(self) -> str:
        """What a search can do until the vectors are there."""
        space = self._store.current_space() if self._store else None
        if self._embedder is None:
            return "searches are by keyword alone"
        answering = {space_identity(other.identity): other for other in self._others}
        if space and space.identity == space_identity(self._embedder.identity):
            if not self._sent:
                return "searches go on as before"
            return "searches go on as before; new passages are found by keyword until they have vectors"
        if space and space.identity in answering:
            return f"{answering[space.identity].model} answers until the vectors are there"
        if not self._sent:
            return "searches are by keyword until the pass has ended"
        if self._standing_in is not None:
            return f"{self._standing_in.model} answers until the vectors are there"
        return "searches are by keyword alone until the vectors are there"


def _batches(batching: Batching) -> int:
    count = 0
    while batching.take():
        count += 1
    return count
