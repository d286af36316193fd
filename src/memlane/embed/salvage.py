"""What can still be read of a damaged embedding cache: each vector of it has been paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import apsw

from .base import Vector, unpack

_NORM_TOLERANCE = 1e-3
_MOST_MISSES = 1000
"""Unreadable rows in a row before the rest is given up. A page of 32 kB holds at most some eighty."""

Entry = tuple[str, bytes, Vector]
"""Identity of the space, digest of the text, vector."""


def check_sum(digest: bytes, vector: Vector) -> int:
    """What is kept beside an entry: SQLite keeps no check sums of its own."""
    return crc32(vector, crc32(digest))


def is_sound(digest: object, vector: object, kept: object) -> bool:
    """Whether an entry can be what was stored. One without a sum must at least be a vector of length 1."""
    if not isinstance(digest, bytes) or not isinstance(vector, bytes) or not vector or len(vector) % 4:
        return False
    if kept is None:
        return abs(math.hypot(*unpack(vector)) - 1.0) <= _NORM_TOLERANCE
    return kept == check_sum(digest, vector)


def readable_entries(damaged: Path) -> Iterator[Entry]:
    """The sound entries of a damaged cache, in the order they were made; nothing when none can be read."""
    try:
        source = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return
    with closing(source):
        try:
            spaces = {row: str(name) for row, name in source.execute("SELECT id, identity FROM spaces")}
        except (apsw.Error, UnicodeDecodeError):
            return
        for space, digest, vector, kept in _rows(source):
            if space in spaces and is_sound(digest, vector, kept):
                yield spaces[space], digest, vector


def _rows(source: apsw.Connection) -> Iterator[tuple[Any, ...]]:
    """Row after row by id, going on behind what cannot be read."""
    last = misses = 0
    while misses < _MOST_MISSES:
        try:
            for row in source.execute(
                "SELECT id, space, digest, vector, sum FROM embeddings WHERE id > ? ORDER BY id", (last,)
            ):
                last, misses = row[0], 0
                yield row[1:]
        except (apsw.Error, UnicodeDecodeError):
            last, misses = last + 1, misses + 1
        else:
            return
