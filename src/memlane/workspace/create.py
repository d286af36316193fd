"""Making a workspace: the folder, `memory/`, an empty curated file and today's log. Never over anything."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

from ..errors import UsageError, WorkspaceError
from .beneath import Folder, NotPlain
from .daily import CURATED_OPENING, log_opening
from .roots import CURATED_NAMES, MEMORY_FOLDER


def create_workspace(root: Path, *, today: date) -> tuple[str, ...]:
    """Make what is missing of a workspace at `root`; gives what was made, folders ending in `/`.

    The root is named in full, the rest relative to it. A new root is the owner's alone (0700). Anything that
    stands there already stays as it is, links included. Raises WorkspaceError when something cannot be made.
    """
    if not root.is_absolute():
        raise UsageError(f"the workspace must be an absolute path, not {str(root)!r}")
    made = []
    try:
        if not root.exists():
            root.parent.mkdir(parents=True, exist_ok=True)
            root.mkdir(mode=0o700)
            made.append(f"{root}/")
        with Folder.trusted(str(root)) as folder:
            if not any(_stands(folder, name) for name in CURATED_NAMES):
                _put(folder, CURATED_NAMES[0], CURATED_OPENING)
                made.append(CURATED_NAMES[0])
            if not _stands(folder, MEMORY_FOLDER):
                made.append(f"{MEMORY_FOLDER}/")
            made += _log(folder, today)
    except OSError as error:
        raise WorkspaceError(
            f"cannot make the workspace {root}: {error.strerror or 'not a folder'}",
            hint="choose a folder that you may write to",
        ) from error
    return tuple(made)


def _log(root: Folder, today: date) -> list[str]:
    name = f"{today.isoformat()}.md"
    try:
        memory = root.enter_or_make(MEMORY_FOLDER)
    except NotPlain:
        return []
    with memory:
        if _stands(memory, name):
            return []
        _put(memory, name, log_opening(today))
        return [f"{MEMORY_FOLDER}/{name}"]


def _stands(folder: Folder, name: str) -> bool:
    try:
        folder.look(name)
    except FileNotFoundError:
        return False
    return True


def _put(folder: Folder, name: str, text: str) -> None:
    descriptor = folder.create(name)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
