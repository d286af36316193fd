"""What may be read by path: the memory files and the extra paths, never through a link, never anything else.

The decision is made on the text of the path alone, so that a refusal cannot tell whether anything is there;
the opening then trusts nothing it was told.
"""

# Plain strings: pathlib tidies paths, and what is devious must be seen as it was given.
# ruff: noqa: PTH112, PTH117, PTH118, PTH120, PTH206

from __future__ import annotations

import os
import re
from errno import ENAMETOOLONG

from ..errors import PathRefused, WorkspaceError
from ..values import Value
from .beneath import NotPlain, open_beneath
from .files import curated_identities, missing_workspace
from .media import MODALITY_WORDS
from .roots import (
    CURATED_NAMES,
    MEMORY_FOLDER,
    ExtraRoot,
    Workspace,
    below,
    is_hollow,
    is_ignored_file,
    is_ignored_folder,
    is_markdown,
    is_unspeakable,
)

_SHOWN_AT_MOST = 200


class ReadablePath(Value, frozen=True):
    """A path that may be read, if there is anything."""

    path: str
    """As results show it."""
    anchor: str
    """The folder that is trusted: links are followed in it, but not below it."""
    parts: tuple[str, ...]
    """The components below `anchor`."""


def resolve_readable(workspace: Workspace, path: str, *, curated: bool = True) -> ReadablePath:
    """Where `path` leads, by its text alone. Raises PathRefused unless it names something readable.

    Readable are `MEMORY.md`, `memory.md`, Markdown files under `memory/`, and what the extra paths take in;
    relative to the workspace or absolute. Hidden files and folders are not, nor are images and audio files
    that are indexed: they have no lines. With `curated=False` the curated file is refused in any spelling of
    its name.
    """
    location = _location_of(workspace, path)
    shown = workspace.shown(location)
    inside = below(location, workspace.location)
    names = _names(inside or "")
    if not curated and shown.lower() == "memory.md":
        raise _refusal(path, "it is shown in private sessions only")
    if _is_memory_file(names):
        return ReadablePath(shown, workspace.location, names)
    for extra in workspace.extra_roots():
        if _takes_in(extra, location):
            if media := workspace.modality_of(location):
                raise _no_lines(path, MODALITY_WORDS[media])
            if names:
                return ReadablePath(shown, workspace.location, names)
            anchor = os.path.dirname(extra.location)
            return ReadablePath(shown, anchor, _names(below(location, anchor) or ""))
    raise _refusal(path)


def open_readable(workspace: Workspace, target: ReadablePath, *, curated: bool = True) -> int | None:
    """A descriptor of the regular file at `target`, or None where there is no file.

    With `curated=False`, whatever turns out to be the curated file under another name is refused. Raises
    PathRefused for links and irregular files, WorkspaceError when the system does not let us read.
    """
    try:
        descriptor = open_beneath(target.anchor, target.parts)
    except NotPlain:
        raise _refusal(target.path) from None
    except (FileNotFoundError, NotADirectoryError):
        if target.anchor == workspace.location and not os.path.isdir(target.anchor):
            raise missing_workspace(target.anchor) from None
        return None
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            return None
        raise unreadable(target.path, error) from error
    if not curated:
        looked = os.fstat(descriptor)
        if (looked.st_dev, looked.st_ino) in curated_identities(workspace.location):
            os.close(descriptor)
            raise _refusal(target.path, "it is shown in private sessions only")
    return descriptor


def unreadable(path: str, error: OSError) -> WorkspaceError:
    """The error for a note that the system does not let us read."""
    return WorkspaceError(
        f"cannot read {path}: {error.strerror or error}",
        hint="check the permissions of the file and of the folders it lies in",
    )


def _location_of(workspace: Workspace, path: str) -> str:
    """The place on disk that the text of a path means. Raises PathRefused for every devious form."""
    absolute = os.path.isabs(path)
    names = [name for name in path.split("/") if name not in {"", "."}]
    devious = (
        is_unspeakable(path)
        or path.startswith("//")
        or path.endswith("/")
        or (not absolute and (path.startswith("/") or re.match("[A-Za-z]:", path) is not None))
        or any(_is_devious(name) for name in names[1 if absolute and os.name == "nt" else 0 :])
    )
    if devious or not names:
        raise _refusal(path)
    if absolute:
        return (os.sep if path.startswith("/") else "") + os.sep.join(names)
    return os.path.join(workspace.location, *names)


def _is_devious(name: str) -> bool:
    return is_hollow(name) or (os.name == "nt" and ":" in name)  # a colon: a stream of another file


def _names(inside: str) -> tuple[str, ...]:
    return tuple(inside.split(os.sep)) if inside else ()


def _is_memory_file(names: tuple[str, ...]) -> bool:
    if len(names) < 2 or names[0] != MEMORY_FOLDER:
        return len(names) == 1 and names[0] in CURATED_NAMES
    return is_markdown(names[-1]) and _are_plain(names[1:])


def _takes_in(extra: ExtraRoot, location: str) -> bool:
    """Whether an extra path covers the location: it is the very path, or a file below that counts."""
    inside = below(location, extra.location)
    if not inside:
        return inside is not None
    names = _names(inside)
    return extra.accepts("/".join(names)) and _are_plain(names)


def _are_plain(names: tuple[str, ...]) -> bool:
    return not is_ignored_file(names[-1]) and not any(is_ignored_folder(name) for name in names[:-1])


def _no_lines(path: str, kind: str) -> PathRefused:
    return PathRefused(
        f"{_quoted(path)} is {kind}, which has no lines to read",
        hint="searches find it by its name and by what it shows or lets hear; open it with another program",
    )


def _refusal(path: str, reason: str = "") -> PathRefused:
    return PathRefused(
        f"{_quoted(path)} may not be read" + (f": {reason}" if reason else ""),
        hint="readable are MEMORY.md, the .md files under memory/ and the configured extra paths, "
        "each by its plain path, links excluded",
    )


def _quoted(path: str) -> str:
    return repr(path if len(path) <= _SHOWN_AT_MOST else f"{path[:_SHOWN_AT_MOST]}…")
