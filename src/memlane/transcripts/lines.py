"""A transcript as entries, one line at a time: the memory in use does not grow with the file.

A line that is no JSON object is passed over and counted; a last line without its end waits for its rest. What
a program of another kind wrote into an entry is kept as it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

from ..values import Value

LONGEST_LINE = 8 * 2**20
"""A longer line is passed over unread: that much is an attachment or the output of a tool, and reading it
whole would take several times its size in memory."""
_BLOCK = 2**20
_BROKEN_NAMED = 5
_LEAST_MILLISECONDS = 10**11
"""A smaller number of a time is in seconds: as milliseconds it would lie in 1973."""


class Entry(Value, frozen=True):
    """One line of a transcript."""

    line: int
    """1-based."""
    start: int
    """Its first byte in the file."""
    end: int
    """The byte after its line feed."""
    data: Mapping[str, Any]
    """The object as it stands in the file."""

    @property
    def type(self) -> str:
        """`session`, `message`, `compaction`, …; empty where it is not said."""
        kind = self.data.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def id(self) -> str | None:
        """The entry's id, where it has one."""
        identifier = self.data.get("id")
        return identifier if isinstance(identifier, str) else None

    @property
    def message(self) -> Mapping[str, Any]:
        """The message of a message entry; an empty one for others."""
        message = self.data.get("message") if self.type == "message" else None
        return message if isinstance(message, Mapping) else {}

    @property
    def moment(self) -> datetime | None:
        """When it was written, in UTC: by the entry, or by its message."""
        return moment_of(self.data.get("timestamp")) or moment_of(self.message.get("timestamp"))


class Entries:
    """The entries of an open transcript from a place on. Iterated once; then it says how far it came.

    Attributes:
        offset: the byte up to which the file has been used.
        lines: how many lines that is.
        broken: how many lines were passed over.
        first_broken: the numbers of the first of these.
    """

    def __init__(self, file: BinaryIO, *, offset: int = 0, lines: int = 0, stop: int | None = None) -> None:
        """`lines` is how many lines lie before `offset`; nothing from the byte `stop` on is looked at."""
        self._file = file
        self._stop = stop
        self.offset = offset
        self.lines = lines
        self.broken = 0
        self.first_broken: list[int] = []

    def __iter__(self) -> Iterator[Entry]:
        file = self._file
        file.seek(self.offset)
        while data := file.readline(self._limit(self.offset, LONGEST_LINE)):
            start, length, ended = self.offset, len(data), data.endswith(b"\n")
            if not ended and length == LONGEST_LINE:
                data = b""
                while more := file.readline(self._limit(start + length, _BLOCK)):
                    length += len(more)
                    if ended := more.endswith(b"\n"):
                        break
            found = decoded(data, first=start == 0) if data.strip() else None
            if not ended and found is None:
                return  # half a line
            self.offset, self.lines = start + length, self.lines + 1
            if found is not None:
                yield Entry(self.lines, start, self.offset, found)
            elif data.strip() or not data:
                self._note_broken()

    def _limit(self, position: int, most: int) -> int:
        return most if self._stop is None else max(0, min(most, self._stop - position))

    def _note_broken(self) -> None:
        self.broken += 1
        if len(self.first_broken) < _BROKEN_NAMED:
            self.first_broken.append(self.lines)


def decoded(data: bytes, *, first: bool = False) -> dict[str, Any] | None:
    """The object that a line holds, its text valid Unicode throughout; None for anything else.

    `first` drops a byte order mark.
    """
    if first:
        data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Lone surrogates, NaN, bytes that are not UTF-8: more lenient, and ten times as slow.
        try:
            found = _mended(json.loads(data.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def moment_of(value: object) -> datetime | None:
    """A time as transcripts have them: ISO text, or milliseconds (or seconds) since 1970. In UTC."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value >= _LEAST_MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _mended(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The value with lone surrogates replaced and pairs joined."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(part) for part in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(part) for name, part in value.items()}
    return value
