"""Making a workspace: the folder, `memory/`, an empty curated file and today's log. Never over anything."""

# Names are joined for messages only; the disk is reached through descriptors.
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

from ..disk import write_all
from ..errors import UsageError, WorkspaceError
from .beneath import Folder
from .daily import CURATED_OPENING, log_opening
from .failures import reason_of, remedy, translated
from .files import curated_name
from .roots import MEMORY_FOLDER


def create_workspace(root: Path, *, today: date) -> tuple[str, ...]:
    """Make what is missing of a workspace at `root`; gives what was made, folders ending in `/`.

    The root is named in full, the rest relative to it. A new root is the owner's alone (0700). Files and
    folders that stand there already stay as they are. Raises WorkspaceError when something cannot be made, or
    a link or anything else stands in its place: what is not there in person would never be searched.
    """
    if not root.is_absolute():
        raise UsageError(f"the workspace must be an absolute path, not {str(root)!r}")
    location = str(root)
    log = f"{today.isoformat()}.md"
    made = []
    try:
        if not root.exists():
            root.parent.mkdir(parents=True, exist_ok=True)
            root.mkdir(mode=0o700)
            made.append(f"{root}/")
        folder = Folder.trusted(location)
    except OSError as error:
        raise _impossible(root, error) from error
    with folder:
        curated = curated_name(location)
        with translated(os.path.join(location, curated)):
            has_curated = folder.holds(curated)
        with translated(os.path.join(location, MEMORY_FOLDER)):
            has_memory = folder.stands(MEMORY_FOLDER)
            memory = folder.enter_or_make(MEMORY_FOLDER)
        with memory, translated(os.path.join(memory.path, log)):
            has_log = memory.holds(log)
            if not has_curated:
                with translated(os.path.join(location, curated)):
                    _put(folder, curated, CURATED_OPENING)
                made.append(curated)
            made += [] if has_memory else [f"{MEMORY_FOLDER}/"]
            if not has_log:
                _put(memory, log, log_opening(today))
                made.append(f"{MEMORY_FOLDER}/{log}")
    return tuple(made)


def _impossible(root: Path, error: OSError) -> WorkspaceError:
    """The error for a folder that cannot be made or entered, with the path that is in the way."""
    nearest = next((path for path in (root, *root.parents) if os.path.lexists(path)), root)
    if os.path.isdir(nearest):
        reason, hint = reason_of(error), remedy(error, "choose a folder that you may write to")
    else:
        reason = f"{nearest} is {'a link that leads nowhere' if nearest.is_symlink() else 'not a folder'}"
        hint = "move it away, or choose another folder"
    return WorkspaceError(f"cannot make the workspace {root}: {reason}", hint=hint)


def _put(folder: Folder, name: str, text: str) -> None:
    descriptor = folder.create(name)
    try:
        write_all(descriptor, text.encode())
    except BaseException:
        os.close(descriptor)
        folder.remove(name)
        raise
    os.close(descriptor)
