"""Embeddings already paid for, in a file of their own: it survives a lost or rebuilt index.

Keyed by the identity of the vector space and the digest of the embedded text. Least recently used go
first. The file is derived data: a damaged one is moved aside and filled again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from ..disk import create_private, move_aside
from ..errors import StoreError
from .base import Vector

_APPLICATION_ID = 0x4D4C4543  # "MLEC"
_SCHEMA_VERSION = 1
# Large pages, so that vectors of 1,536 numbers (6 kB) fill them instead of leaving a third empty.
_PAGE_SIZE = 32_768
_SCHEMA = """
CREATE TABLE spaces (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY, space INTEGER NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX embedding_of ON embeddings (space, digest);
CREATE TABLE uses (id INTEGER PRIMARY KEY, used INTEGER NOT NULL) STRICT;
CREATE INDEX least_recently_used ON uses (used);
"""


class SqliteCache:
    """The cache as a SQLite file of mode 0600. Opened at first use; threads take turns."""

    def __init__(self, path: Path, *, max_entries: int) -> None:
        self.path = path
        self._max_entries = max_entries
        self._connection: apsw.Connection | None = None
        self._turn = threading.RLock()

    def get(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors known for these digests in this space, marked as used now."""
        found: dict[bytes, Vector] = {}
        if not digests or not self._exists():
            return found
        with self._transaction("read") as connection:
            space = self._space(connection, identity)
            now = self._next_use(connection)
            for digest in digests:
                row = connection.execute(
                    "SELECT id, vector FROM embeddings WHERE space = ? AND digest = ?", (space, digest)
                ).fetchone()
                if row:
                    found[digest] = row[1]
                    connection.execute("UPDATE uses SET used = ? WHERE id = ?", (now, row[0]))
        return found

    def put(self, identity: Mapping[str, str | int], vectors: Iterable[tuple[bytes, Vector]]) -> None:
        """Remember vectors; one that is known already is replaced."""
        with self._transaction("write") as connection:
            space = self._space(connection, identity)
            now = self._next_use(connection)
            for digest, vector in vectors:
                row = connection.execute(
                    "INSERT INTO embeddings (space, digest, vector) VALUES (?, ?, ?)"
                    " ON CONFLICT (space, digest) DO UPDATE SET vector = excluded.vector RETURNING id",
                    (space, digest, vector),
                ).get
                connection.execute("INSERT OR REPLACE INTO uses VALUES (?, ?)", (row, now))

    def trim(self) -> None:
        """Forget the least recently used entries beyond the limit."""
        if self._connection is None:
            return
        with self._transaction("trim") as connection:
            excess = connection.execute("SELECT count(*) FROM uses").get - self._max_entries
            if excess > 0:
                chosen = "SELECT id FROM uses ORDER BY used, id LIMIT ?"
                connection.execute(f"DELETE FROM embeddings WHERE id IN ({chosen})", (excess,))  # noqa: S608
                connection.execute(f"DELETE FROM uses WHERE id IN ({chosen})", (excess,))  # noqa: S608

    def size(self) -> tuple[int, int]:
        """Entries and bytes on disk. An absent file has neither."""
        if not self._exists():
            return 0, 0
        with self._transaction("read") as connection:
            entries = int(connection.execute("SELECT count(*) FROM uses").get)
        return entries, self.path.stat().st_size

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _exists(self) -> bool:
        return self._connection is not None or self.path.exists()

    @contextmanager
    def _transaction(self, verb: str) -> Iterator[apsw.Connection]:
        """The connection, for one thread and one transaction. Damage sets the file aside for the next use."""
        with self._turn:
            try:
                with self._open() as connection:
                    yield connection
            except (apsw.NotADBError, apsw.CorruptError) as error:
                self.close()
                move_aside(self.path)
                raise self._failed(verb, error) from error
            except apsw.Error as error:
                raise self._failed(verb, error) from error

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            try:
                self._connection = self._connect()
            except (apsw.NotADBError, apsw.CorruptError):
                move_aside(self.path)
                self._connection = self._connect()
            except (apsw.Error, OSError) as error:
                raise self._failed("open", error) from error
        return self._connection

    def _connect(self) -> apsw.Connection:
        create_private(self.path)
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(10_000)
            connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                version = connection.execute("PRAGMA user_version").get
                if version == 0:
                    connection.execute(_SCHEMA)
                    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
                elif (
                    version != _SCHEMA_VERSION
                    or connection.execute("PRAGMA application_id").get != _APPLICATION_ID
                ):
                    raise StoreError(
                        f"{self.path} is not an embedding cache of this version",
                        hint="move the file away; it is only a cache",
                    )
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def _next_use(connection: apsw.Connection) -> int:
        # A count, not the clock: clocks jump, and only the order matters.
        return int(connection.execute("SELECT coalesce(max(used), 0) + 1 FROM uses").get)

    @staticmethod
    def _space(connection: apsw.Connection, identity: Mapping[str, str | int]) -> int:
        name = json.dumps(dict(identity), sort_keys=True)
        known = connection.execute("SELECT id FROM spaces WHERE identity = ?", (name,)).get
        made = "INSERT INTO spaces (identity) VALUES (?) RETURNING id"
        return int(connection.execute(made, (name,)).get if known is None else known)

    def _failed(self, verb: str, error: Exception) -> StoreError:
        return StoreError(f"cannot {verb} the embedding cache {self.path}: {error}")
