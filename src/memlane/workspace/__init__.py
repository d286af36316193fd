"""The workspace: the notes on disk. What counts as a note, what may be read, and how notes are written.

roots     where notes may lie, and names that never count         pure
files     the walk over the tree
beneath   opening without following links
paths     which paths may be read
decode    bytes to text
media     which pictures and sounds count, and what they are       pure
media_file  reading them
read      exact lines of a note
sections  where headings stand                                     pure
entries   what an entry looks like and where it goes               pure
daily     remembering: appending to logs and the curated file
remove    taking lines or whole notes away, because their owner says so
context   what a session starts with
create    making a workspace
watch     waiting for changes to notes
failures  what keeps a note from being written, in words
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .context import oversized_notes, session_context
    from .create import create_workspace
    from .daily import append_to_log, remember
    from .decode import UnreadableNote, read_document
    from .files import dated_day, is_readable, scan_tree
    from .media import MediaRules, media_text
    from .media_file import MediaFile, inspect_media, read_media
    from .paths import ReadablePath, open_readable, resolve_readable
    from .read import read_lines
    from .roots import ExtraPath, Workspace, glob_expression

__all__ = [
    "ExtraPath",
    "MediaFile",
    "MediaRules",
    "ReadablePath",
    "UnreadableNote",
    "Workspace",
    "append_to_log",
    "create_workspace",
    "dated_day",
    "glob_expression",
    "inspect_media",
    "is_readable",
    "media_text",
    "open_readable",
    "oversized_notes",
    "read_document",
    "read_lines",
    "read_media",
    "remember",
    "resolve_readable",
    "scan_tree",
    "session_context",
]

_HOMES = {
    "ExtraPath": "roots",
    "MediaFile": "media_file",
    "MediaRules": "media",
    "ReadablePath": "paths",
    "UnreadableNote": "decode",
    "Workspace": "roots",
    "append_to_log": "daily",
    "create_workspace": "create",
    "dated_day": "files",
    "glob_expression": "roots",
    "inspect_media": "media_file",
    "is_readable": "files",
    "media_text": "media",
    "open_readable": "paths",
    "oversized_notes": "context",
    "read_document": "decode",
    "read_lines": "read",
    "read_media": "media_file",
    "remember": "daily",
    "resolve_readable": "paths",
    "scan_tree": "files",
    "session_context": "context",
}


def __getattr__(name: str) -> object:
    """A public name, its module imported at first use: a search needs a third of this room."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
