"""Writing: entries for the daily log and for the curated file. Nothing here replaces what stands in a note.

Entries of several processes are put one after the other by a lock file in the workspace's root: there because
every process that writes to these notes shares that folder, whatever state directory it uses; hidden, so that
it is never indexed; not in `memory/`, which people list, watch and put under version control.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from errno import EDQUOT, ENOSPC

from ..clock import Clock
from ..errors import UsageError, WorkspaceError
from .beneath import Folder, NotPlain, read_all
from .entries import Entry, entry_of, heading_of, insertion, standing_line
from .files import curated_name, missing_workspace
from .roots import MEMORY_FOLDER, Workspace
from ..values import Written

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
    an empty text, WorkspaceError when the note cannot be written; then the note is as it was.
    """
    if heading is not None and not durable:
        raise UsageError("a heading goes with durable=True: the daily log is in the order of time")
    now = clock.now()
    title = None if heading is None else heading_of(heading)
    entry = entry_of(text, time="" if durable else now.strftime("%H:%M"))
    with _writing(workspace) as root:
        if durable:
            name = curated_name(workspace.location)
            return _add(root, name, name, entry, opening=CURATED_OPENING, heading=title)
        name = f"{now.date().isoformat()}.md"
        shown = f"{MEMORY_FOLDER}/{name}"
        with _translated(shown), root.enter_or_make(MEMORY_FOLDER) as folder:
            return _add(folder, name, shown, entry, opening=log_opening(now.date()))


def _add(
    folder: Folder, name: str, shown: str, entry: Entry, *, opening: str, heading: str | None = None
) -> Written:
    with _translated(os.path.join(folder.path, name)):
        for _ in range(_ATTEMPTS):
            descriptor, made = _opened(folder, name)
            try:
                before = os.fstat(descriptor)
                data = read_all(descriptor)
                old = data.decode("utf-8", "surrogateescape")
                standing = standing_line(old, entry)
                if standing is not None:
                    return Written(shown, standing, added=False)
                place = insertion(old, entry, opening=opening, heading=heading)
                if place.at == len(old):
                    _append(descriptor, place.text.encode())
                    ...
            finally:
                os.close(descriptor)
    raise WorkspaceError(...)
