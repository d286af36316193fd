"""The rows that say which generation and which space of vectors answer queries."""

from __future__ import annotations

import apsw

from . import schema
from .database import Row, select, select_row, select_value
from .store import Generation, Space

CHUNKS_OF = "chunks c JOIN files f ON f.id = c.file WHERE f.generation = ?"
"""What follows FROM for the chunks of a generation."""


def current_generation(connection: apsw.Connection) -> Generation | None:
    """The generation that answers queries; None on a fresh store."""
    row = select_row(connection, "SELECT * FROM generations WHERE current")
    return as_generation(row) if row else None


def current_space(connection: apsw.Connection) -> Space | None:
    """The vectors that answer queries; None when there are none yet."""
    row = select_row(connection, "SELECT * FROM spaces WHERE current")
    return as_space(row) if row else None


def count_chunks(connection: apsw.Connection, generation: int | None) -> int:
    """How many chunks a generation has."""
    return int(select_value(connection, f"SELECT count(*) FROM {CHUNKS_OF}", generation))  # noqa: S608


def is_settled(connection: apsw.Connection, table: str, row: int) -> bool:
    """Whether a row of `generations` or `spaces` answers queries and is complete."""
    return bool(select_value(connection, f"SELECT current AND complete FROM {table} WHERE id = ?", row))  # noqa: S608


def mark_settled(connection: apsw.Connection, table: str, row: int) -> None:
    """Let a row of `generations` or `spaces` answer queries, as complete."""
    connection.execute(f"UPDATE {table} SET current = 1, complete = 1 WHERE id = ?", (row,))  # noqa: S608


def drop_generation(connection: apsw.Connection, generation: int) -> None:
    """Remove a generation with its spaces."""
    for (space,) in select(connection, "SELECT id FROM spaces WHERE generation = ?", generation):
        connection.execute(schema.drop_space(space))
    connection.execute(schema.drop_generation(generation))


def as_generation(row: Row) -> Generation:
    """A row of `generations` as a value."""
    return Generation(row[0], row[1], bool(row[2]), bool(row[3]))


def as_space(row: Row) -> Space:
    """A row of `spaces` as a value."""
    return Space(row[0], row[1], row[2], row[3], bool(row[4]), bool(row[5]))
