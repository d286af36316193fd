"""What was said, for a reader: lines of a transcript as text, and whole sessions for export.

Lines are those of the file, as results name them: the range of a result gives what the result was taken from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import PathRefused, UsageError
from ..values import Excerpt
from .folder import unreadable
from .lines import Entries
from .names import RESULT_FOLDER, TranscriptName, transcript_name
from .turns import Turn, turn_of

DEFAULT_LINES = 400
DEFAULT_CHARACTERS = 24_000
MOST_CHARACTERS = 200_000
"""As of notes."""
_BLOCK = 2**20


def named_in(path: str) -> TranscriptName | None:
    """The transcript that a result's path names; None for the paths of notes and for deleted transcripts."""
    folder, _, name = path.partition("/")
    named = transcript_name(name) if folder == RESULT_FOLDER else None
    return None if named is None or named.archive == "deleted" else named


def read_turns(
    folder: Path,
    named: TranscriptName,
    *,
    start: int = 1,
    lines: int | None = None,
    sanitize: Callable[[str], str],
) -> Excerpt:
    """What was said in the lines `start` to `start + lines - 1` of a transcript, secrets masked.

    Without `lines`, at most 400 lines and 24,000 characters; 200,000 characters in any case. Turns are whole,
    but for one that alone exceeds the limit. Lines without a turn count and give no text. A transcript that
    is not there is an empty excerpt with `exists=False`. Raises UsageError for numbers below 1, PathRefused
    for what is no regular file, SessionError when the system does not let us read.
    """
    for name, number in (("start", start), ("lines", lines)):
        if number is not None and number < 1:
            raise UsageError(f"`{name}` must be 1 or more, not {number}", hint="lines are counted from 1")
    location = folder / named.name
    try:
        file = _opened(location, named)
    except FileNotFoundError:
        return Excerpt(named.path, "", start, 0, exists=False)
    except OSError as error:
        raise unreadable(location, error) from error
    with file:
        return _excerpt(file, named.path, start, lines, sanitize)


def turns(location: Path, *, sanitize: Callable[[str], str]) -> Iterator[Turn]:
    """Everything that was said in a transcript, one turn at a time. Raises SessionError."""
    try:
        with location.open("rb") as file:
            for entry in Entries(file):
                turn = turn_of(entry, sanitize)
                if turn is not None:
                    yield turn
    except OSError as error:
        raise unreadable(location, error) from error


def _opened(location: Path, named: TranscriptName) -> BinaryIO:
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if location.is_symlink() or (location.exists() and not location.is_file()):
        raise PathRefused(f"{named.path!r} may not be read: it is no regular file")
    return os.fdopen(os.open(location, flags), "rb")


def _excerpt(
    file: BinaryIO, path: str, start: int, count: int | None, sanitize: Callable[[str], str]
) -> Excerpt:
    offset = _start_of_line(file, start)
    if offset is None:
        return Excerpt(path, "", start, 0, exists=True, eof=True)
    most, limit = (DEFAULT_LINES, DEFAULT_CHARACTERS) if count is None else (count, MOST_CHARACTERS)
    texts: list[str] = []
    characters = 0
    entries = Entries(file, offset=offset, lines=start - 1)
    following = None
    for entry in entries:
        if entry.line >= start + most:
            following = start + most
            break
        turn = turn_of(entry, sanitize)
        if turn is None:
            continue
        characters += len(turn.text) + bool(texts)
        if characters > limit:
            following = entry.line if texts else entry.line + 1
            texts = texts or [turn.text[:limit]]
            break
        texts.append(turn.text)
    covered = (following or entries.lines + 1) - start
    return Excerpt(
        path,
        "\n".join(texts),
        start,
        covered,
        exists=True,
        truncated=following is not None,
        next_start=following,
    )


def _start_of_line(file: BinaryIO, line: int) -> int | None:
    """Where a line begins; None beyond the last one. Nothing is decoded on the way."""
    offset, left = 0, line - 1
    while block := file.read(_BLOCK):
        count = block.count(b"\n")
        if count < left:
            left -= count
            offset += len(block)
            continue
        place = 0
        for _ in range(left):
            place = block.index(b"\n", place) + 1
        file.seek(offset + place)
        return offset + place if file.read(1) else None
    return None
