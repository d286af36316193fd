"""Taking lines out of a note, or a whole note away, because its owner says so. Nothing else removes text."""

# Names are joined for messages only; the disk is reached through descriptors.
# ruff: noqa: PTH119, PTH120, PTH206

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..errors import WorkspaceError
from .beneath import Folder, read_all
from .daily import old_text, replaced, writing_notes
from .failures import translated
from .roots import Workspace, below

_BOM = "\ufeff"
_ATTEMPTS = 5
_Choose = Callable[[str], set[int]]
"""The lines of a text that go, counted from 0."""


def remove_lines(workspace: Workspace, location: str, choose: _Choose) -> list[int]:
    r"""Take the lines that `choose` names out of the note at a location; gives them, counted from 1.

    `choose` sees the text as indexes do: without BOM, with `\n` line ends. All other bytes stay as they are.
    In turn with all that writes to these notes. Raises WorkspaceError when the note cannot be written; then
    it is as it was.
    """
    with writing_notes(workspace) as root, translated(location), _parent(workspace, root, location) as folder:
        name = os.path.basename(location)
        for _ in range(_ATTEMPTS):
            try:
                descriptor = folder.open(name)
            except FileNotFoundError:
                return []
            try:
                before = os.fstat(descriptor)
                text = old_text(location, read_all(descriptor))
            finally:
                os.close(descriptor)
            plain = text.removeprefix(_BOM)
            gone = choose(plain.replace("\r\n", "\n"))
            if not gone:
                return []
            kept = "\n".join(line for number, line in enumerate(plain.split("\n")) if number not in gone)
            mark = _BOM if plain != text else ""
            if replaced(folder, name, before, f"{mark}{kept}".encode()):
                return sorted(number + 1 for number in gone)
    raise WorkspaceError(
        f"cannot write {location}: another program keeps changing it", hint="close that program and try again"
    )


def delete_note(workspace: Workspace, location: str) -> bool:
    """Delete the note at a location; False when it is gone already. Raises WorkspaceError."""
    with writing_notes(workspace) as root, translated(location), _parent(workspace, root, location) as folder:
        try:
            folder.remove(os.path.basename(location))
        except FileNotFoundError:
            return False
        folder.settle()
    return True


@contextmanager
def _parent(workspace: Workspace, root: Folder, location: str) -> Iterator[Folder]:
    """The folder of a note, entered below the workspace without following a link."""
    inside = below(os.path.dirname(location), workspace.location)
    if inside is None:
        with Folder.trusted(os.path.dirname(location)) as folder:
            yield folder
        return
    folder, names = root, inside.split(os.sep) if inside else []
    opened: list[Folder] = []
    try:
        for name in names:
            folder = folder.enter(folder.spelling(name))
            opened.append(folder)
        yield folder
    finally:
        with suppress(OSError):
            for one in opened:
                one.close()
