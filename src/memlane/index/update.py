"""One pass over the tree: read and chunk what changed, then embed what has no vector.

Text comes first and needs no provider; vectors follow in batches. Every batch is one short transaction,
with no network call inside, so a pass that is killed loses at most the batch at hand and the next one goes
on from there.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..embed.cache import EmbeddingCache
from ..errors import StoreError
from ..events import Observer
from ..values import Source, SyncReport, TreeScan
from ..workspace import is_readable
from .changeover import Changeover, Filled
from .fill import FillCount
from .plan import SyncPlan, plan_sync
from .reader import FILES_NAMED, NoteReader
from .store import FileChange, Generation, IndexedFile, RemoveFile, ReplaceFile, Store
from .sync import VANISHED, Chunking

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
    ) -> None:
        """`changeover` makes the vectors; None leaves them alone."""
        self._store = store
        self._cache = cache
        self._chunking = chunking
        self._observer = observer
        self._changeover = changeover
        self._warnings: list[str] = []

    def run(self, scan: TreeScan, reason: str, *, force: bool, brief: bool = False) -> SyncReport:
        """Make the index say what the tree says; gives what was done.

        `brief` leaves the vectors that take long to a later pass.
        """
        generation = self._store.target_generation(self._chunking.layout, anew=force)
        indexed = self._store.indexed_files(generation)
        plan = plan_sync(scan, indexed, is_readable=is_readable)
        removed = self._remove(generation, plan)
        reader = self._read(generation, plan, indexed)
        filled = self._embed(generation, force=force, brief=brief)
        fill, pause = filled.count, self._changeover and self._changeover.pause()
        return SyncReport(
            reason,
            indexed=reader.indexed,
            unchanged=plan.unchanged + reader.refreshed,
            removed=len(removed),
            failed=(*plan.failed, *reader.failed, *scan.failed),
            skipped_links=scan.skipped_links,
            skipped=scan.skipped,
            chunks=reader.chunks,
            embedded=fill.embedded,
            from_cache=fill.from_cache,
            without_vector=fill.without_vector,
            from_batches=fill.from_batches,
            files_read=reader.files_read,
            warning="; ".join(self._warnings) or None,
            complete=not filled.failure,
            fallback=filled.fallback,
            retry_at=pause.retry_at if pause else None,
            changed=(*reader.named, *(gone.path for gone in removed))[:FILES_NAMED],
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
        if changes:
            self._store.apply(generation, changes)
        return removed

    def _read(
        self, generation: Generation, plan: SyncPlan, indexed: Mapping[tuple[Source, str], IndexedFile]
    ) -> NoteReader:
        """Read, chunk and store what is new or changed, a few hundred chunks a transaction."""
        reader = NoteReader(self._chunking, indexed)
        batch: list[FileChange] = []
        chunks, limit = 0, _FIRST_CHUNKS
        total = len(plan.read)
        for done, change in enumerate(reader.changes(plan.read), start=1):
            batch.append(change)
            chunks += len(change.chunks) if isinstance(change, ReplaceFile) else 0
            if chunks >= limit or len(batch) >= _FILES_A_TRANSACTION:
                self._store.apply(generation, batch)
                batch, chunks, limit = [], 0, min(2 * limit, _CHUNKS_A_TRANSACTION)
                self._observer.progress("index", done, total)
        if batch:
            self._store.apply(generation, batch)
        if total:
            self._observer.progress("index", total, total)
        return reader

    def _embed(self, generation: Generation, *, force: bool, brief: bool) -> Filled:
        """Give every chunk its vector, then let what is complete answer queries.

        `force` takes none over from the index itself, and asks a provider that is to be left alone.
        """
        if self._changeover is None:
            self._store.promote(generation, None)
            return Filled(FillCount())
        filled = self._changeover.run(generation, trusting=not force, brief=brief, insisting=force)
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
