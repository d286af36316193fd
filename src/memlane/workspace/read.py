"""Reading exact lines of a note by path (`memory_get`)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import UsageError
from ..values import Excerpt
from .beneath import read_all
from .decode import readable_text
from .paths import ReadablePath, open_readable, resolve_readable, unreadable
from .roots import Workspace

DEFAULT_LINES = 400
DEFAULT_CHARACTERS = 24_000


def read_lines(
    workspace: Workspace, path: str, *, start: int = 1, lines: int | None = None, curated: bool = True
) -> Excerpt:
    r"""Lines `start` to `start + lines - 1` of the note at `path`, joined by `\n`.

    Without `lines`, at most 400 lines and 24,000 characters, yet always a whole line. `next_start` says where
    to go on when more lines follow. Undecodable bytes read as U+FFFD. A note that does not exist is an empty
    excerpt with `exists=False`. Raises UsageError for numbers below 1, PathRefused for a path that may not be
    read, WorkspaceError when the system does not let us read.
    """
    for name, number in (("start", start), ("lines", lines)):
        if number is not None and number < 1:
            raise UsageError(f"`{name}` must be 1 or more, not {number}", hint="lines are counted from 1")
    target = resolve_readable(workspace, path, curated=curated)
    text = read_text(workspace, target, curated=curated)
    if text is None:
        return Excerpt(target.path, "", start, 0, exists=False)
    return excerpt(target.path, split_lines(text), start, lines)


def read_text(workspace: Workspace, target: ReadablePath, *, curated: bool = True) -> str | None:
    """The whole text of a note for a reader, or None where there is none. Raises as `open_readable`."""
    descriptor = open_readable(workspace, target, curated=curated)
    if descriptor is None:
        return None
    try:
        return readable_text(read_all(descriptor))
    except OSError as error:
        raise unreadable(target.path, error) from error
    finally:
        os.close(descriptor)


def split_lines(text: str) -> list[str]:
    r"""The lines of a text whose lines end in `\n` only. A final newline is not a line; "" has none."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def excerpt(path: str, lines: Sequence[str], start: int, count: int | None) -> Excerpt:
    """The part of `lines` that a reader asked for, or what fits the default limits when `count` is None."""
    if start > len(lines):
        return Excerpt(path, "", start, 0, exists=True, eof=True)
    if count is None:
        count = _fitting(lines[start - 1 : start - 1 + DEFAULT_LINES])
    taken = lines[start - 1 : start - 1 + count]
    following = start + len(taken)
    more = following <= len(lines)
    return Excerpt(
        path,
        "\n".join(taken),
        start,
        len(taken),
        exists=True,
        truncated=more,
        next_start=following if more else None,
    )


def _fitting(lines: Sequence[str]) -> int:
    """How many of the lines fit the default number of characters: at least one, so that reading goes on."""
    characters = -1
    for number, line in enumerate(lines):
        characters += len(line) + 1
        if characters > DEFAULT_CHARACTERS:
            return max(number, 1)
    return len(lines)
