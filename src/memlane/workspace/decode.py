"""Bytes to text: strictly for indexing, leniently for reading."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import WorkspaceError
from ..values import Document
from .beneath import Folder, NotPlain, read_all

_BOM = "\ufeff"


class UnreadableNote(WorkspaceError):  # noqa: N818 - reads as a statement of fact
    """A note whose text cannot be had. The message names the file; `reason` says only what is wrong."""

    code = "unreadable_note"

    def __init__(self, location: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{location}: {reason}", hint=hint)
        self.reason = reason


def read_document(location: str) -> Document:
    """The text of the note at `location` and its digest; CRLF, BOM and LF forms of a text are the same.

    Raises UnreadableNote (a WorkspaceError) when the file is not UTF-8, holds NUL, cannot be opened, is no
    regular file, or is no longer there.
    """
    from hashlib import sha256  # 4 ms: loads OpenSSL

    text = _plain(strict_text(location, _bytes_at(location)))
    return Document(text, sha256(text.encode()).hexdigest())


def strict_text(location: str, data: bytes) -> str:
    """`data`, which is what stands at `location`, as text, with its BOM and line endings.

    Raises UnreadableNote when it is not UTF-8 or holds NUL, with the first such byte.
    """
    nul = data.find(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if nul < 0 or error.start < nul:
            reason = f"invalid UTF-8 at byte {error.start}"
            raise UnreadableNote(location, reason, hint="save the file as UTF-8") from None
    if nul >= 0:
        raise UnreadableNote(location, f"NUL at byte {nul}", hint="this is not a text file, or it is UTF-16")
    return text


def readable_text(data: bytes) -> str:
    r"""`data` for a reader's eyes: BOM dropped, lines ended by `\n`, undecodable bytes as U+FFFD."""
    return _plain(data.decode("utf-8", "replace"))


@contextmanager
def opened(location: str) -> Iterator[int]:
    """A descriptor of the regular file at `location`, read from its beginning; links are not followed.

    Raises UnreadableNote when it cannot be opened, also for what the system says while it is read.
    """
    folder, name = os.path.split(location)
    try:
        with Folder.trusted(folder) as entered:
            descriptor = entered.open(name)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
    except NotPlain:
        raise UnreadableNote(location, "no longer a regular file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableNote(location, "no longer there") from None
    except OSError as error:
        raise UnreadableNote(location, f"cannot be read: {error.strerror or error}") from error


def _bytes_at(location: str) -> bytes:
    with opened(location) as descriptor:
        return read_all(descriptor)


def _plain(text: str) -> str:
    return text.removeprefix(_BOM).replace("\r\n", "\n")
