"""Writing: entries for the daily log and for the curated file. Nothing here replaces what stands in a note.

Entries of several processes are put one after the other by a lock file in the workspace's root: there because
every process that writes to these notes shares that folder, whatever state directory it uses; hidden, so that
it is never indexed; not in `memory/`, which people list, watch and put under version control.
"""

# Names are joined for messages only; the disk is reached through descriptors.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime
from typing import TYPE_CHECKING

from ..disk import file_lock, write_all
from ..errors import UsageError, WorkspaceError
from ..values import Written
from .beneath import Folder, read_all
from .decode import UnreadableNote, strict_text
from .entries import Entry, appended, entry_of, heading_of, insertion, standing_line
from .failures import translated, unwritable
from .files import curated_name, missing_workspace
from .roots import MEMORY_FOLDER, Workspace

if TYPE_CHECKING:
    from ..clock import Clock

LOCK_NAME = ".memlane.lock"
CURATED_OPENING = "# Memory\n\n"
_PATIENCE = 30.0
"""Seconds to wait for other writers: each holds the lock for milliseconds."""
_ATTEMPTS = 5


def log_opening(day: date) -> str:
    """What a new daily log begins with."""
    return f"# {day.isoformat()}\n\n"


def remember(
    workspace: Workspace, text: str, *, clock: Clock, durable: bool = False, heading: str | None = None
) -> Written:
    """Add an entry to today's log, or with `durable` to the curated file, there under `heading` when given.

    An entry of the log carries the local time; a durable one does not, since it is to hold at any time. What
    stands in the note already is not added again. Several processes may write at once. Raises UsageError for
    an empty text, WorkspaceError when the note cannot be written or is not UTF-8 text; then the note is as
    it was.
    """
    if heading is not None and not durable:
        raise UsageError("a heading goes with durable=True: the daily log is in the order of time")
    now = clock.now()
    title = None if heading is None else heading_of(heading)
    entry = entry_of(text, time="" if durable else now.strftime("%H:%M"))
    with writing_notes(workspace) as root:
        if durable:
            name = curated_name(workspace.location)
            return _add(root, name, name, entry, opening=CURATED_OPENING, heading=title)
        with _logs(root) as folder:
            name, shown = _log_of(now.date())
            return _add(folder, name, shown, entry, opening=log_opening(now.date()))


def append_to_log(workspace: Workspace, compose: Callable[[str, datetime], str], *, clock: Clock) -> Written:
    """Append to today's log what `compose` makes of its old text and of the time; an empty text adds nothing.

    The log is locked from its reading to the end of the appending, so that what `compose` saw is what stands
    there. Today is the day at that moment. Line endings are those of the log. Raises WorkspaceError as
    `remember` does, and whatever `compose` raises; then the log is as it was.
    """
    with writing_notes(workspace) as root, _logs(root) as folder:
        now = clock.now()
        name, shown = _log_of(now.date())
        location = os.path.join(folder.path, name)
        with translated(location), _opened(folder, name) as descriptor:
            old = old_text(location, read_all(descriptor))
            text = compose(old, now)
            place = appended(old, text, opening=log_opening(now.date()))
            if text:
                _append(descriptor, place.text.encode())
            return Written(shown, place.line, added=bool(text))


def _log_of(day: date) -> tuple[str, str]:
    """The name of a day's log, and how results show it."""
    name = f"{day.isoformat()}.md"
    return name, f"{MEMORY_FOLDER}/{name}"


@contextmanager
def _logs(root: Folder) -> Iterator[Folder]:
    """The folder of the logs, made when it is missing."""
    with translated(os.path.join(root.path, MEMORY_FOLDER)):
        folder = root.enter_or_make(MEMORY_FOLDER)
    with folder:
        yield folder


def _add(
    folder: Folder, name: str, shown: str, entry: Entry, *, opening: str, heading: str | None = None
) -> Written:
    """Add the entry to the note `name`: at its end by appending, within it by a new file in its place."""
    location = os.path.join(folder.path, name)
    with translated(location):
        for _ in range(_ATTEMPTS):
            with _opened(folder, name) as descriptor:
                before = os.fstat(descriptor)
                data = read_all(descriptor)
                old = old_text(location, data)
                standing = standing_line(old, entry)
                if standing is not None:
                    return Written(shown, standing, added=False)
                place = insertion(old, entry, opening=opening, heading=heading)
                written = Written(shown, place.line, added=True)
                if place.at == len(old):
                    _append(descriptor, place.text.encode())
                    return written
            cut = len(old[: place.at].encode())
            new = data[:cut] + place.text.encode() + data[cut:]
            if replaced(folder, name, before, new):
                return written
    raise WorkspaceError(
        f"cannot write {location}: another program keeps changing it", hint="close that program and try again"
    )


def old_text(location: str, data: bytes) -> str:
    """What stands in a note. In another encoding an entry in UTF-8 would be lost: WorkspaceError."""
    try:
        return strict_text(location, data)
    except UnreadableNote as error:
        raise WorkspaceError(
            f"cannot write {location}: it is not UTF-8 text, {error.reason}",
            hint="save it as UTF-8 or move it away, then try again; nothing was written",
        ) from None


@contextmanager
def _opened(folder: Folder, name: str) -> Iterator[int]:
    """A descriptor for reading and appending; a file made for it is taken away again if nothing came in."""
    flags = os.O_RDWR | os.O_APPEND
    try:
        descriptor, made = folder.open(name, flags), False
    except FileNotFoundError:
        descriptor, made = folder.create(name, flags=flags), True
    try:
        yield descriptor
        if made:
            folder.settle()
    finally:
        empty = os.fstat(descriptor).st_size == 0
        os.close(descriptor)
        if made and empty:
            folder.remove(name)


def _append(descriptor: int, data: bytes) -> None:
    """Append all of `data` or nothing: what a full disk leaves half-written is cut off again."""
    size = os.fstat(descriptor).st_size
    try:
        write_all(descriptor, data)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def replaced(folder: Folder, name: str, before: os.stat_result, data: bytes) -> bool:
    """Put a file with `data` in the place of `name`, with its mode and owner.

    False, and nothing done, when the file is no longer as it was `before`: a program that does not know the
    lock has written to it.
    """
    temporary = f".{name}.memlane.tmp"
    with suppress(FileNotFoundError):
        folder.remove(temporary)
    descriptor = folder.create(temporary, 0o600)
    try:
        try:
            write_all(descriptor, data)
            if hasattr(os, "fchmod"):
                with suppress(OSError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
        finally:
            os.close(descriptor)
        if _version(folder.look(name)) != _version(before):
            return False
        folder.rename(temporary, name)
        folder.settle()
        return True
    finally:
        with suppress(OSError):  # once it stands in the place of the note nothing is left to take away
            folder.remove(temporary)


def _version(looked: os.stat_result) -> tuple[int, int, int, int]:
    return looked.st_dev, looked.st_ino, looked.st_size, looked.st_mtime_ns


@contextmanager
def writing_notes(workspace: Workspace) -> Iterator[Folder]:
    """The workspace's root, opened while no other process writes to its notes."""
    location = workspace.location
    lock_file = os.path.join(location, LOCK_NAME)

    def busy() -> WorkspaceError:
        return WorkspaceError(
            f"another process has been writing to {location} for {_PATIENCE:.0f} seconds",
            hint="wait for it to finish, then try again",
        )

    def refused(error: OSError) -> WorkspaceError:
        return unwritable(lock_file, error)

    try:
        root = Folder.trusted(location)
    except FileNotFoundError:
        raise missing_workspace(location) from None
    except OSError as error:
        raise unwritable(location, error) from error
    with root, file_lock(lock_file, timeout=_PATIENCE, busy=busy, refused=refused):
        yield root
