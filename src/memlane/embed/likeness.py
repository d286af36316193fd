"""How alike single pieces of the embedded model's vocabulary are: what late interaction is made of.

A passage's one vector says what it is about as a whole. Compared piece by piece, the one line that answers a
question is found in a long passage, too (Khattab & Zaharia 2020, "ColBERT", does so with a transformer's
vectors; here each piece has one vector, whatever stands around it).

Nothing is embedded when a query comes: the index keeps the ids of each passage's pieces, and the table of the
model gives their vectors.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from operator import mul
from typing import TYPE_CHECKING

from .sqlite_vec import load_vector_functions, packaged_extension

if TYPE_CHECKING:
    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from .bundled import StaticModel

STRETCH = 16
"""So many pieces make a stretch; their order among themselves is not kept."""


def pack_pieces(pieces: Sequence[int]) -> bytes:
    """Piece ids in the form in which the index keeps them: 1.8 bytes each.

    Within each stretch the order is lost, so that differences of neighbours can be stored, seven bits a byte.
    """
    packed = bytearray()
    for start in range(0, len(pieces), STRETCH):
        before = 0
        for piece in sorted(pieces[start : start + STRETCH]):
            difference, before = piece - before, piece
            while difference > 0x7F:
                packed.append(difference & 0x7F | 0x80)
                difference >>= 7
            packed.append(difference)
    return bytes(packed)


def unpack_pieces(packed: bytes) -> list[int]:
    """The piece ids again, stretch by stretch; none where none were kept."""
    pieces: list[int] = []
    piece = difference = shift = 0
    for byte in packed:
        difference |= (byte & 0x7F) << shift
        shift += 7
        if byte > 0x7F:
            continue
        piece += difference
        pieces.append(piece)
        difference = shift = 0
        if len(pieces) % STRETCH == 0:
            piece = 0
    return pieces


def unpack_in_bulk(packed: Sequence[bytes]) -> list[NDArray[np.int64]]:
    """`unpack_pieces` of many, by numpy."""
    import numpy as np

    numbers = np.frombuffer(b"".join(packed), np.uint8).astype(np.int64)
    ends = np.flatnonzero(numbers < 0x80)  # the last byte of each difference
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    low = numbers & 0x7F
    differences = low[starts]
    for place in (1, 2):
        further = np.flatnonzero(ends - starts >= place)
        differences[further] |= low[starts[further] + place] << 7 * place
    borders = np.searchsorted(ends, np.cumsum([len(one) for one in packed]))
    firsts = np.concatenate(([0], borders[:-1])) if len(borders) else borders
    begins = np.repeat(firsts, borders - firsts)
    stretches = begins + (np.arange(len(ends)) - begins) // STRETCH * STRETCH
    sums = np.concatenate(([0], np.cumsum(differences)))
    pieces = sums[1:] - sums[stretches]
    return [pieces[first:last] for first, last in zip(firsts.tolist(), borders.tolist(), strict=True)]


class PieceLikeness:
    """Cosines between pieces of the embedded model.

    By numpy in a process that has it loaded already, else by sqlite-vec on an in-memory database: importing
    numpy takes longer than all of a search.
    """

    def __init__(self, model: StaticModel) -> None:
        self._model = model
        self._connection: apsw.Connection | None = None

    def weights(self, pieces: Sequence[int]) -> list[float]:
        """How much each piece tells by itself: the length of its vector, near 0 for the commonest."""
        return [self._model.scales[piece] * math.hypot(*self._row(piece)) for piece in pieces]

    @property
    def in_bulk(self) -> bool:
        """Whether numpy computes: it is loaded, or the extension cannot be."""
        return "numpy" in sys.modules or self._vector_database() is None

    def matrix(
        self, query: Sequence[int], passages: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The cosines of the query's pieces (rows) with others (columns), by numpy."""
        import numpy as np

        table = np.frombuffer(self._model.rows, np.int8).reshape(-1, self._model.dimensions)
        left = table[np.asarray(query, np.int64)].astype(np.float32)
        right = table[np.asarray(passages, np.int64)].astype(np.float32)
        # Products and sums of int8 numbers are whole and below 2^24: exact, whatever the order.
        dots = (left @ right.T).astype(np.float64)
        squares = [np.einsum("ij,ij->i", rows, rows).astype(np.float64) for rows in (left, right)]
        found: NDArray[np.float64] = dots / np.sqrt(np.maximum(np.outer(*squares), 1.0))
        return found

    def cosines(self, query: Sequence[int], passages: Sequence[int]) -> list[list[float]]:
        """The very same as lists, without numpy. Only where it is not `in_bulk`."""
        connection = self._vector_database()
        if connection is None:
            raise RuntimeError("sqlite-vec cannot be loaded")
        return self._by_sqlite(connection, query, passages)

    def _row(self, piece: int) -> memoryview:
        width = self._model.dimensions
        return self._model.rows[piece * width : (piece + 1) * width]

    def _by_sqlite(
        self, connection: apsw.Connection, query: Sequence[int], passages: Sequence[int]
    ) -> list[list[float]]:
        width = self._model.dimensions
        rows = b"".join(map(self._row, passages))
        places = json.dumps(list(range(1, len(rows), width)))
        row = f"vec_int8(substr(?1, value, {width}))"
        statement = f"SELECT vec_distance_l2({row}, vec_int8(?2)) FROM json_each(?3)"  # noqa: S608 - a number

        def squared_distances(to: bytes) -> list[int]:
            # Whole numbers: what float32 loses in the root comes back by rounding, up to 2^22, which two rows
            # reach only if they point in opposite directions.
            found = connection.execute(statement, (rows, to, places))
            return [round(distance * distance) for (distance,) in found]

        squares = squared_distances(bytes(width))
        cosines = []
        for piece in query:
            asked = self._row(piece).tolist()
            square = sum(map(mul, asked, asked))
            cosines.append(
                [
                    (square + other - distance) / 2 / math.sqrt(max(square * other, 1))
                    for other, distance in zip(
                        squares, squared_distances(bytes(self._row(piece))), strict=True
                    )
                ]
            )
        return cosines

    def _vector_database(self) -> apsw.Connection | None:
        """An empty database with sqlite-vec's functions; None where the extension cannot be loaded."""
        if self._connection is None:
            import apsw

            connection = apsw.Connection(":memory:")
            try:
                load_vector_functions(connection, packaged_extension())
            except (apsw.Error, OSError):
                return None
            self._connection = connection
        return self._connection
