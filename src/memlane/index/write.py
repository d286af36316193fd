"""Changes to files in an open transaction: chunks, full text and vectors stay in step."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ..values import FileEntry, Source
from . import schema
from .database import select, select_value
from .store import (
    FailFile,
    FileChange,
    IndexedChunk,
    MoveFile,
    RefreshFile,
    RemoveFile,
    ReplaceFile,
    ReplaceLines,
)

_KnownVectors = dict[bytes, tuple[bytes | None, str | None]]
"""What is known of a text's vector: the vector, or why it has none."""
_Lines = tuple[int, int]
"""Chunks that begin after the first of these lines and not after the second."""
_WHOLE_FILE: _Lines = (-1, 2**62)
_WITHIN = "start_line > ? AND start_line <= ?"


class FileWriter:
    """Applies file changes to one generation."""

    def __init__(self, connection: apsw.Connection, generation: int) -> None:
        self._connection = connection
        self._generation = generation
        self._terms = schema.terms_table(generation)
        rows = select(connection, "SELECT id FROM spaces WHERE generation = ?", generation)
        self._spaces = [schema.vectors_table(row[0]) for row in rows]

    def apply(self, change: FileChange) -> None:
        """Make one change."""
        match change:
            case ReplaceFile(entry, digest, chunks):
                self._replace(entry, digest, chunks)
            case ReplaceLines():
                self._replace_lines(change)
            case RefreshFile(entry, digest):
                file = self._record(entry, digest, failure=None)
                if entry.media:
                    self._forget_refusals(file)
            case MoveFile(path, entry):
                self._move(path, entry)
            case FailFile(entry, reason):
                file = self._record(entry, "", failure=reason)
                self._delete_chunks(file)
            case RemoveFile(path, source):
                self._remove(path, source)

    def delete_chunks(self, chunks: Sequence[int]) -> None:
        """Remove chunks with all that is derived from them."""
        for chunk in chunks:
            for table in self._spaces:
                self._connection.execute(f"DELETE FROM {table} WHERE chunk = ?", (chunk,))  # noqa: S608
            self._connection.execute(f"DELETE FROM {self._terms} WHERE rowid = ?", (chunk,))  # noqa: S608
            self._connection.execute("DELETE FROM chunks WHERE id = ?", (chunk,))

    def _replace(self, entry: FileEntry, digest: str, chunks: tuple[IndexedChunk, ...]) -> None:
        file = self._record(entry, digest, failure=None)
        self._exchange(file, chunks, _WHOLE_FILE)

    def _replace_lines(self, change: ReplaceLines) -> None:
        file = self._record(change.entry, change.digest, failure=None)
        self._connection.execute(
            "UPDATE files SET offset = ?, lines = ? WHERE id = ?", (change.offset, change.lines, file)
        )
        self._exchange(
            file, change.chunks, (change.after, _WHOLE_FILE[1] if change.until is None else change.until)
        )

    def _exchange(self, file: int, chunks: tuple[IndexedChunk, ...], lines: _Lines) -> None:
        """Store chunks of a file in place of those that begin within some lines."""
        known = {table: self._known_vectors(table, file, lines) for table in self._spaces}
        self._delete_chunks(file, lines)
        for chunk in chunks:
            row = select_value(
                self._connection,
                "INSERT INTO chunks (file, start_line, end_line, heading, text, digest, pieces,"
                " first_at, last_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                file,
                chunk.start_line,
                chunk.end_line,
                chunk.heading,
                chunk.text,
                chunk.digest,
                chunk.pieces,
                chunk.first_at,
                chunk.last_at,
            )
            self._connection.execute(
                f"INSERT INTO {self._terms} (rowid, heading, body) VALUES (?, ?, ?)",  # noqa: S608
                (row, chunk.heading_terms, chunk.body_terms),
            )
            for table, vectors in known.items():
                if chunk.digest in vectors:
                    self._connection.execute(
                        f"INSERT INTO {table} VALUES (?, ?, ?)",  # noqa: S608
                        (row, *vectors[chunk.digest]),
                    )

    def _record(self, entry: FileEntry, digest: str, *, failure: str | None) -> int:
        """Store what is known of the file itself. Gives its id."""
        return int(
            self._connection.execute(
                "INSERT INTO files (generation, source, path, location, digest, size, mtime_ns, inode,"
                " device, day, curated, evergreen, failure, media)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (generation, source, path) DO UPDATE SET location = excluded.location,"
                " digest = excluded.digest, size = excluded.size, mtime_ns = excluded.mtime_ns,"
                " inode = excluded.inode, device = excluded.device, day = excluded.day,"
                " curated = excluded.curated, evergreen = excluded.evergreen, failure = excluded.failure,"
                " media = excluded.media RETURNING id",
                (
                    self._generation,
                    entry.source,
                    entry.path,
                    entry.location,
                    digest,
                    entry.size,
                    entry.mtime_ns,
                    entry.inode,
                    entry.device,
                    entry.day.isoformat() if entry.day else None,
                    entry.curated,
                    entry.evergreen,
                    failure,
                    entry.media,
                ),
            ).get
        )

    def _move(self, path: str, entry: FileEntry) -> None:
        self._connection.execute(
            "UPDATE files SET path = ?, location = ? WHERE generation = ? AND source = ? AND path = ?",
            (entry.path, entry.location, self._generation, entry.source, path),
        )

    def _known_vectors(self, table: str, file: int, lines: _Lines) -> _KnownVectors:
        rows = self._connection.execute(
            f"SELECT c.digest, v.vector, v.problem FROM chunks c JOIN {table} v ON v.chunk = c.id"  # noqa: S608
            f" WHERE c.file = ? AND {_WITHIN}",
            (file, *lines),
        )
        return {digest: (vector, problem) for digest, vector, problem in rows}

    def _forget_refusals(self, file: int) -> None:
        for table in self._spaces:
            self._connection.execute(
                f"DELETE FROM {table} WHERE problem IS NOT NULL"  # noqa: S608
                " AND chunk IN (SELECT id FROM chunks WHERE file = ?)",
                (file,),
            )

    def _delete_chunks(self, file: int, lines: _Lines = _WHOLE_FILE) -> None:
        chosen = f"SELECT id FROM chunks WHERE file = ? AND {_WITHIN}"  # noqa: S608 - text of ours
        wanted = (file, *lines)
        for table in self._spaces:
            self._connection.execute(f"DELETE FROM {table} WHERE chunk IN ({chosen})", wanted)  # noqa: S608
        self._connection.execute(f"DELETE FROM {self._terms} WHERE rowid IN ({chosen})", wanted)  # noqa: S608
        self._connection.execute(f"DELETE FROM chunks WHERE file = ? AND {_WITHIN}", wanted)  # noqa: S608

    def _remove(self, path: str, source: Source) -> None:
        file = self._connection.execute(
            "SELECT id FROM files WHERE generation = ? AND source = ? AND path = ?",
            (self._generation, source, path),
        ).get
        if file is not None:
            self._delete_chunks(file)
            self._connection.execute("DELETE FROM files WHERE id = ?", (file,))
