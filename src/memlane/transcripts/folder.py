"""The folder of an agent's sessions: one writer at a time, private modes, and errors that say what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..disk import file_lock
from ..errors import SessionError

_LOCK_NAME = ".memlane.lock"
"""Not `sessions.json.lock`: the platform makes and removes a file of that name by rules of its own."""
_PATIENCE = 30.0


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make the folder and hold its lock. Raises SessionError."""

    def busy() -> SessionError:
        return SessionError(
            f"another process has been writing to {folder} for {_PATIENCE:.0f} seconds",
            hint="wait for it to finish, then try again",
        )

    def refused(error: OSError) -> SessionError:
        return unwritable(folder, error)

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise refused(error) from error
    with file_lock(folder / _LOCK_NAME, timeout=_PATIENCE, busy=busy, refused=refused):
        yield


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
