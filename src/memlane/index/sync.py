"""One pass over the tree: plan, read and chunk what changed, then embed what has no vector.

Text comes first and needs no provider; vectors follow in batches. Every batch is one short transaction,
with no network call inside, so a pass that is killed loses at most the batch at hand and the next one goes
on from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import perf_counter, sleep

from msgspec import Struct, field
from msgspec.structs import replace

from ..clock import Clock
from ..disk import wait_past, writer_lock
from ..embed.base import Embedder
from ..embed.cache import EmbeddingCache
from ..errors import StoreBusy, StoreError
from ..events import Observer
from ..markdown import chunk_document
from ..values import FileEntry, FileFailure, Source, SyncReport, TreeScan, Value
from ..workspace import UnreadableNote, Workspace, read_document, scan_tree
from .analyze import analyze
from .fill import FillCount, SpaceFill
from .identity import layout_identity, space_identity, text_digest
from .plan import SyncPlan, plan_sync
from .sqlite import SqliteStore
from .store import FailFile, FileChange, Generation, IndexedChunk, IndexedFile, RefreshFile, ReplaceFile

LAST_PASS = "last_pass"  # noqa: S105 - not a password
"""The note that holds the time of the last pass that wrote something."""
_VANISHED = "vanished"
_CHUNKS_A_TRANSACTION = 512
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each new attempt at a file that keeps changing while it is read."""
_HEADING_TOKENS = 64
"""What a heading path may add to a chunk when it is embedded."""


class Chunking(Value, frozen=True):
    """How texts are cut: `memorySearch.chunking`."""

    tokens: int = 400
    overlap: int = 80


class _Tally(Struct):
    """What a pass has done so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    files_read: int = 0
    failed: list[FileFailure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    fill: FillCount = field(default_factory=FillCount)


class Synchronizer:
    """Keeps one store in step with one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        store: SqliteStore,
        *,
        embedder: Embedder | None,
        cache: EmbeddingCache,
        chunking: Chunking,
        observer: Observer,
        clock: Clock,
    ) -> None:
        """`embedder` None leaves vectors alone: keyword search needs none."""
        self._workspace = workspace
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._chunking = _within_limit(chunking, embedder)
        self._observer = observer
        self._clock = clock
        self._layout = layout_identity(
            chunk_tokens=self._chunking.tokens, chunk_overlap=self._chunking.overlap
        )

    def pending(self) -> tuple[TreeScan, SyncPlan]:
        """What a pass would do now, without doing it."""
        scan = scan_tree(self._workspace)
        generation = self._store.current_generation()
        indexed = self._store.indexed_files(generation) if generation else {}
        return scan, plan_sync(scan, indexed, force=generation is None or generation.layout != self._layout)

    def run(self, reason: str, *, force: bool = False, wait: float = 30.0) -> SyncReport:
        """Bring the index up to date with the tree.

        `force` reads and stores every file again. `wait` is how long, in seconds, to wait for another
        process that is writing; after that the report says so (`complete` is False) and nothing is done.
        Raises WorkspaceError when the workspace is not there, StoreError when the index cannot be written.
        """
        started = perf_counter()
        scan, plan = self.pending()
        if not force and plan.empty and self._vectors_complete():
            tally = _Tally(unchanged=plan.unchanged, failed=list(plan.failed))
            return self._report(reason, scan, tally, started)
        try:
            with writer_lock(self._store.path, timeout=wait):
                tally = self._write(force=force)
        except StoreBusy as busy:
            tally = _Tally(unchanged=plan.unchanged, failed=list(plan.failed), warnings=[str(busy)])
            return self._report(reason, scan, tally, started, complete=False)
        return self._report(reason, scan, tally, started, complete=not tally.fill.failure)

    def _vectors_complete(self) -> bool:
        if self._embedder is None:
            return True
        space = self._store.current_space()
        return bool(space and space.complete and space.identity == space_identity(self._embedder.identity))

    def _write(self, *, force: bool) -> _Tally:
        """The pass itself, under the writer's lock. The tree is looked at again: others may have written."""
        scan = scan_tree(self._workspace)
        generation = self._store.target_generation(self._layout)
        indexed = self._store.indexed_files(generation)
        plan = plan_sync(scan, indexed, force=force)
        tally = _Tally(unchanged=plan.unchanged, failed=list(plan.failed))
        try:
            self._remove(generation, plan, tally)
            self._read(generation, plan, {} if force else indexed, tally)
            self._embed(generation, tally)
            self._store.put_note(LAST_PASS, self._clock.now().isoformat(timespec="seconds"))
        finally:
            self._settle()
        return tally

    def _settle(self) -> None:
        try:
            self._store.settle()
            self._cache.trim()
        except StoreError as error:
            self._observer.warning(str(error))

    def _remove(self, generation: Generation, plan: SyncPlan, tally: _Tally) -> None:
        if plan.doubt and self._store.note(_VANISHED) != plan.doubt:
            self._store.put_note(_VANISHED, plan.doubt)
            tally.warnings.append(
                f"{len(plan.remove)} indexed files have vanished at once; they are kept in the index until"
                " the next pass finds them gone too (memlane index --force removes them now)"
            )
            return
        if plan.remove or plan.refresh:
            self._store.apply(generation, [*plan.remove, *plan.refresh])
        tally.removed = len(plan.remove)

    def _read(
        self,
        generation: Generation,
        plan: SyncPlan,
        indexed: dict[tuple[Source, str], IndexedFile],
        tally: _Tally,
    ) -> None:
        reader = _FileReader(self._chunking, indexed, tally)
        batch: list[FileChange] = []
        chunks = 0
        total = len(plan.read)
        for done, change in enumerate(reader.changes(plan.read), start=1):
            batch.append(change)
            chunks += len(change.chunks) if isinstance(change, ReplaceFile) else 0
            if chunks >= _CHUNKS_A_TRANSACTION:
                self._store.apply(generation, batch)
                batch, chunks = [], 0
                self._observer.progress("index", min(done, total), total)
        if batch:
            self._store.apply(generation, batch)
        if total:
            self._observer.progress("index", total, total)

    def _embed(self, generation: Generation, tally: _Tally) -> None:
        if self._embedder is None:
            self._store.promote(generation, None)
            return
        space = self._store.target_space(generation, space_identity(self._embedder.identity))
        tally.fill = SpaceFill(self._store, space, self._embedder, self._cache, self._observer).run()
        if tally.fill.failure:
            tally.warnings.append(tally.fill.failure)
        self._store.promote(generation, None if tally.fill.failure else space)

    def _report(
        self, reason: str, scan: TreeScan, tally: _Tally, started: float, *, complete: bool = True
    ) -> SyncReport:
        unlistable = [FileFailure(skipped.path, skipped.reason) for skipped in scan.failed]
        for warning in tally.warnings:
            self._observer.warning(warning)
        return SyncReport(
            reason=reason,
            indexed=tally.indexed,
            unchanged=tally.unchanged,
            removed=tally.removed,
            failed=(*tally.failed, *unlistable),
            skipped_links=scan.skipped_links,
            chunks=tally.chunks,
            embedded=tally.fill.embedded,
            from_cache=tally.fill.from_cache,
            without_vector=tally.fill.without_vector,
            seconds=perf_counter() - started,
            files_read=tally.files_read,
            warning="; ".join(tally.warnings) or None,
            complete=complete,
        )


class _FileReader:
    """Turns files into changes. One bad file is recorded and never stops the others."""

    def __init__(
        self, chunking: Chunking, indexed: dict[tuple[Source, str], IndexedFile], tally: _Tally
    ) -> None:
        self._chunking = chunking
        self._indexed = indexed
        self._tally = tally

    def changes(self, entries: Iterable[FileEntry]) -> Iterable[FileChange]:
        """The change each file asks for; files that changed while they were read come last."""
        restless: list[FileEntry] = []
        for entry in entries:
            change = self._change(entry)
            if change is not None and (isinstance(change, FailFile) or _restat(entry) == entry):
                yield self._counted(change)
            else:
                restless.append(entry)
        for entry in restless:
            yield from self._persist(entry)

    def _persist(self, entry: FileEntry) -> Iterable[FileChange]:
        """Read a file that keeps changing until it rests, or at last as it is then.

        In that case its time stamp is stored as unknown, so that the next pass reads it again.
        """
        change = None
        for pause in _PAUSES:
            sleep(pause)
            fresh = _restat(entry)
            if fresh is None:
                return  # gone: the next plan removes it
            change = self._change(fresh)
            if change is not None and _restat(fresh) == fresh:
                yield self._counted(change)
                return
        if change is not None:
            yield self._counted(replace(change, entry=replace(change.entry, mtime_ns=0)))

    def _change(self, entry: FileEntry) -> ReplaceFile | RefreshFile | FailFile | None:
        """None when the file is no longer there."""
        wait_past(entry.mtime_ns)
        self._tally.files_read += 1
        try:
            document = read_document(entry.location)
        except UnreadableNote as error:
            if _restat(entry) is None:
                return None
            # Permissions may change without a time stamp: such a file is tried again in every pass.
            retried = isinstance(error.__cause__, OSError)
            return FailFile(replace(entry, mtime_ns=0) if retried else entry, error.reason)
        known = self._indexed.get((entry.source, entry.path))
        if known and known.digest == document.digest and not known.failure:
            return RefreshFile(entry, document.digest)
        return ReplaceFile(entry, document.digest, tuple(_indexed_chunks(document.text, self._chunking)))

    def _counted(self, change: ReplaceFile | RefreshFile | FailFile) -> FileChange:
        match change:
            case ReplaceFile(_, _, chunks):
                self._tally.indexed += 1
                self._tally.chunks += len(chunks)
            case RefreshFile():
                self._tally.unchanged += 1
            case FailFile(entry, reason):
                self._tally.failed.append(FileFailure(entry.path, reason))
        return change


def _restat(entry: FileEntry) -> FileEntry | None:
    """The entry as the file is on disk now; None when it is gone."""
    try:
        found = os.lstat(entry.location)
    except OSError:
        return None
    return replace(
        entry, size=found.st_size, mtime_ns=found.st_mtime_ns, inode=found.st_ino, device=found.st_dev
    )


def _indexed_chunks(text: str, chunking: Chunking) -> Iterable[IndexedChunk]:
    for chunk in chunk_document(text, tokens=chunking.tokens, overlap=chunking.overlap):
        yield IndexedChunk(
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            text=chunk.text,
            heading=chunk.heading,
            digest=text_digest(chunk.embedding_text),
            heading_terms=" ".join(analyze(chunk.heading)),
            body_terms=" ".join(analyze(chunk.text)),
        )


def _within_limit(chunking: Chunking, embedder: Embedder | None) -> Chunking:
    """Chunks no longer than the model takes, whatever is configured."""
    if embedder is None or chunking.tokens + _HEADING_TOKENS <= embedder.max_input_tokens:
        return chunking
    tokens = max(32, embedder.max_input_tokens - _HEADING_TOKENS)
    return Chunking(tokens, min(chunking.overlap, tokens // 5))
