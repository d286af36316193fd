"""The file of an index, which mends itself: what is in it can be made again from the notes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..disk import move_aside, writer_lock
from ..errors import MemlaneError, StoreCorrupt, StoreError
from ..events import Observer
from ..index.database import ForeignDatabase, NewerDatabase
from ..index.sqlite import SqliteStore
from .settings import IndexSettings

_Answer = TypeVar("_Answer")
_REPAIRS = 3
"""How often one call mends a damaged index before it gives up."""
_PATIENCE = 30.0


class IndexFile:
    """Opened at first use; thread-safe. A damaged file is set aside, one of another program is left alone."""

    def __init__(
        self,
        settings: IndexSettings,
        *,
        check_sources: Callable[[], object],
        rebuild: Callable[[SqliteStore], object],
        observer: Observer,
    ) -> None:
        """`check_sources` raises where there is nothing to make an index from; `rebuild` fills a new one."""
        self._settings = settings
        self._check_sources = check_sources
        self._rebuild = rebuild
        self._observer = observer
        self._guard = threading.RLock()
        self._opened: SqliteStore | None = None

    def use(self, work: Callable[[SqliteStore], _Answer]) -> _Answer:
        """Do the work; if the index turns out to be damaged, build a new one and do it again.

        Damage may show in other ways than SQLite's own complaint: a page in the wrong place gives values
        that nobody expects. What cannot be explained otherwise is looked into. Raises StoreCorrupt when even
        a new one is found damaged time and again.
        """
        for attempt in range(_REPAIRS + 1):
            store = None
            try:
                store = self.store()
                if attempt:
                    self._rebuild(store)
                return work(store)
            except StoreCorrupt as damage:
                if attempt == _REPAIRS:
                    raise
                self._replace(damage, store)
            except Exception as error:
                found = None if attempt == _REPAIRS else _damage_behind(error, store)
                if found is None:
                    raise
                self._replace(found, store)
        raise AssertionError("the last attempt returns or raises")

    def store(self) -> SqliteStore:
        """What is in the file; one is made where there is none."""
        with self._guard:
            if self._opened is None:
                path = self._settings.store_path
                if not path.exists():
                    self._check_sources()
                try:
                    self._opened = self._open(path)
                except ForeignDatabase as foreign:
                    beside = self._settings.displaced_path
                    self._observer.warning(f"{foreign}; the index is kept in {beside.name} beside it")
                    self._opened = self._open(beside)
                if self._opened.vector_problem:
                    self._observer.warning(self._opened.vector_problem)
            return self._opened

    def make_room(self) -> None:
        """Set aside what a newer version left at the path: somebody asked for an index of this version."""
        try:
            self.store()
        except NewerDatabase as newer:
            with writer_lock(newer.path, timeout=_PATIENCE):
                aside = move_aside(newer.path)
            self._observer.warning(f"{newer}; it was moved to {aside.name}")
        except StoreCorrupt:
            return  # mended by what follows

    def try_to_write(self) -> None:
        """Open it again where it could only be read: what kept it from being written may be over."""
        with self._guard:
            if self._opened is not None and self._opened.read_only:
                self.close()

    def close(self) -> None:
        """Close it; the next use opens it again."""
        with self._guard:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _open(self, path: Path) -> SqliteStore:
        return SqliteStore(
            path,
            vector_extension=self._settings.vector_extension,
            extension_path=self._settings.extension_path,
        )

    def _replace(self, damage: StoreCorrupt, failing: SqliteStore | None) -> None:
        """Set a damaged file aside and begin a new one, unless that has been done already.

        Another thread may have opened a new store meanwhile, another process may have put a new file at
        the path; either is left alone.
        """
        with self._guard:
            if self._opened is not failing:
                return
            self.close()
            with writer_lock(damage.path, timeout=_PATIENCE):
                if not damage.inode or _inode_at(damage.path) != damage.inode:
                    return
                aside = move_aside(damage.path)
                self.store()
        self._observer.warning(f"{damage}; it was moved to {aside.name} and is built again from the notes")


def _damage_behind(error: Exception, store: SqliteStore | None) -> StoreCorrupt | None:
    """The damage that may have caused a failure which says nothing of it; None when the index is whole."""
    explained = isinstance(error, MemlaneError) and type(error) is not StoreError
    if explained or store is None or store.read_only:
        return None
    try:
        store.verify()
    except StoreCorrupt as damage:
        return damage
    except StoreError:
        return None
    return None


def _inode_at(path: Path) -> int:
    """Which file stands at a path; 0 for none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0
