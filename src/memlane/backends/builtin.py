"""The built-in backend: one SQLite index in step with one workspace.

The index is derived data. A damaged one is moved aside and built again from the notes, and the call that
found it damaged is answered; a file that is not ours is left alone and the index goes beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec import field
from msgspec.structs import replace

from ..clock import Clock
from ..disk import lock_owner, move_aside, writer_lock
from ..embed.base import CheckedEmbedder, NoVector
from ..embed.cache import EmbeddingCache, NoCache
from ..embed.select import Choice
from ..errors import EmbeddingError, StoreCorrupt
from ..events import Observer
from ..index.database import ForeignDatabase
from ..index.sqlite import SqliteStore
from ..index.sync import LAST_PASS, Chunking, Synchronizer
from ..search.pipeline import Search
from ..search.settings import SearchRequest, SearchSettings
from ..values import Filters, Readiness, SearchResult, Status, SyncReport, Value
from ..workspace import Workspace, oversized_notes, scan_tree

_Answer = TypeVar("_Answer")
_REPAIRS = 3
"""How often one call mends a damaged index before it gives up."""


class IndexSettings(Value, frozen=True):
    """Where the index is kept and how it is made."""

    agent: str
    store_path: Path
    vector_extension: bool = True
    extension_path: Path | None = None
    chunking: Chunking = field(default_factory=Chunking)
    cache_enabled: bool = True
    cache_entries: int = 50_000

    @property
    def cache_path(self) -> Path:
        """The embedding cache beside the index: `<name>.embeddings.sqlite`."""
        return self.store_path.with_name(f"{self.store_path.stem}.embeddings.sqlite")


class BuiltinBackend:
    """The built-in index of one agent. Opened at first use; thread-safe."""

    def __init__(
        self,
        workspace: Workspace,
        settings: IndexSettings,
        search_settings: SearchSettings,
        *,
        choose: Callable[[], Choice],
        observer: Observer,
        clock: Clock,
    ) -> None:
        """`choose` picks the embedding provider; it is called once, when one is first needed."""
        self._workspace = workspace
        self._settings = settings
        self._search_settings = search_settings
        self._choose = choose
        self._observer = observer
        self._clock = clock
        self._opening = threading.RLock()
        self._opened: SqliteStore | None = None
        self._chosen: Choice | None = None
        self._kept_embeddings: EmbeddingCache | None = None

    def search(self, request: SearchRequest, filters: Filters) -> SearchResult:
        """The ranked answer to a request. An empty one says why."""

        def answer(store: SqliteStore) -> SearchResult:
            search = Search(store, self._embedder, self._search_settings, self._clock)
            result = search.run(request, filters)
            if self._choice.failure and not result.warning:
                return replace(result, warning=self._choice.failure)
            return result

        return self._recovering(answer)

    def sync(self, reason: str, *, force: bool = False, wait: float = 30.0) -> SyncReport:
        """Bring the index up to date with the notes."""
        with self._opening:
            if self._opened is not None and self._opened.read_only:
                self._opened.close()  # what kept it from being written may be over
                self._opened = None
        return self._recovering(lambda store: self._synchronizer(store).run(reason, force=force, wait=wait))

    def readiness(self) -> Readiness:
        """How much of the notes the index can answer from."""

        def look(store: SqliteStore) -> Readiness:
            generation = store.current_generation()
            if generation is None:
                return "empty"
            if generation.complete:
                return "complete"
            return "partial" if store.statistics().chunks else "empty"

        return self._recovering(look)

    def status(self, *, deep: bool = False) -> Status:
        """What is indexed, from where, how fresh, and by which provider."""
        return self._recovering(lambda store: self._status(store, deep=deep))

    def close(self) -> None:
        """Close the index and the cache, and let go of the model."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None
            if self._kept_embeddings is not None:
                self._kept_embeddings.close()
            self._chosen = self._kept_embeddings = None

    @property
    def _choice(self) -> Choice:
        with self._opening:
            if self._chosen is None:
                self._chosen = self._choose()
                if self._chosen.failure:
                    self._observer.warning(self._chosen.failure)
            return self._chosen

    @property
    def _embedder(self) -> CheckedEmbedder | None:
        return self._choice.embedder

    @property
    def _cache(self) -> EmbeddingCache:
        embedder = self._embedder
        with self._opening:
            if self._kept_embeddings is None:
                if embedder is None or not embedder.worth_caching or not self._settings.cache_enabled:
                    self._kept_embeddings = NoCache()
                else:
                    from ..embed.sqlite_cache import SqliteCache

                    self._kept_embeddings = SqliteCache(
                        self._settings.cache_path, max_entries=self._settings.cache_entries
                    )
            return self._kept_embeddings

    def _synchronizer(self, store: SqliteStore) -> Synchronizer:
        return Synchronizer(
            self._workspace,
            store,
            embedder=self._embedder,
            cache=self._cache,
            chunking=self._settings.chunking,
            observer=self._observer,
            clock=self._clock,
        )

    def _recovering(self, work: Callable[[SqliteStore], _Answer]) -> _Answer:
        """Do the work; if the index turns out to be damaged, build a new one and do it again.

        Raises StoreCorrupt when even a new one is found damaged time and again.
        """
        for attempt in range(_REPAIRS + 1):
            store = None
            try:
                store = self._store()
                if attempt:
                    self._synchronizer(store).run("repair")
                return work(store)
            except StoreCorrupt as damage:
                if attempt == _REPAIRS:
                    raise
                self._replace_damaged(damage, store)
        raise AssertionError("the last attempt returns or raises")

    def _replace_damaged(self, damage: StoreCorrupt, failing: SqliteStore | None) -> None:
        """Set a damaged file aside and begin a new one, unless that has been done already.

        Another thread may have opened a new store meanwhile, another process may have put a new file at
        the path; either is left alone.
        """
        with self._opening:
            if self._opened is not failing:
                return
            if failing is not None:
                failing.close()
                self._opened = None
            with writer_lock(damage.path, timeout=30.0):
                if not damage.inode or _inode(damage.path) != damage.inode:
                    return
                aside = move_aside(damage.path)
                self._store()
        self._observer.warning(f"{damage}; it was moved to {aside.name} and is built again from the notes")

    def _store(self) -> SqliteStore:
        with self._opening:
            if self._opened is None:
                path = self._settings.store_path
                if not path.exists():
                    scan_tree(self._workspace)  # no index is begun for a workspace that is not there
                try:
                    self._opened = self._open(path)
                except ForeignDatabase as foreign:
                    beside = path.with_name(f"{path.stem}.memlane.sqlite")
                    self._observer.warning(f"{foreign}; the index is kept in {beside.name} beside it")
                    self._opened = self._open(beside)
                if self._opened.vector_problem:
                    self._observer.warning(self._opened.vector_problem)
            return self._opened

    def _open(self, path: Path) -> SqliteStore:
        return SqliteStore(
            path,
            vector_extension=self._settings.vector_extension,
            extension_path=self._settings.extension_path,
        )

    def _status(self, store: SqliteStore, *, deep: bool) -> Status:
        scan, plan = self._synchronizer(store).pending()
        generation, space = store.current_generation(), store.current_space()
        entries, size = self._cache.size()
        pending = len(plan.read) + len(plan.remove) + len(plan.refresh)
        embedder = self._embedder
        statistics = store.statistics()
        return Status(
            agent=self._settings.agent,
            enabled=True,
            workspace=str(self._workspace.root),
            store_path=str(store.path),
            backend="builtin",
            provider=embedder.id if embedder else "none",
            model=embedder.model if embedder else None,
            dimensions=space.dimensions if space else None,
            provider_reasons=self._choice.reasons,
            vector_engine=store.vector_engine,
            statistics=replace(statistics, failed=(*statistics.failed, *scan.failed)),
            generation=generation.id if generation else None,
            last_sync=store.note(LAST_PASS),
            dirty=bool(pending),
            pending=pending,
            cache_entries=entries,
            cache_bytes=size,
            skipped_links=scan.skipped_links,
            missing_roots=scan.missing_roots,
            writer=str(owner) if (owner := lock_owner(store.path)) else None,
            warnings=(*oversized_notes(self._workspace), *(self._probe() if deep else ())),
        )

    def _probe(self) -> tuple[str, ...]:
        """What is wrong with the provider, found by using it."""
        embedder = self._embedder
        if embedder is None:
            return (self._choice.failure,) if self._choice.failure else ()
        try:
            embedder.verify()
            vector = embedder.embed_query("memory")
        except EmbeddingError as error:
            return (f"embedding failed: {error}",)
        return (f"embedding failed: {vector.reason}",) if isinstance(vector, NoVector) else ()


def _inode(path: Path) -> int:
    """Which file stands at a path; 0 for none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0
