"""One pass over the tree: read and chunk what changed, then embed what has no vector.

Text comes first and needs no provider; vectors follow in batches. Every batch is one short transaction,
with no network call inside, so a pass that is killed loses at most the batch at hand and the next one goes
on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo

from ..embed.cache import EmbeddingCache
from ..errors import StoreError
from ..events import Observer
from ..tombstones.match import NOTHING, Tombstones
from ..values import Source, SyncReport, TreeScan
from ..workspace import is_readable
from .changeover import Changeover, Filled
from .fill import FillCount
from .growth import ANY_GROWTH
from .plan import SyncPlan, plan_sync
from .reader import FILES_NAMED, NoteReader
from .sources import SessionSource, remembered, within_bytes
from .store import (
    FileChange,
    Generation,
    IndexedFile,
    MoveFile,
    RemoveFile,
    ReplaceFile,
    ReplaceLines,
    Store,
)
from .sync import VANISHED, Chunking, Effort
from .transcripts import TranscriptReader, changes_of

_CHUNKS_A_TRANSACTION = 512
_FIRST_CHUNKS = 32
"""The first transactions are smaller: a search of a fresh index is answered from them."""
_FILES_A_TRANSACTION = 256
"""Files whose text turns out to be the same bring no chunks, and are to be kept as the pass goes on too."""


class IndexUpdate:
    """The work of one pass. The caller holds the writer's lock."""

    def __init__(
        self,
        store: Store,
        *,
        cache: EmbeddingCache,
        chunking: Chunking,
        observer: Observer,
        changeover: Changeover | None,
        sessions: SessionSource | None = None,
        zone: tzinfo | None = None,
        forgotten: Tombstones = NOTHING,
    ) -> None:
        """`changeover` makes the vectors; None leaves them alone.

        `sessions` is there when transcripts are a source; `zone` says on which day something was said.
        """
        self._store = store
        self._cache = cache
        self._chunking = chunking
        self._observer = observer
        self._changeover = changeover
        self._sessions = sessions
        self._zone = zone
        self._forgotten = forgotten
        self._warnings: list[str] = []

    def run(self, scan: TreeScan, reason: str, effort: Effort) -> SyncReport:
        """Make the index say what the tree says; gives what was done."""
        generation = self._store.target_generation(self._chunking.layout, anew=effort.force)
        indexed = self._store.indexed_files(generation)
        growth = self._sessions.growth(effort.stem) if self._sessions else ANY_GROWTH
        scan = remembered(scan, self._forgotten, indexed)
        plan = plan_sync(scan, indexed, is_readable=is_readable, has_grown=growth)
        left = 0
        if effort.most_said is not None:
            plan, left = within_bytes(plan, indexed, effort.most_said)
        if left:
            many, them = (f"{left} transcripts are", "them") if left > 1 else ("1 transcript is", "it")
            self._warnings.append(f"{many} not indexed yet; memlane index reads {them}")
        removed = self._remove(generation, plan)
        if any(isinstance(change, MoveFile) for change in plan.refresh):
            indexed = self._store.indexed_files(generation)
        reader, said = self._read(generation, plan, indexed)
        filled = self._embed(generation, effort)
        fill, pause = filled.count, self._changeover and self._changeover.pause()
        return SyncReport(
            reason,
            indexed=reader.indexed + len(said.indexed),
            unchanged=plan.unchanged + reader.refreshed,
            removed=len(removed),
            failed=(*plan.failed, *reader.failed, *said.failed, *scan.failed),
            skipped_links=scan.skipped_links,
            skipped=scan.skipped,
            chunks=reader.chunks + said.chunks,
            embedded=fill.embedded,
            from_cache=fill.from_cache,
            without_vector=fill.without_vector,
            from_batches=fill.from_batches,
            files_read=reader.files_read + len(said.indexed),
            warning="; ".join(self._warnings) or None,
            complete=not (filled.failure or left),
            fallback=filled.fallback,
            retry_at=pause.retry_at if pause else None,
            changed=(*reader.named, *said.indexed, *(gone.path for gone in removed))[:FILES_NAMED],
        )

    def _remove(self, generation: Generation, plan: SyncPlan) -> tuple[RemoveFile, ...]:
        """Drop what is gone, and note what changed only in its attributes. Gives the files that went."""
        removed = plan.remove
        if plan.doubt and self._store.note(VANISHED) != plan.doubt:
            self._store.put_note(VANISHED, plan.doubt)
            self._warnings.append(
                f"{len(removed)} indexed files have vanished at once; they are kept in the index until"
                " the next pass finds them gone too (memlane index --force removes them now)"
            )
            removed = ()
        elif not plan.doubt and self._store.note(VANISHED):
            self._store.put_note(VANISHED, "")
        changes: list[FileChange] = [*removed, *plan.refresh]
        said = [gone for gone in removed if gone.source == "sessions"]
        digests = self._store.digests_of(generation, said) if said else []
        if changes:
            self._store.apply(generation, changes)
        if digests:
            self._discard(digests)
        return removed

    def _discard(self, digests: list[bytes]) -> None:
        """Have the cache forget texts that were said in sessions which are gone."""
        try:
            self._cache.discard(digests)
        except StoreError as error:
            self._warnings.append(str(error))

    def _read(
        self, generation: Generation, plan: SyncPlan, indexed: Mapping[tuple[Source, str], IndexedFile]
    ) -> tuple[NoteReader, TranscriptReader]:
        """Read, chunk and store what is new or changed, a few hundred chunks a transaction."""
        reader = NoteReader(self._chunking, indexed, self._forgotten)
        said = TranscriptReader(
            self._chunking,
            secrets=self._sessions.secrets if self._sessions else tuple,
            zone=self._zone,
            observer=self._observer,
            forgotten=self._forgotten,
        )
        batch: list[FileChange] = []
        chunks, limit = 0, _FIRST_CHUNKS
        total = len(plan.read)
        for done, change in changes_of(plan, reader, said, indexed):
            batch.append(change)
            chunks += len(change.chunks) if isinstance(change, ReplaceFile | ReplaceLines) else 0
            if chunks >= limit or len(batch) >= _FILES_A_TRANSACTION:
                self._store.apply(generation, batch)
                batch, chunks, limit = [], 0, min(2 * limit, _CHUNKS_A_TRANSACTION)
                self._observer.progress("index", done, total)
        if batch:
            self._store.apply(generation, batch)
        if total:
            self._observer.progress("index", total, total)
        return reader, said

    def _embed(self, generation: Generation, effort: Effort) -> Filled:
        """Give every chunk its vector, then let what is complete answer queries."""
        if self._changeover is None:
            self._store.promote(generation, None)
            return Filled(FillCount())
        filled = self._changeover.run(generation, effort)
        if filled.failure:
            self._warnings.append(filled.failure)
        if filled.fallback:
            self._warnings.append(
                f"{filled.fallback.reason}; {self._changeover.substitute_name} answers instead"
            )
        try:
            self._cache.trim(self._store.digests)
        except StoreError as error:
            self._warnings.append(str(error))
        return filled
