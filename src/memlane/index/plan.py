"""The difference between the tree and the index, as values. Pure: a dry run is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..values import FileEntry, FileFailure, Source, TreeScan, Value
from .growth import ANY_GROWTH, Growth, gone_or_moved, has_more
from .store import IndexedFile, MoveFile, RefreshFile, RemoveFile

_FEW_FILES = 10
"""Losing up to this many files at once is everyday; losing most of a larger tree is doubted."""


class SyncPlan(Value, frozen=True):
    """What a pass has to do."""

    read: tuple[FileEntry, ...]
    """New files, and files whose size, time or inode changed: only reading them tells more."""
    refresh: tuple[RefreshFile | MoveFile, ...]
    """Files whose text is known to be the same but whose attributes changed."""
    remove: tuple[RemoveFile, ...]
    unchanged: int
    failed: tuple[FileFailure, ...] = ()
    """Files that failed in an earlier pass and have not changed since."""
    doubt: str = ""
    """Set when so much has vanished that a second look is wanted first; identifies what is missing."""

    @property
    def empty(self) -> bool:
        """Nothing to do."""
        return not (self.read or self.refresh or self.remove)


def plan_sync(
    scan: TreeScan,
    indexed: Mapping[tuple[Source, str], IndexedFile],
    *,
    force: bool = False,
    is_readable: Callable[[str], bool] = lambda _location: True,
    has_grown: Growth = ANY_GROWTH,
) -> SyncPlan:
    """Compare a scan with what is indexed. `force` reads every file again.

    `is_readable` is asked of files that could not be read before: permissions change without a time stamp.
    `has_grown` is asked of a transcript to which something was added: whether it is enough for a pass.
    """
    moves, moved = gone_or_moved(scan.files, indexed)
    read: list[FileEntry] = []
    refresh: list[RefreshFile | MoveFile] = list(moves)
    failed: list[FileFailure] = []
    unchanged = 0
    present: set[tuple[Source, str]] = set()
    for entry in scan.files:
        key = (entry.source, entry.path)
        present.add(key)
        known = moved.get(key)
        if not force and known is not None and _is_barred(entry, known) and not is_readable(entry.location):
            failed.append(FileFailure(entry.path, known.failure or ""))
        elif not force and known is not None and known.source == "sessions" and _changed(entry, known):
            if has_more(entry, known, has_grown):
                read.append(entry)
            else:
                unchanged += 1
        elif force or known is None or _changed(entry, known):
            read.append(entry)
        elif _attributes(known) != _attributes_now(entry) and not known.failure:
            refresh.append(RefreshFile(entry, known.digest))
        elif known.failure:
            failed.append(FileFailure(entry.path, known.failure))
        else:
            unchanged += 1
    unseen = tuple(f"{skipped.path}/" for skipped in scan.failed)
    gone = [key for key in moved if key not in present and not key[1].startswith(unseen)]
    return SyncPlan(
        tuple(read),
        tuple(refresh),
        tuple(RemoveFile(path, source) for source, path in gone),
        unchanged,
        tuple(failed),
        "" if force else _doubt([moved[key] for key in gone], moved, scan.absent),
    )


def _is_barred(entry: FileEntry, known: IndexedFile) -> bool:
    """Whether the system would not let the file be read, and it is still the same file (`reader`)."""
    return bool(known.failure) and not known.mtime_ns and entry.inode == known.inode


def _changed(entry: FileEntry, known: IndexedFile) -> bool:
    return (
        entry.size != known.size
        or entry.mtime_ns != known.mtime_ns
        or entry.inode != known.inode
        or entry.device != known.device
        or entry.media != known.media
    )


def _attributes(known: IndexedFile) -> tuple[str, str | None, bool, bool]:
    """What is stored of a file besides its text."""
    return known.location, known.day, bool(known.curated), bool(known.evergreen)


def _attributes_now(entry: FileEntry) -> tuple[str, str | None, bool, bool]:
    return entry.location, entry.day.isoformat() if entry.day else None, entry.curated, entry.evergreen


def _doubt(
    lost: list[IndexedFile], indexed: Mapping[tuple[Source, str], IndexedFile], absent: tuple[str, ...]
) -> str:
    """A digest of what has vanished, when it is a whole root or most of a larger tree.

    An unmounted disk or a folder being moved looks the same as a deletion. The same digest in the next
    pass confirms it. A transcript that is gone is never doubted: whoever deletes one wants it forgotten.
    """
    gone = [file for file in lost if file.source == "memory"]
    count = sum(source == "memory" for source, _ in indexed)
    lost_root = any(_lies_in(file.location, root) for root in absent for file in gone)
    lost_most = len(gone) > _FEW_FILES and 2 * len(gone) > count
    if not (lost_root or lost_most):
        return ""
    from hashlib import sha256  # loads OpenSSL; hardly ever needed

    listing = "\0".join(sorted(f"{file.source}\0{file.path}" for file in gone))
    return sha256(listing.encode("utf-8", "surrogatepass")).hexdigest()


def _lies_in(location: str, root: str) -> bool:
    """Whether a file is the root or lies below it, whichever way its system separates folders."""
    return location == root or (location.startswith(root) and location[len(root)] in "/\\")
