"""Where notes may lie: the workspace, the extra paths, and the names that never count as notes.

The one description behind the scan of the tree and behind reading by path, so that what is found can be read
and what cannot be read is not found. Nothing here touches the disk.
"""

# Plain strings: compared for every folder of a walk.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import UsageError
from ..values import Modality, Value
from .media import MediaRules

MEMORY_FOLDER = "memory"
CURATED_NAMES = ("MEMORY.md", "memory.md")
"""The curated file's names in the order they are looked for."""

IGNORED_FOLDERS = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".obsidian", ".trash"}
)

_UNSPEAKABLE = r"(?i)[\\\x00\ud800-\udfff]|%(?:25)*(?:2e|2f|5c|00)"
_MARKS = {"\\": "a backslash", "\0": "a NUL character"}
_CODES = {"2e": "dot", "2f": "slash", "5c": "backslash", "00": "NUL character"}
_GLOB_PIECE = r"(?s)(?:\*\*/)+|\*\*+|\*|\?|\[!?\]?[^\]/]*\]|\{[^{}]*\}|."


class ExtraPath(Value, frozen=True):
    """A configured folder or file outside the standard memory files."""

    path: str
    """Absolute, relative to the workspace, or beginning with `~/`."""
    pattern: str | None = None
    """Glob over paths relative to the folder; None means every `.md` file, and where images and audio are
    indexed, every such file. Any other pattern governs both. A file is taken as it is."""
    evergreen: bool = True


class ExtraRoot(Value, frozen=True):
    """An extra path located on disk."""

    location: str
    configured: ExtraPath
    accepts: Callable[[str], bool]
    """Whether a file below counts, by its path relative to `location` with `/`."""


class Workspace(Value, frozen=True):
    """What may be indexed and read: the folder with the notes, and extra paths.

    Raises UsageError when `root` is not absolute, or an extra path begins with `~` and `home` is not given.
    """

    root: Path
    extra_paths: tuple[ExtraPath, ...] = ()
    home: Path | None = None
    """What `~` stands for."""
    media: MediaRules | None = None
    """Which images and audio files under the extra paths are indexed; None means none."""

    def __post_init__(self) -> None:
        if not self.root.is_absolute():
            raise UsageError(f"the workspace must be an absolute path, not {str(self.root)!r}")
        for extra in self.extra_paths:
            self._locate(extra)

    @property
    def location(self) -> str:
        """The workspace folder as plain text, without `.` and `..`."""
        return _tidy(str(self.root))

    def extra_roots(self) -> Iterator[ExtraRoot]:
        """The extra paths on disk, deepest first: of two that overlap, the closer one speaks for a file."""
        located = [(self._locate(extra), extra) for extra in self.extra_paths]
        for location, extra in sorted(located, key=lambda pair: -pair[0].count(os.sep)):
            yield ExtraRoot(location, extra, accepted_by(extra.pattern, self.media))

    def modality_of(self, name: str) -> Modality | None:
        """What a file under an extra path is, by its name; None for a note."""
        return self.media.modality_of(name) if self.media is not None else None

    def shown(self, location: str) -> str:
        """`location` as results show it: relative to the workspace inside it, absolute outside, with `/`."""
        inside = below(location, self.location)
        return (location if inside is None else inside).replace(os.sep, "/")

    def _locate(self, extra: ExtraPath) -> str:
        path = extra.path
        if path == "~" or path.startswith(("~/", f"~{os.sep}")):
            if self.home is None:
                raise UsageError(f"extra path {path!r}: the home folder is not known; write the path in full")
            path = f"{self.home}{path[1:]}"
        return _tidy(os.path.join(self.location, path))


def _tidy(path: str) -> str:
    tidy = os.path.normpath(path)
    return tidy[1:] if os.sep == "/" and tidy.startswith("//") else tidy


def below(location: str, folder: str) -> str | None:
    """The part of `location` below `folder` ("" for the folder itself), or None when it lies elsewhere."""
    if location == folder:
        return ""
    prefix = folder if folder.endswith(os.sep) else folder + os.sep
    return location[len(prefix) :] if location.startswith(prefix) else None


def is_markdown(name: str) -> bool:
    """Whether a file's name ends in `.md`, in any case."""
    return name[-3:].lower() == ".md"


def is_ignored_folder(name: str) -> bool:
    """Hidden folders, and those that hold other programs' files."""
    return name.startswith(".") or name in IGNORED_FOLDERS


def is_ignored_file(name: str) -> bool:
    """Hidden, temporary, backup and swap files."""
    return (
        name.startswith((".", "~$"))
        or name.endswith("~")
        or (name.startswith("#") and name.endswith("#"))
        or name.lower().endswith((".swp", ".swo", ".swx", ".tmp"))
    )


def is_unspeakable(path: str) -> bool:
    """Whether a path, or a name in it, cannot be given to a reader safely.

    True for backslashes and NUL, for percent-encoded dots, separators and NULs (encoded once or more), and
    for names that are not valid UTF-8. `is_hollow` finds the rest.
    """
    if path.isascii() and not ("%" in path or "\\" in path or "\0" in path):
        return False
    return re.search(_UNSPEAKABLE, path) is not None


def fault_of(path: str) -> str:
    """Why a path is unspeakable, or its last name hollow: the first reason that applies, in words."""
    found = re.search(_UNSPEAKABLE, path)
    if found is None:
        return "its name is nothing but dots and spaces"
    if found[0] in _MARKS:
        return f"its name holds {_MARKS[found[0]]}"
    if found[0].startswith("%"):
        return f"its name holds {found[0]}, a URL-encoded {_CODES[found[0][-2:].lower()]}"
    return "its name is not valid UTF-8"


def is_hollow(name: str) -> bool:
    """Whether a name is `..` or something that Windows takes for it: dots and spaces only."""
    return not name.strip(". ")


def accepted_by(pattern: str | None, media: MediaRules | None = None) -> Callable[[str], bool]:
    """The test of an extra folder's pattern; letter case does not count, as it does not for `.md`.

    The usual pattern, every `.md` file, is about notes and hides no media.
    """
    if pattern is None or pattern == "**/*.md":
        if media is None:
            return is_markdown
        return lambda relative: is_markdown(relative) or media.modality_of(relative) is not None
    expression = re.compile(glob_expression(pattern), re.IGNORECASE)
    return lambda relative: expression.fullmatch(relative) is not None


def glob_expression(pattern: str) -> str:
    """A glob as a regular expression over paths with `/`.

    `*` and `?` stay within one component, `**/` stands for any number of components (none, too), `[a-z]` and
    `[!a-z]` for one character, `{md,txt}` for either alternative. Any other text stands for itself.
    """
    return "".join(_translated(piece) for piece in re.findall(_GLOB_PIECE, pattern.removeprefix("./")))


def _translated(piece: str) -> str:
    if piece.endswith("**/"):
        return r"(?:[^/]+/)*"
    if piece in {"*", "?"}:
        return "[^/]*" if piece == "*" else "[^/]"
    if piece.startswith("**"):
        return r".*"
    if len(piece) > 2 and piece[0] == "[":
        return _character_set(piece[1:-1])
    if len(piece) > 2 and piece[0] == "{":
        return "(?:" + "|".join(glob_expression(option) for option in piece[1:-1].split(",")) + ")"
    return re.escape(piece)


def _character_set(content: str) -> str:
    negated, members = content.startswith("!"), content.removeprefix("!")
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    expression = f"(?!/)[{'^' if negated else ''}{members}]"
    try:
        re.compile(expression)
    except re.error:
        return re.escape(f"[{content}]")
    return expression
