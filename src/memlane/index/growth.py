"""Transcripts between two passes: grown, renamed by an archive, or replaced. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from ..transcripts.marks import is_of_this_version
from ..transcripts.names import transcript_name
from ..values import FileEntry, Source
from .store import IndexedFile, MoveFile

Growth = Callable[[FileEntry, IndexedFile], bool]
ANY_GROWTH: Growth = lambda _entry, _known: True  # noqa: E731 - a value among others of its type
_Indexed = Mapping[tuple[Source, str], IndexedFile]


def gone_or_moved(files: Iterable[FileEntry], indexed: _Indexed) -> tuple[list[MoveFile], _Indexed]:
    """The transcripts that have another name now, and what is indexed under the names of now.

    A transcript is followed by its session and by its place on disk, or, where it was copied, by its size and
    time. What another file has taken the name of is followed too.
    """
    present = {entry.path: entry for entry in files if entry.source == "sessions"}
    arrived = [entry for path, entry in present.items() if ("sessions", path) not in indexed]
    if not arrived:
        return [], indexed
    left: dict[str, list[IndexedFile]] = {}
    for (source, path), known in indexed.items():
        if source == "sessions" and not (path in present and _is_same_file(present[path], known)):
            left.setdefault(_stem(path), []).append(known)
    moves: list[MoveFile] = []
    moved = dict(indexed)
    for entry in arrived:
        candidates = left.get(_stem(entry.path), [])
        found = next((one for one in candidates if _is_continued(entry, one)), None)
        if found is not None:
            candidates.remove(found)
            moves.append(MoveFile(found.path, entry))
            del moved["sessions", found.path]
            moved["sessions", entry.path] = replace(found, path=entry.path, location=entry.location)
    return moves, moved


def has_more(entry: FileEntry, known: IndexedFile, has_grown: Growth) -> bool:
    """Whether a transcript that is not as it was is worth reading now.

    What is finished is read to its end, and what was not read whole is gone on with, however little that is;
    so is what is no mere growth.
    """
    named = transcript_name(entry.path.rpartition("/")[2])
    unfinished = not known.mtime_ns or bool(known.failure) or not is_of_this_version(known.digest)
    grown = _is_same_file(entry, known) and entry.size > known.size
    if unfinished or not grown or (named is not None and named.archive):
        return True
    return has_grown(entry, known)


def _stem(path: str) -> str:
    named = transcript_name(path.rpartition("/")[2])
    return named.stem if named else path


def _is_same_file(entry: FileEntry, known: IndexedFile) -> bool:
    return (entry.device, entry.inode) == (known.device, known.inode)


def _is_continued(entry: FileEntry, known: IndexedFile) -> bool:
    if (entry.size, entry.mtime_ns) == (known.size, known.mtime_ns):
        return True
    return bool(entry.inode) and _is_same_file(entry, known) and entry.size > known.size
