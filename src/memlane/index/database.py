"""Opening an index file: whose it is, whether it is whole, and a small pool of connections for the threads.

Foreign exceptions of SQLite become StoreError, StoreBusy or StoreCorrupt here and nowhere else.
"""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from ..disk import create_private, writer_lock
from ..errors import StoreBusy, StoreCorrupt, StoreError
from .schema import APPLICATION_ID, PAGE_SIZE, SCHEMA_VERSION, TABLES, UPGRADES, create_places

_HEADER = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_BUSY_MILLISECONDS = 10_000
_CACHE_KIB = 16_384
_IDLE_CONNECTIONS = 4
_NEXT_REVISION = (
    "INSERT INTO notes VALUES ('revision', '1')"
    " ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
)
_UNSETTLED = "unsettled"
_MOVED_AWAY = 1032  # SQLITE_READONLY_DBMOVED: the open file is no longer the one at its path
_SHORT_READ = 522  # SQLITE_IOERR_SHORT_READ: the file is shorter than its header says


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


def revision(connection: apsw.Connection) -> str:
    """What changes with every transaction that writes, in whichever process."""
    row = select_row(connection, "SELECT value FROM notes WHERE key = 'revision'")
    return row[0] if row else ""


class NewerDatabase(StoreError):  # noqa: N818
    """The file at `path` was made by a newer version of Memlane. It is left untouched."""

    code = "newer_database"

    def __init__(self, message: str, *, path: Path, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


class Database:
    """One index file, shared by the threads of a process.

    Each transaction borrows a connection of its own; a few idle ones are kept. Where nothing can be
    written (read-only folder, full disk) the file is opened as it stands and only read.
    """

    def __init__(self, path: Path, prepare: Callable[[apsw.Connection], None]) -> None:
        """Open or create the file; `prepare` sets up each new connection (extensions, functions).

        Raises ForeignDatabase, StoreCorrupt, or StoreError.
        """
        self.path = path
        self.read_only = False
        self._prepare = prepare
        self._idle: list[apsw.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        self._unsettled = False
        self._inode = 0
        if self._is_fresh():
            create_private(path)
            self._inode = path.stat().st_ino
            with self.translated():
                self._create()
        with self.translated():
            try:
                first = self._connect()
            except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError):
                self.read_only = True
                first = self._connect()
            try:
                self._accept(first)
            except BaseException:
                first.close()
                raise
            self._idle.append(first)

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """One consistent view for several statements."""
        with self.translated(), self._borrowed() as connection:
            connection.execute("BEGIN DEFERRED")
            try:
                yield connection
            finally:
                with suppress(apsw.Error):
                    connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One short write transaction: all of it or nothing."""
        if self.read_only:
            raise StoreError(
                f"the index {self.path} can only be read: its folder cannot be written, or its disk is full",
                hint="what was indexed before still answers; mend the folder, then run memlane index",
            )
        with self.translated(), self._borrowed() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._unsettled:
                    # Taken back by settle(); found at an open, it asks for a check.
                    connection.execute("INSERT OR REPLACE INTO notes VALUES (?, '1')", (_UNSETTLED,))
                yield connection
                connection.execute(_NEXT_REVISION)
                connection.execute("COMMIT")
                self._unsettled = True
            except BaseException:
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def alone(self) -> Iterator[apsw.Connection]:
        """A connection of its own outside any transaction, for what SQLite does in none."""
        with self.translated():
            connection = self._connect()
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn SQLite's exceptions into ours."""
        try:
            yield
        except apsw.ConnectionClosedError as error:
            raise StoreError("this memory has been closed", hint="open it again") from error
        except apsw.Error as error:
            raise self._translation(error) from error
        except UnicodeDecodeError as error:
            raise self._damaged(f"a text in it is not UTF-8: {error}") from error

    def verify(self) -> None:
        """Look for damage in the whole file, thoroughly. Raises StoreCorrupt when there is some."""
        with self.reading() as connection:
            self._verify(connection, thorough=True)

    def settle(self) -> None:
        """Record that what was written is whole: a pass is over. Cheap when nothing was written."""
        if self._unsettled:
            with self.translated(), self._borrowed() as connection:
                connection.execute("DELETE FROM notes WHERE key = ?", (_UNSETTLED,))
            self._unsettled = False

    def close(self) -> None:
        """Close the connections; those in use are closed when they are given back."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(apsw.Error):  # a disk that fails now: what was committed stays in the log
                connection.close()

    @contextmanager
    def _borrowed(self) -> Iterator[apsw.Connection]:
        with self._guard:
            if self._closed:
                raise apsw.ConnectionClosedError
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connect()
        try:
            yield connection
        finally:
            with self._guard:
                kept = not self._closed and len(self._idle) < _IDLE_CONNECTIONS
                if kept:
                    self._idle.append(connection)
            if not kept:
                connection.close()

    def _translation(self, error: apsw.Error) -> StoreError:
        message = str(error)
        damaged = isinstance(error, apsw.CorruptError | apsw.NotADBError)
        if damaged or message.startswith(("no such table", "no such column", "invalid float32 vector")):
            return self._damaged(message)
        if getattr(error, "extendedresult", 0) in {_MOVED_AWAY, _SHORT_READ}:
            return self._damaged("it was replaced or cut short while it was open")
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            return StoreBusy(
                f"the index {self.path} is being written by another process", hint="try again in a moment"
            )
        if isinstance(error, apsw.FullError):
            return StoreError(
                f"no space left on the disk of {self.path}",
                hint="free some space, then run memlane index; what was indexed before still answers",
            )
        if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
            return StoreError(
                f"cannot write the index {self.path}: {message}",
                hint="check the permissions of the file and its folder and how many files are open, or set"
                " another store.path",
            )
        return StoreError(
            f"the index {self.path} failed: {message}",
            hint="check the disk; the index can be deleted, memlane index builds it again from the notes",
        )

    def _verify(self, connection: apsw.Connection, *, thorough: bool = False) -> None:
        from .integrity import defects  # hardly ever needed

        found = [one.message for one in defects(connection, thorough=thorough) if not one.leftover]
        if found:
            raise self._damaged("; ".join(found[:3]))

    def _damaged(self, what: str) -> StoreCorrupt:
        return StoreCorrupt(
            f"the index {self.path} is damaged: {what}",
            path=self.path,
            inode=self._inode,
            hint="memlane index --force rebuilds it from the notes",
        )

    def _connect(self) -> apsw.Connection:
        if self.read_only:
            # Immutable: nothing beside the file is needed, neither log nor shared memory.
            location = f"file:{quote(str(self.path))}?immutable=1"
            connection = apsw.Connection(location, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        else:
            connection = apsw.Connection(
                str(self.path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            )
        try:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            if not self.read_only:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
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
        version = int(select_value(connection, "PRAGMA user_version"))
        if version > SCHEMA_VERSION:
            raise NewerDatabase(
                f"the index {self.path} was made by a newer version of Memlane (format {version})",
                path=self.path,
                hint="upgrade Memlane; memlane index --force sets the file aside and builds an index for this"
                " version",
            )
        if version == 0 and not self.read_only:
            self._create()  # another process was killed while it did: what it had written was rolled back
        elif version < SCHEMA_VERSION:
            self._upgrade(connection)
        if self.read_only or not select(connection, "SELECT 1 FROM notes WHERE key = ?", _UNSETTLED):
            return
        try:
            with writer_lock(self.path, timeout=0):
                self._verify(connection)
                connection.execute("DELETE FROM notes WHERE key = ?", (_UNSETTLED,))
        except StoreBusy:
            return  # the pass is still going on in another process

    def _upgrade(self, connection: apsw.Connection) -> None:
        """Bring a file that an older version made to the present format."""
        if self.read_only:
            raise StoreError(
                f"the index {self.path} was made by an older version of Memlane and cannot be written",
                hint="make it writable, or set another store.path",
            )
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again within the transaction: another process may have been quicker.
            for version in range(int(select_value(connection, "PRAGMA user_version")), SCHEMA_VERSION):
                connection.execute(UPGRADES[version])
                for (generation,) in select(connection, "SELECT id FROM generations"):
                    connection.execute(create_places(generation))
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _is_fresh(self) -> bool:
        """Whether there is nothing at the path yet.

        A SQLite file without our application id, or a file that never was SQLite's, is not ours. One whose
        first page was wiped (all zeros) counts as a damaged one of ours.
        """
        try:
            found = self.path.stat()
            self._inode = found.st_ino
            if not stat.S_ISREG(found.st_mode):
                raise ForeignDatabase(
                    f"{self.path} is no regular file", hint="set store.path to a file for the index"
                )
            with self.path.open("rb") as file:
                head = file.read(_HEADER_BYTES)
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
            raise self._damaged("its first page is empty")
        if not _is_ours(head):
            raise ForeignDatabase(
                f"{self.path} is not an index of Memlane's; it is left untouched",
                hint="set store.path to another file, or move this one away",
            )
        if _is_cut_short(head, found.st_size) and not _has_log(self.path):
            raise self._damaged("it was cut short")
        return False


def is_foreign(path: Path) -> bool:
    """Whether a file that is not an index of ours stands at a path. One that cannot be read is not told."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except OSError:
        return False
    return bool(head.strip(b"\x00")) and not _is_ours(head)


def _is_ours(head: bytes) -> bool:
    return head.startswith(_HEADER) and int.from_bytes(head[68:72], "big") == APPLICATION_ID


def _is_cut_short(head: bytes, size: int) -> bool:
    """Whether a file ends before the last page that its header counts.

    SQLite takes the missing end of the last page for zeros. The count holds only when the version it was
    written for is that of the last change.
    """
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    return size < _HEADER_BYTES or size < pages * (65_536 if page == 1 else page)


def _has_log(path: Path) -> bool:
    """Whether a write-ahead log stands beside the file: then its last pages may still be there."""
    try:
        return Path(f"{path}-wal").stat().st_size > 0
    except OSError:
        return False
