"""Opening an index file: whose it is, whether it is whole, and one connection per thread.

Foreign exceptions of SQLite become StoreError, StoreBusy or StoreCorrupt here and nowhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from ..disk import create_private, writer_lock
from ..errors import StoreBusy, StoreCorrupt, StoreError
from .schema import APPLICATION_ID, PAGE_SIZE, SCHEMA_VERSION, TABLES

_HEADER = b"SQLite format 3\x00"
_BUSY_MILLISECONDS = 10_000
_CACHE_KIB = 16_384
_UNSETTLED = "unsettled"


Row = tuple[Any, ...]
"""Values as the schema types them, which a type checker cannot know."""


def select(connection: apsw.Connection, statement: str, *bindings: object) -> list[Row]:
    """All rows of a statement."""
    return connection.execute(statement, bindings).fetchall()


def select_row(connection: apsw.Connection, statement: str, *bindings: object) -> Row | None:
    """The first row of a statement, or None."""
    return connection.execute(statement, bindings).fetchone()


def select_value(connection: apsw.Connection, statement: str, *bindings: object) -> Any:  # noqa: ANN401
    """The first value of the first row of a statement, or None."""
    row = connection.execute(statement, bindings).fetchone()
    return row[0] if row else None


class ForeignDatabase(StoreError):  # noqa: N818
    """The file is not an index of ours. It is left untouched."""

    code = "foreign_database"


class Database:
    """One index file, shared by the threads of a process: each has a connection of its own."""

    def __init__(self, path: Path, prepare: Callable[[apsw.Connection], None]) -> None:
        """Open or create the file; `prepare` sets up each new connection (extensions, functions).

        Raises ForeignDatabase, StoreCorrupt, or StoreError.
        """
        self.path = path
        self._prepare = prepare
        self._local = threading.local()
        self._all: list[apsw.Connection] = []
        self._guard = threading.Lock()
        self._unsettled = False
        fresh = self._is_fresh()
        create_private(path)
        with self.translated():
            if fresh:
                self._create()
            self._accept(self.connection())

    def connection(self) -> apsw.Connection:
        """This thread's connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
            with self._guard:
                self._all.append(connection)
        return connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """One consistent view for several statements."""
        with self.translated():
            connection = self.connection()
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN DEFERRED")
            try:
                yield connection
            finally:
                with suppress(apsw.Error):
                    connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One short write transaction: all of it or nothing."""
        with self.translated():
            connection = self.connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._unsettled:
                    # Taken back by settle(); found at an open, it asks for a check.
                    connection.execute("INSERT OR REPLACE INTO notes VALUES (?, '1')", (_UNSETTLED,))
                yield connection
                connection.execute("COMMIT")
                self._unsettled = True
            except BaseException:
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn SQLite's exceptions into ours."""
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise StoreCorrupt(
                f"the index {self.path} is damaged: {error}",
                hint="memlane index --force rebuilds it from the notes",
            ) from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise StoreBusy(
                f"the index {self.path} is being written by another process", hint="try again in a moment"
            ) from error
        except apsw.FullError as error:
            raise StoreError(
                f"no space left on the disk of {self.path}",
                hint="free some space, then run memlane index; what was indexed before still answers",
            ) from error
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
            raise StoreError(
                f"cannot write the index {self.path}: {error}",
                hint="check the permissions of the file and its folder, or set another store.path",
            ) from error
        except apsw.ConnectionClosedError as error:
            raise StoreError("this memory has been closed", hint="open it again") from error
        except apsw.Error as error:
            raise StoreError(f"the index {self.path} failed: {error}") from error

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            for connection in self._all:
                with suppress(apsw.Error):
                    connection.close()
            self._all.clear()

    def settle(self) -> None:
        """Record that what was written is whole: a pass is over. Cheap when nothing was written."""
        if self._unsettled:
            with self.translated():
                self.connection().execute("DELETE FROM notes WHERE key = ?", (_UNSETTLED,))
            self._unsettled = False

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._prepare(connection)
        return connection

    def _create(self) -> None:
        # Before the switch to a write-ahead log: from its first page on the file itself says whose it is.
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").get == 0:  # else another process was quicker
                connection.execute(TABLES)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        finally:
            connection.close()

    def _accept(self, connection: apsw.Connection) -> None:
        """Check that this version can use the file, and that the last pass that wrote to it ended well."""
        version = int(connection.execute("PRAGMA user_version").get)
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"the index {self.path} was made by a newer version of Memlane (format {version})",
                hint="upgrade Memlane, or move the file away to have it rebuilt",
            )
        if not connection.execute("SELECT 1 FROM notes WHERE key = ?", (_UNSETTLED,)).fetchone():
            return
        try:
            with writer_lock(self.path, timeout=0):
                findings = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
                if findings != ["ok"]:
                    raise StoreCorrupt(f"the index {self.path} is damaged: {'; '.join(findings)}")
                connection.execute("DELETE FROM notes WHERE key = ?", (_UNSETTLED,))
        except StoreBusy:
            return  # the pass is still going on in another process

    def _is_fresh(self) -> bool:
        """Whether there is nothing at the path yet.

        A SQLite file without our application id, or a file that never was SQLite's, is not ours. One whose
        first page was wiped (all zeros) counts as a damaged one of ours.
        """
        try:
            with self.path.open("rb") as file:
                head = file.read(100)
        except FileNotFoundError:
            return True
        except OSError as error:
            raise StoreError(
                f"cannot read the index {self.path}: {error.strerror or error}",
                hint="check its permissions, or set another store.path",
            ) from error
        if not head:
            return True
        if not head.strip(b"\x00"):
            raise StoreCorrupt(f"the index {self.path} is damaged: its first page is empty")
        if not head.startswith(_HEADER) or int.from_bytes(head[68:72], "big") != APPLICATION_ID:
            raise ForeignDatabase(
                f"{self.path} is not an index of Memlane's; it is left untouched",
                hint="set store.path to another file, or move this one away",
            )
        return False
