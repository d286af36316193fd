"""What can still be read of a damaged embedding cache: each vector of it has been paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeGuard

import apsw

from .base import Vector, unpack

_NORM_TOLERANCE = 1e-3
_MOST_MISSES = 1000
"""Unreadable rows in a row before the rest is given up. A page of 32 kB holds at most some eighty."""

Entry = tuple[str, bytes, Vector]
"""Identity of the space, digest of the text, vector."""


def is_sound(vector: object) -> TypeGuard[Vector]:
    """Whether this can be a vector that was stored: numbers, finite, of length 1.

    SQLite keeps no check sums. A flipped bit that matters to a cosine shows in the norm.
    """
    if not isinstance(vector, bytes) or not vector or len(vector) % 4:
        return False
    return abs(math.hypot(*unpack(vector)) - 1.0) <= _NORM_TOLERANCE


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
        for space, digest, vector in _rows(source):
            if space in spaces and isinstance(digest, bytes) and is_sound(vector):
                yield spaces[space], digest, vector


def _rows(source: apsw.Connection) -> Iterator[tuple[Any, ...]]:
    """Row after row by id, going on behind what cannot be read."""
    last = misses = 0
    while misses < _MOST_MISSES:
        try:
            for row in source.execute(
                "SELECT id, space, digest, vector FROM embeddings WHERE id > ? ORDER BY id", (last,)
            ):
                last, misses = row[0], 0
                yield row[1:]
        except (apsw.Error, UnicodeDecodeError):
            last, misses = last + 1, misses + 1
        else:
            return
