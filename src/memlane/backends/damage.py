"""Whether a failure is the index file's fault."""

from __future__ import annotations

from pathlib import Path

from ..errors import MemlaneError, StoreCorrupt, StoreError
from ..index.sqlite import SqliteStore


def damage_behind(error: Exception, store: SqliteStore | None) -> StoreCorrupt | None:
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


def inode_of(path: Path) -> int:
    """Which file stands at a path; 0 for none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0
