"""How Memlane's own files are made, locked and set aside. The user's files are the workspace's matter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import O_CREAT, O_RDWR, close, fsync, getpid, kill
from os import open as open_descriptor
from pathlib import Path
from sys import platform
from time import sleep, time_ns
from typing import NamedTuple

from .clock import SystemClock
from .errors import MemlaneError, StoreBusy, StoreError

_TICK_NS = 20_000_000
_POLL_SECONDS = 0.01
"""Most locks are held for milliseconds."""


def create_private(path: Path) -> None:
    """Make sure `path` exists, readable by the owner alone (0600), in folders of the owner's (0700).

    What exists already keeps its mode. SQLite gives its write-ahead log and shared memory the mode of the
    database, so this covers them too. Raises StoreError naming the path.
    """
    try:
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        close(open_descriptor(path, O_CREAT | O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"cannot create {path}: {error.strerror or error}",
            hint="check the permissions and the space of that folder, or set another store.path",
        ) from error


def move_aside(path: Path) -> Path:
    """Rename a damaged database and its companions with a time stamp; nothing is deleted.

    Gives the new path. The stamp is counted up when two files are set aside within one second. Raises
    FileNotFoundError when another process was quicker, StoreError when the folder cannot be written.
    """
    stamp = SystemClock().now().strftime("%Y%m%dT%H%M%S")
    number = 0
    while (aside := path.with_name(f"{path.name}.corrupt-{stamp}{f'-{number}' if number else ''}")).exists():
        number += 1
    try:
        path.replace(aside)
        for companion in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{path}{companion}").replace(f"{aside}{companion}")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(
            f"cannot set the damaged file {path} aside: {error.strerror or error}",
            hint="move it away or delete it: it is made again from the notes",
        ) from error
    return aside


class LockOwner(NamedTuple):
    """Who holds the writer's lock of an index."""

    pid: int
    host: str
    since: str
    """ISO time."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


@contextmanager
def writer_lock(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the lock that lets one process at a time write beside `path`.

    Raises StoreBusy after `timeout` seconds, naming the holder.
    """
    lock_file = Path(f"{path}.lock")

    def busy() -> StoreBusy:
        return StoreBusy(_busy_message(path, lock_owner(path)), hint="wait for it to finish, then try again")

    def refused(error: OSError) -> StoreError:
        return StoreError(
            f"cannot lock {lock_file}: {error.strerror or error}",
            hint="check the permissions of that folder, its disk, and how many files are open",
        )

    create_private(lock_file)
    with file_lock(lock_file, timeout=timeout, busy=busy, refused=refused):
        try:
            _sign(path)
            yield
        finally:
            with suppress(OSError):
                _owner_file(path).unlink(missing_ok=True)


@contextmanager
def file_lock(
    path: Path | str,
    *,
    timeout: float,
    busy: Callable[[], MemlaneError],
    refused: Callable[[OSError], MemlaneError],
) -> Iterator[None]:
    """Hold a lock file, made with mode 0600. The operating system frees it when its holder dies.

    Raises what `busy` gives after `timeout` seconds, and what `refused` makes of the system's error.
    """
    import filelock  # 70 ms: it brings asyncio

    lock = filelock.FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
    except filelock.Timeout as error:
        raise busy() from error
    except OSError as error:
        raise refused(error) from error
    try:
        yield
    finally:
        lock.release()


def lock_owner(path: Path) -> LockOwner | None:
    """Who is writing beside `path`, or None when nobody is, as far as can be told from here.

    For people to read; the lock itself is the system's. What a process left that has died since is passed
    over; one on another host is believed.
    """
    try:
        pid, host, since = _owner_file(path).read_text("utf-8").split("\n")[:3]
        owner = LockOwner(int(pid), host, since)
    except (OSError, ValueError):
        return None
    return owner if owner.host != _host() or _is_alive(owner.pid) else None


def _host() -> str:
    from socket import gethostname  # 5 ms; a search that finds nothing to do needs none

    return gethostname()


def _owner_file(path: Path) -> Path:
    return Path(f"{path}.owner")


def _sign(path: Path) -> None:
    """Say who holds the lock. A full disk must not keep the work from being tried."""
    with suppress(OSError, StoreError):
        create_private(_owner_file(path))
        since = SystemClock().now().isoformat(timespec="seconds")
        _owner_file(path).write_text(f"{getpid()}\n{_host()}\n{since}\n", "utf-8")


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    if platform == "win32":  # there, a signal of 0 would end the process
        return True
    try:
        kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is someone else's
    return True


def _busy_message(path: Path, owner: LockOwner | None) -> str:
    if owner is None:
        return f"another process is writing the index {path}"
    if (owner.pid, owner.host) == (getpid(), _host()):
        return f"this process is writing the index {path} already, since {owner.since}"
    return f"another process is writing the index {path}: {owner}"


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data` and have it settle on the disk. Raises OSError, with any part of it written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def wait_past(mtime_ns: int) -> None:
    """Sleep until the file system's clock has moved on from a time stamp, at most 20 ms.

    A file written twice within one tick keeps its time stamp; read before the tick is over, the second
    write would never be noticed.
    """
    left = mtime_ns + _TICK_NS - time_ns()
    if 0 < left <= _TICK_NS:
        sleep(left / 1e9)


def write_private(path: Path, data: bytes) -> None:
    """Put a file of the owner's alone (0600) in its place, whole or not at all, and on disk.

    Raises StoreError naming the path.
    """
    new = path.with_name(f".{path.name}.new")
    create_private(new)
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}",
            hint="check the permissions and the space of that folder",
        ) from error
