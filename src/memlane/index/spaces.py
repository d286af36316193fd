"""The rows of vector spaces: which texts wait for a vector, which have one, and which space answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from ..embed.base import NoVector, Vector, dimensions_of, fitting
from . import schema
from .database import select, select_row, select_value
from .generations import CHUNKS_OF, as_space, current_space, drop_generation, is_settled, mark_settled
from .store import Generation, Space, UnembeddedChunk, WaitingChunk

_CHUNK_COLUMNS = "c.id, c.digest, c.heading, c.text, f.location, f.media, f.size"
"""What an `UnembeddedChunk` is made from."""


def find_space(connection: apsw.Connection, generation: Generation, identity: str) -> Space | None:
    """The generation's vectors of this identity, complete or not."""
    row = select_row(
        connection, "SELECT * FROM spaces WHERE generation = ? AND identity = ?", generation.id, identity
    )
    return as_space(row) if row else None


def has_leftovers(connection: apsw.Connection, keep: Sequence[str]) -> bool:
    """Whether there is a generation, or a space that `keep` does not name, which answers nothing."""
    if select_value(connection, "SELECT EXISTS (SELECT 1 FROM generations WHERE NOT current)"):
        return True
    waiting = select(connection, "SELECT identity FROM spaces WHERE NOT current")
    return any(identity not in keep for (identity,) in waiting)


def new_space(
    connection: apsw.Connection, generation: Generation, identity: str, *, keep: Sequence[str], behind: bool
) -> Space:
    """A new space of a generation, in place of half-filled ones that `keep` does not name."""
    for leftover, other in select(
        connection, "SELECT id, identity FROM spaces WHERE generation = ? AND NOT current", generation.id
    ):
        if other not in keep:
            connection.execute(schema.drop_space(leftover))
    first = generation.current and not behind and current_space(connection) is None
    (row,) = select(
        connection,
        "INSERT INTO spaces (generation, identity, current, complete) VALUES (?, ?, ?, 0) RETURNING *",
        generation.id,
        identity,
        first,
    )
    space = as_space(row)
    connection.execute(schema.create_vectors(space.id))
    return space


def empty_space(connection: apsw.Connection, space: Space) -> None:
    """Forget the vectors of a space and their length."""
    connection.execute(f"DELETE FROM {schema.vectors_table(space.id)}")  # noqa: S608
    connection.execute("UPDATE spaces SET dimensions = NULL, complete = 0 WHERE id = ?", (space.id,))


def waiting_chunks(
    connection: apsw.Connection, generation: int, space: Space | None, *, after: int, limit: int
) -> list[WaitingChunk]:
    """The next chunks of a generation without a vector in this space, by id; without a space, all."""
    lacking = f"AND c.id NOT IN (SELECT chunk FROM {schema.vectors_table(space.id)})" if space else ""  # noqa: S608
    rows = select(
        connection,
        f"SELECT f.source, f.path, {_CHUNK_COLUMNS} FROM {CHUNKS_OF} AND c.id > ? {lacking}"  # noqa: S608
        " ORDER BY c.id LIMIT ?",
        generation,
        after,
        limit,
    )
    return [WaitingChunk(row[0], row[1], UnembeddedChunk(*row[2:])) for row in rows]


def count_waiting(connection: apsw.Connection, space: Space) -> int:
    """How many chunks have no vector in a space yet."""
    return int(
        select_value(
            connection,
            f"SELECT count(*) FROM {CHUNKS_OF} AND c.id NOT IN"  # noqa: S608
            f" (SELECT chunk FROM {schema.vectors_table(space.id)})",
            space.generation,
        )
    )


def put_vectors(
    connection: apsw.Connection, space: Space, vectors: Iterable[tuple[int, Vector | NoVector]]
) -> None:
    """Store vectors by chunk. Those of another length than the first are recorded as none."""
    statement = (
        f"INSERT OR REPLACE INTO {schema.vectors_table(space.id)} SELECT ?1, ?2, ?3 WHERE EXISTS"  # noqa: S608
        " (SELECT 1 FROM chunks WHERE id = ?1)"
    )
    known = select_value(connection, "SELECT dimensions FROM spaces WHERE id = ?", space.id)
    dimensions = known
    for chunk, vector in vectors:
        if dimensions is None and not isinstance(vector, NoVector):
            dimensions = dimensions_of(vector)
        fit = fitting(vector, dimensions)
        row = (chunk, None, fit.reason) if isinstance(fit, NoVector) else (chunk, fit, None)
        connection.execute(statement, row)
    if dimensions != known:
        connection.execute("UPDATE spaces SET dimensions = ? WHERE id = ?", (dimensions, space.id))


class Promotion:
    """Letting a generation, and one of its spaces, answer queries as complete in place of all others."""

    def __init__(
        self, connection: apsw.Connection, generation: Generation, space: Space | None, keep: Sequence[str]
    ) -> None:
        """Look at what is there. Without a space the generation's own spaces stay as they are."""
        self._generation = generation
        self._space = space
        self._keep = keep
        self._old = select(connection, "SELECT id FROM generations WHERE id <> ?", generation.id)
        self._others = (
            select(
                connection,
                "SELECT id, identity, current FROM spaces WHERE generation = ? AND id <> ?",
                generation.id,
                space.id,
            )
            if space
            else []
        )
        self._settled = is_settled(connection, "generations", generation.id) and (
            space is None or is_settled(connection, "spaces", space.id)
        )

    @property
    def is_done(self) -> bool:
        """Whether all this holds already."""
        changed = any(current or identity not in self._keep for _, identity, current in self._others)
        return self._settled and not self._old and not changed

    def write(self, connection: apsw.Connection) -> None:
        """Do it."""
        for (other,) in self._old:
            drop_generation(connection, other)
        mark_settled(connection, "generations", self._generation.id)
        for other, identity, _ in self._others:
            if identity in self._keep:
                connection.execute("UPDATE spaces SET current = 0 WHERE id = ?", (other,))
            else:
                connection.execute(schema.drop_space(other))
        if self._space is not None:
            mark_settled(connection, "spaces", self._space.id)
