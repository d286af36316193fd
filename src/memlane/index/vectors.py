"""Exact nearest neighbours over stored vectors: inside SQLite by sqlite-vec, or in process.

Both engines read the same rows and only propose candidates; the cosines that count are computed here in
double precision, so that both give the same results in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import mul
from pathlib import Path
from typing import Protocol

import apsw

from ..embed.base import Vector, dimensions_of, unpack
from ..embed.sqlite_vec import load_vector_functions, packaged_extension

SLACK = 16
"""How many more candidates than asked an engine proposes: float32 sums of the engines differ in the last
bits, which may swap neighbours at the edge."""
COSINE_DIGITS = 9
"""Cosines are rounded to so many digits, so that the order in which they are summed does not matter."""
_ROWS_A_BLOCK = 4096


class VectorEngine(Protocol):
    """Proposes the rows of a relation that lie nearest to a query."""

    name: str

    def nearest(
        self, connection: apsw.Connection, query: Vector, relation: tuple[str, list[object]], limit: int
    ) -> list[int]:
        """Ids of about the `limit` nearest, in any order.

        `relation` is the FROM and WHERE part of a statement whose rows have `chunk` and `vector`, with
        its bindings.
        """
        ...


class SqliteVecEngine:
    """sqlite-vec's distance function, evaluated by SQLite row by row."""

    name = "sqlite-vec"

    def nearest(
        self, connection: apsw.Connection, query: Vector, relation: tuple[str, list[object]], limit: int
    ) -> list[int]:
        """By Euclidean distance, which orders normalised vectors as the cosine does."""
        source, bindings = relation
        statement = (
            f"SELECT chunk, vec_distance_l2(vector, ?) AS distance {source} ORDER BY distance, chunk LIMIT ?"
        )
        return [row[0] for row in connection.execute(statement, [query, *bindings, limit])]


class InProcessEngine:
    """numpy over blocks of rows: the same answers where the extension is off or cannot be loaded."""

    name = "in-process"

    def nearest(
        self, connection: apsw.Connection, query: Vector, relation: tuple[str, list[object]], limit: int
    ) -> list[int]:
        """By dot product."""
        import numpy as np

        source, bindings = relation
        wanted = np.frombuffer(query, "<f4")
        best: list[tuple[float, int]] = []
        rows = connection.execute(f"SELECT chunk, vector {source}", bindings)
        while block := list(islice(rows, _ROWS_A_BLOCK)):
            matrix = np.frombuffer(b"".join(row[1] for row in block), "<f4").reshape(len(block), -1)
            scores = matrix @ wanted
            chunks = np.fromiter((row[0] for row in block), np.int64, len(block))
            kept = np.lexsort((chunks, -scores))[:limit]
            best += [(-float(scores[index]), int(chunks[index])) for index in kept]
            best = sorted(best)[:limit]
        return [chunk for _, chunk in best]


def load_engine(
    connection: apsw.Connection, *, enabled: bool, extension: Path | None
) -> tuple[VectorEngine, str]:
    """Load sqlite-vec into a connection; the in-process engine when it is off or cannot be loaded.

    Gives the engine, and why it is not the wanted one.
    """
    if not enabled:
        return InProcessEngine(), ""
    try:
        load_vector_functions(connection, extension or packaged_extension())
    except (apsw.Error, OSError) as error:
        what = f"memorySearch.store.vector.extensionPath {extension}" if extension else "sqlite-vec"
        return InProcessEngine(), f"{what} cannot be used ({error}); vectors are compared in process"
    return SqliteVecEngine(), ""


def exact_cosines(query: Vector, rows: Iterable[tuple[int, Vector]]) -> dict[int, float]:
    """The cosine of each normalised vector with the query, summed in double precision.

    Vectors of another length than the query's are left out: they cannot be compared.
    """
    wanted = unpack(query)
    width = dimensions_of(query)
    return {
        chunk: round(sum(map(mul, wanted, unpack(vector))), COSINE_DIGITS)
        for chunk, vector in rows
        if dimensions_of(vector) == width
    }
