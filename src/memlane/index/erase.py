"""Taking what is forgotten out of an index file, down to its free pages and its log.

A row that is deleted leaves its bytes in free pages, in the log and in segments of the full text. So the full
text is merged, the file is written anew without free pages, and the log is emptied.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import apsw

from ..embed.log_file import CHECKPOINT, empty_log
from ..tombstones.match import Tombstones
from ..values import Value
from . import schema
from .database import Database, select, select_value
from .generations import drop_generation
from .sources import forgets_file
from .store import RemoveFile
from .write import FileWriter

_CHUNKS_AT_ONCE = 512


class Erased(Value, frozen=True):
    """What was taken out of an index."""

    files: int = 0
    chunks: int = 0
    vectors: int = 0
    half_built: int = 0
    """Generations that were being built."""


def erase(database: Database, forgotten: Tombstones, affected: AbstractSet[str]) -> Erased:
    """Take out whatever is forgotten, in every generation and space, all or nothing.

    `affected` are the locations of files whose text holds something forgotten: they count as unread, so that
    the next pass reads them without it. The caller holds the writer's lock.
    """
    with database.writing() as connection:
        connection.execute("PRAGMA secure_delete = ON")
        half_built = [row[0] for row in select(connection, "SELECT id FROM generations WHERE NOT current")]
        for generation in half_built:
            drop_generation(connection, generation)
        before = _counts(connection)
        files = 0
        for (generation,) in select(connection, "SELECT id FROM generations"):
            writer = FileWriter(connection, generation)
            statement = "SELECT id, location, source, path FROM files WHERE generation = ?"
            for file, location, source, path in select(connection, statement, generation):
                if forgets_file(forgotten, source, path):
                    writer.apply(RemoveFile(path, source))
                    files += 1
                    continue
                held = _holding(connection, forgotten, file)
                if held:
                    writer.delete_chunks(held)
                if held or location in affected:
                    _unread(connection, "id = ?", file)
            _incomplete(connection, generation)
        after = _counts(connection)
    chunks, vectors = (was - now for was, now in zip(before, after, strict=True))
    return Erased(files, chunks, vectors, len(half_built))


def unread_all(database: Database) -> None:
    """Have the next pass read every file again; vectors of texts that stay the same are kept."""
    with database.writing() as connection:
        _unread(connection, "true")
        for (generation,) in select(connection, "SELECT id FROM generations"):
            _incomplete(connection, generation)


def texts(database: Database) -> set[bytes]:
    """The digests of all texts that are indexed."""
    with database.reading() as connection:
        return {row[0] for row in select(connection, "SELECT DISTINCT digest FROM chunks")}


def compact(database: Database) -> None:
    """Leave no byte of deleted rows in the file or its log. The caller holds the writer's lock.

    Raises StoreBusy as `cut_log`.
    """
    with database.writing() as connection:
        for (generation,) in select(connection, "SELECT id FROM generations"):
            # One segment without the terms of deleted rows.
            terms = schema.terms_table(generation)
            connection.execute(f"INSERT INTO {terms} ({terms}) VALUES ('optimize')")  # noqa: S608
    with database.alone() as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("VACUUM")
    cut_log(database)


def cut_log(database: Database) -> None:
    """Bring the log into the file and cut it to nothing. Raises StoreBusy when another process reads on."""

    def is_held() -> bool:
        with database.alone() as connection:
            busy, _, _ = connection.execute(CHECKPOINT).fetchone() or (0, 0, 0)
        return bool(busy)

    empty_log(is_held, database.path)


def _holding(connection: apsw.Connection, forgotten: Tombstones, file: int) -> list[int]:
    """The chunks of a file in whose text or heading something forgotten stands."""
    rows = connection.execute("SELECT id, heading, text FROM chunks WHERE file = ?", (file,))
    return [row for row, heading, text in rows if forgotten.holds(text) or forgotten.holds(heading)]


def _unread(connection: apsw.Connection, which: str, *bindings: object) -> None:
    connection.execute(f"UPDATE files SET digest = '', mtime_ns = 0 WHERE {which}", bindings)  # noqa: S608


def _incomplete(connection: apsw.Connection, generation: int) -> None:
    connection.execute("UPDATE generations SET complete = 0 WHERE id = ?", (generation,))
    connection.execute("UPDATE spaces SET complete = 0 WHERE generation = ?", (generation,))


def _counts(connection: apsw.Connection) -> tuple[int, int]:
    """Chunks, and vectors of all spaces."""
    spaces: Iterable[int] = [row[0] for row in select(connection, "SELECT id FROM spaces")]
    vectors = sum(
        int(select_value(connection, f"SELECT count(*) FROM {schema.vectors_table(space)}"))  # noqa: S608
        for space in spaces
    )
    return int(select_value(connection, "SELECT count(*) FROM chunks")), vectors
