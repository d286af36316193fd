"""What is forgotten is not shown to an agent either, where the Markdown still holds it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from ..errors import MemlaneError
from ..tombstones.ledger import Ledger, ledger_path
from ..tombstones.match import Tombstones
from ..values import Excerpt
from ..workspace import Workspace, read_document, scan_tree


def tombstones_of(state_dir: Path, agent: str) -> Tombstones:
    """What an agent has forgotten. Raises StoreError."""
    return Ledger(ledger_path(state_dir, agent)).read()


def shown(forgotten: Tombstones) -> Callable[[str, str], str]:
    """Gives of a path and the text of its note what of that may be shown."""

    def without(path: str, text: str) -> str:
        return "" if forgotten.forgets_path(path) else forgotten.without(text)

    return without


def hidden(forgotten: Tombstones, workspace: Workspace, excerpt: Excerpt) -> Excerpt:
    """Lines of a note with an empty line in the place of each forgotten one; none of a forgotten note."""
    if not forgotten or not excerpt.exists:
        return excerpt
    if forgotten.forgets_path(excerpt.path):
        return Excerpt(excerpt.path, "", excerpt.start, 0, exists=False)
    lines = excerpt.text.split("\n")
    for number in _gone(forgotten, workspace, excerpt):
        if 0 <= number - excerpt.start + 1 < len(lines):
            lines[number - excerpt.start + 1] = ""
    return replace(excerpt, text="\n".join(lines))


def text_of(workspace: Workspace, path: str) -> str | None:
    """The text of the note that results show at a path; None where there is none that can be read."""
    for entry in scan_tree(workspace).files:
        if entry.path == path:
            with suppress(MemlaneError):
                return read_document(entry.location).text
    return None


def _gone(forgotten: Tombstones, workspace: Workspace, excerpt: Excerpt) -> set[int]:
    """The forgotten lines of the note, from 0; where only the excerpt can be read, those of it."""
    text = text_of(workspace, excerpt.path)
    if text is not None:
        return forgotten.forgotten_lines(text)
    return {number + excerpt.start - 1 for number in forgotten.forgotten_lines(excerpt.text)}
