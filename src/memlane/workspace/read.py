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
MOST_CHARACTERS = 200_000
"""However many lines are asked for: a reader who wants that much does better to ask for it in pages."""


def read_lines(
    workspace: Workspace, path: str, *, start: int = 1, lines: int | None = None, curated: bool = True
) -> Excerpt:
    r"""Lines `start` to `start + lines - 1` of the note at `path`, joined by `\n`.

    At most 200,000 characters; without `lines`, at most 400 lines and 24,000 characters. Lines are whole, but
    for one that alone exceeds the limit: it is cut. `truncated` says that the text does not reach the end of
    the note, `next_start` which line follows. Undecodable bytes read as U+FFFD. A note that does not exist is
    an empty excerpt with `exists=False`. Raises UsageError for numbers below 1, PathRefused for a path that
    may not be read, WorkspaceError when the system does not let us read.
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
    """The part of `lines` that a reader asked for, or what fits the default limits when `count` is None.

    After a cut line the next one is where to go on, even where that is beyond the end.
    """
    if start > len(lines):
        return Excerpt(path, "", start, 0, exists=True, eof=True)
    most, limit = (DEFAULT_LINES, DEFAULT_CHARACTERS) if count is None else (count, MOST_CHARACTERS)
    wanted = lines[start - 1 : start - 1 + most]
    taken = wanted[: _fitting(wanted, limit)]
    text = "\n".join(taken)
    following = start + len(taken)
    more = following <= len(lines) or len(text) > limit
    return Excerpt(
        path,
        text[:limit],
        start,
        len(taken),
        exists=True,
        truncated=more,
        next_start=following if more else None,
    )


def _fitting(lines: Sequence[str], limit: int) -> int:
    """How many of the lines fit the number of characters: at least one, so that reading goes on."""
    characters = -1
    for number, line in enumerate(lines):
        characters += len(line) + 1
        if characters > limit:
            return max(number, 1)
    return len(lines)
