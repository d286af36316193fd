"""Embeddings already paid for, in a file of their own: it survives a lost or rebuilt index.

Keyed by the identity of the vector space and the digest of the embedded text. Least recently used go
first. The file is derived data: a damaged one is moved aside, what can be read of it is taken over, and the
rest is filled again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from ..disk import create_private, move_aside
from ..errors import StoreError
from .base import Vector
from .log_file import CHECKPOINT, empty_log
from .salvage import check_sum, is_sound, readable_entries

_Answer = TypeVar("_Answer")

_APPLICATION_ID = 0x4D4C4543  # "MLEC"
_SCHEMA_VERSION = 2
# Large pages, so that vectors of 1,536 numbers (6 kB) fill them instead of leaving a third empty.
_PAGE_SIZE = 32_768
_ENTRY_BYTES = 100
_MOVED_AWAY = 1032  # SQLITE_READONLY_DBMOVED: another process has set the file aside
_SCHEMA = """
CREATE TABLE spaces (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY, space INTEGER NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, sum INTEGER
) STRICT;
CREATE UNIQUE INDEX embedding_of ON embeddings (space, digest);
CREATE TABLE uses (id INTEGER PRIMARY KEY, used INTEGER NOT NULL) STRICT;
CREATE INDEX least_recently_used ON uses (used);
"""
# Version 1 kept no sums; entries of it have none until they are replaced.
_FROM_VERSION_1 = "ALTER TABLE embeddings ADD COLUMN sum INTEGER"


class SqliteCache:
    """The cache as a SQLite file of mode 0600. Opened at first use; threads take turns."""

    def __init__(self, path: Path, *, max_entries: int, max_bytes: int) -> None:
        """`max_bytes` is what the entries may take in the file."""
        self.path = path
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._connection: apsw.Connection | None = None
        self._inode = 0
        self._turn = threading.RLock()

    def get(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors known for these digests in this space, marked as used now.

        One that cannot be what was stored is not given.
        """
        if not digests or not self._exists():
            return {}

        def read(connection: apsw.Connection) -> dict[bytes, Vector]:
            found: dict[bytes, Vector] = {}
            space = self._space(connection, identity)
            now = self._next_use(connection)
            for digest in digests:
                row = connection.execute(
                    "SELECT id, vector, sum FROM embeddings WHERE space = ? AND digest = ?", (space, digest)
                ).fetchone()
                if row and is_sound(digest, row[1], row[2]):
                    found[digest] = row[1]
                    connection.execute("UPDATE uses SET used = ? WHERE id = ?", (now, row[0]))
            return found

        return self._transaction("read", read)

    def put(self, identity: Mapping[str, str | int], vectors: Iterable[tuple[bytes, Vector]]) -> None:
        """Remember vectors; one that is known already is replaced."""
        kept = list(vectors)

        def write(connection: apsw.Connection) -> None:
            space = self._space(connection, identity)
            now = self._next_use(connection)
            for digest, vector in kept:
                row = connection.execute(
                    "INSERT INTO embeddings (space, digest, vector, sum) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT (space, digest)"
                    " DO UPDATE SET vector = excluded.vector, sum = excluded.sum RETURNING id",
                    (space, digest, vector, check_sum(digest, vector)),
                ).get
                connection.execute("INSERT OR REPLACE INTO uses VALUES (?, ?)", (row, now))

        self._transaction("write", write)

    def known(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> set[bytes]:
        """For which of these digests there is a vector in this space. Does not count as a use."""
        if not digests or not self._exists():
            return set()

        def look(connection: apsw.Connection) -> set[bytes]:
            statement = (
                "SELECT e.digest FROM embeddings e JOIN spaces s ON s.id = e.space"
                " WHERE s.identity = ? AND e.digest = ?"
            )
            rows = (connection.execute(statement, (_name(identity), digest)).get for digest in digests)
            return {digest for digest in rows if digest is not None}

        return self._transaction("read", look)

    def discard(self, digests: Sequence[bytes]) -> None:
        """Forget the vectors of these texts in every space. An absent file knows none."""
        if not digests or not self._exists():
            return

        def forget(connection: apsw.Connection) -> None:
            chosen = (
                "DELETE FROM embeddings WHERE space IN (SELECT id FROM spaces) AND digest = ? RETURNING id"
            )
            for digest in digests:
                for (row,) in connection.execute(chosen, (digest,)).fetchall():
                    connection.execute("DELETE FROM uses WHERE id = ?", (row,))

        self._transaction("write", forget)

    def keep_only(self, digests: Collection[bytes]) -> int:
        """Forget all texts but these, down to the bytes in the file and its log. Gives how many entries went.

        Of a text that is no longer indexed nobody can tell whether it held what is to be forgotten. Raises
        StoreBusy when another process goes on reading what was there.
        """
        if not self._exists():
            return 0

        def forget(connection: apsw.Connection) -> int:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("CREATE TEMP TABLE staying (digest BLOB PRIMARY KEY)")
            connection.executemany("INSERT OR IGNORE INTO staying VALUES (?)", [(one,) for one in digests])
            gone = connection.execute(
                "DELETE FROM embeddings WHERE digest NOT IN (SELECT digest FROM staying) RETURNING id"
            ).fetchall()
            connection.executemany("DELETE FROM uses WHERE id = ?", gone)
            connection.execute("DROP TABLE staying")
            return len(gone)

        with self._turn:
            gone = self._transaction("write", forget)
            try:
                connection = self._open()
                connection.execute("VACUUM")
                empty_log(lambda: bool(connection.execute(CHECKPOINT).fetchall()[0][0]), self.path)
            except apsw.Error as error:
                raise self._failed("compact", error) from error
        return gone

    def forget_others(self, identity: Mapping[str, str | int], dimensions: int) -> None:
        """Forget the vectors of this space that have another length."""
        if not self._exists():
            return

        def forget(connection: apsw.Connection) -> None:
            space = self._space(connection, identity)
            chosen = "SELECT id FROM embeddings WHERE space = ? AND length(vector) <> ?"
            bindings = (space, 4 * dimensions)
            connection.execute(f"DELETE FROM uses WHERE id IN ({chosen})", bindings)  # noqa: S608
            connection.execute(f"DELETE FROM embeddings WHERE id IN ({chosen})", bindings)  # noqa: S608

        self._transaction("write", forget)

    def trim(self, in_use: Callable[[], Collection[bytes]]) -> None:
        """Forget what is beyond the limits: texts that are not in use first, then the least recently used."""
        if self._connection is None:
            return
        sizes = self._transaction("trim", _sizes)
        if self._fits(sizes):
            return
        digests = in_use()

        def forget(connection: apsw.Connection) -> None:
            # The index alone is read, not the vectors, to see which go.
            rows = connection.execute(
                "SELECT e.digest, e.space, u.used, u.id FROM embeddings e INDEXED BY embedding_of"
                " JOIN uses u ON u.id = e.id WHERE e.space IN (SELECT id FROM spaces)"
            )
            left = _sizes(connection)
            chosen = []
            for _, _, entry, space in sorted(
                (digest in digests, used, entry, space) for digest, space, used, entry in rows
            ):
                if self._fits(left):
                    break
                left[space] = (left[space][0] - 1, left[space][1])
                chosen.append((entry,))
            connection.executemany("DELETE FROM embeddings WHERE id = ?", chosen)
            connection.executemany("DELETE FROM uses WHERE id = ?", chosen)

        self._transaction("trim", forget)
        self._give_space_back()

    def _fits(self, sizes: Mapping[int, tuple[int, int]]) -> bool:
        """Whether so many entries of such a size, by space, are within the limits."""
        return (
            sum(count for count, _ in sizes.values()) <= self._max_entries
            and sum(count * size for count, size in sizes.values()) <= self._max_bytes
        )

    def _give_space_back(self) -> None:
        """Make the file smaller where most of it is empty; else the space is used again."""
        with self._turn:
            connection = self._open()
            if 2 * _pragma(connection, "freelist_count") > _pragma(connection, "page_count"):
                with suppress(apsw.Error):  # another process reads it: next time
                    connection.execute("VACUUM")

    def size(self) -> tuple[int, int]:
        """Entries and bytes on disk. An absent file has neither."""
        if not self._exists():
            return 0, 0

        def look(connection: apsw.Connection) -> tuple[int, int]:
            return int(connection.execute("SELECT count(*) FROM uses").get), self.path.stat().st_size

        return self._transaction("read", look)

    def problems(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the file; empty for a sound one, and where there is none."""
        if not self._exists():
            return ()
        findings = self._transaction(
            "check",
            lambda connection: [row[0] for row in connection.execute("PRAGMA quick_check(3)")],
            mending=False,
        )
        return () if findings == ["ok"] else tuple(str(finding) for finding in findings)

    def mend(self) -> int:
        """Set the file aside and take over what can be read of it. Gives how many entries that were."""
        with self._turn:
            if not self._inode and self.path.exists():
                self._inode = self.path.stat().st_ino
            self._set_aside()
            return self._transaction(
                "read", lambda connection: int(connection.execute("SELECT count(*) FROM uses").get)
            )

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(apsw.Error):  # a disk that fails now: what was committed stays in the log
                    connection.close()

    def _exists(self) -> bool:
        return self._connection is not None or self.path.exists()

    def _transaction(
        self, verb: str, work: Callable[[apsw.Connection], _Answer], *, mending: bool = True
    ) -> _Answer:
        """Do the work on the connection, for one thread and in one transaction.

        A damaged file is mended once: one that SQLite cannot read, or that gives values which its schema
        does not allow. Raises StoreError.
        """
        with self._turn:
            for attempt in range(2):
                try:
                    with self._open() as connection:
                        return work(connection)
                except (apsw.NotADBError, apsw.CorruptError, TypeError, ValueError) as error:
                    if attempt or not mending:
                        raise self._failed(verb, error) from error
                    self._set_aside()
                except apsw.ReadOnlyError as error:
                    moved = getattr(error, "extendedresult", 0) == _MOVED_AWAY
                    self.close()
                    if attempt or not moved:
                        raise self._failed(verb, error) from error
                except (apsw.Error, OSError) as error:
                    raise self._failed(verb, error) from error
        raise AssertionError("the last attempt returns or raises")

    def _set_aside(self) -> None:
        """Put a new file with what can be read of the damaged one in its place, and keep that one aside.

        One that another process has put there meanwhile is left alone. Raises StoreError when no new file
        can be made; the damaged one then stays where it is.
        """
        damaged = self._inode
        self.close()
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            if not damaged or self.path.stat().st_ino != damaged:
                return
            for leftover in (new, Path(f"{new}-wal"), Path(f"{new}-shm")):
                leftover.unlink(missing_ok=True)
            self._salvage(new)
            move_aside(self.path)
            new.replace(self.path)
        except FileNotFoundError:
            return
        except (apsw.Error, OSError) as error:
            raise self._failed("mend", error) from error

    def _salvage(self, new: Path) -> None:
        create_private(new)
        with closing(self._connect(new)) as connection, connection:
            for identity, digest, vector in readable_entries(self.path):
                space = self._space_named(connection, identity)
                made = connection.execute(
                    "INSERT OR IGNORE INTO embeddings (space, digest, vector, sum) VALUES (?, ?, ?, ?)"
                    " RETURNING id",
                    (space, digest, vector, check_sum(digest, vector)),
                ).get
                if made is not None:
                    connection.execute("INSERT INTO uses VALUES (?, 0)", (made,))

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            create_private(self.path)
            self._inode = self.path.stat().st_ino
            self._connection = self._connect(self.path)
        return self._connection

    @staticmethod
    def _connect(path: Path) -> apsw.Connection:
        connection = apsw.Connection(str(path))
        try:
            connection.set_busy_timeout(10_000)
            connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                version = connection.execute("PRAGMA user_version").get
                mine = connection.execute("PRAGMA application_id").get == _APPLICATION_ID
                if version == 0:
                    connection.execute(_SCHEMA)
                    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                elif mine and version == 1:
                    connection.execute(_FROM_VERSION_1)
                elif not mine or version != _SCHEMA_VERSION:
                    raise StoreError(
                        f"{path} is not an embedding cache of this version",
                        hint="move the file away; it is only a cache",
                    )
                if version != _SCHEMA_VERSION:
                    connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def _next_use(connection: apsw.Connection) -> int:
        # A count, not the clock: clocks jump, and only the order matters.
        return int(connection.execute("SELECT coalesce(max(used), 0) + 1 FROM uses").get)

    def _space(self, connection: apsw.Connection, identity: Mapping[str, str | int]) -> int:
        return self._space_named(connection, _name(identity))

    @staticmethod
    def _space_named(connection: apsw.Connection, name: str) -> int:
        known = connection.execute("SELECT id FROM spaces WHERE identity = ?", (name,)).get
        made = "INSERT INTO spaces (identity) VALUES (?) RETURNING id"
        return int(connection.execute(made, (name,)).get if known is None else known)

    def _failed(self, verb: str, error: Exception) -> StoreError:
        return StoreError(f"cannot {verb} the embedding cache {self.path}: {error}")


def _name(identity: Mapping[str, str | int]) -> str:
    return json.dumps(dict(identity), sort_keys=True)


def _sizes(connection: apsw.Connection) -> dict[int, tuple[int, int]]:
    """How many entries each space has, and how many bytes of the file one of them takes.

    The vectors of a space have one length, so that none but the first is read. A twelfth more: what pages
    waste, the digest twice, the sum and the use.
    """
    rows = connection.execute(
        "SELECT space, count(*), (SELECT length(vector) FROM embeddings o WHERE o.space = e.space LIMIT 1)"
        " FROM embeddings e GROUP BY space"
    )
    return {space: (count, length + length // 12 + _ENTRY_BYTES) for space, count, length in rows}


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").get)
