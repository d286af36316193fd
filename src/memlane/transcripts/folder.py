"""The folder of an agent's sessions: one writer at a time, private modes, and errors that say what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import SessionError

_LOCK_NAME = ".memlane.lock"
"""Not `sessions.json.lock`: the platform makes and removes a file of that name by rules of its own."""
_PATIENCE = 30.0


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make the folder and hold its lock. The system frees it when its holder dies. Raises SessionError."""
    import filelock  # 70 ms: it brings asyncio

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / _LOCK_NAME, mode=0o600)
        lock.acquire(timeout=_PATIENCE, poll_interval=0.01)
    except filelock.Timeout as error:
        raise SessionError(
            f"another process has been writing to {folder} for {_PATIENCE:.0f} seconds",
            hint="wait for it to finish, then try again",
        ) from error
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        yield
    finally:
        lock.release()


def settle_folder(folder: Path) -> None:
    """Have the names in a folder settle on the disk, where the system lets us."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unwritable(path: Path, error: OSError) -> SessionError:
    """The error for what cannot be written."""
    return SessionError(
        f"cannot write {path}: {error.strerror or error}",
        hint="check the permissions and the space of that folder, or set another --state-dir",
    )


def unreadable(path: Path, error: OSError) -> SessionError:
    """The error for what cannot be read."""
    return SessionError(
        f"cannot read {path}: {error.strerror or error}",
        hint="check the permissions of the file and of the folders it lies in",
    )
