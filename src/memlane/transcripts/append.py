"""Writing a transcript: entries in a chain, each whole on disk before the next. Nothing is ever changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from ..clock import Clock
from ..disk import write_all
from ..errors import SessionError, UsageError
from .folder import settle_folder, unreadable, unwritable, writing
from .lines import LONGEST_LINE, decoded
from .names import Archive, archived_name, transcript_name

VERSION = 3
"""Of the format, as the platform writes it."""
_BLOCK = 2**16


class Transcript:
    """One transcript, open for appending. Several processes may append to it at once."""

    def __init__(self, path: Path, *, clock: Clock) -> None:
        """The transcript at `path`, which is not looked at before something is appended."""
        self.path = path
        self._clock = clock

    @classmethod
    def begin(cls, folder: Path, session_id: str | None = None, *, cwd: str = ".", clock: Clock) -> Self:
        """Start a transcript in a folder of sessions, by default under a new id.

        One that is there already is gone on with. Raises UsageError for an id that makes no file name,
        SessionError when it cannot be written.
        """
        identifier = session_id or str(uuid4())
        named = transcript_name(f"{identifier}.jsonl")
        if named is None:
            raise UsageError(
                f"{identifier!r} is no session id", hint="use letters, digits, hyphens and underscores"
            )
        transcript = cls(folder / named.name, clock=clock)
        header = {"type": "session", "version": VERSION, "id": identifier, "cwd": cwd}
        with writing(folder):
            if not transcript.path.exists():
                transcript._write({**header, "timestamp": iso(clock.now())}, made=True)
        return transcript

    @property
    def session_id(self) -> str:
        """The id in the file's name."""
        named = transcript_name(self.path.name)
        return named.session_id if named else self.path.stem

    def append(self, entry: Mapping[str, Any]) -> str:
        """Append an entry after the last one and give its id.

        `id`, `parentId` and `timestamp` are filled in unless given. All of it is on disk then, or nothing.
        Raises SessionError when the file is not there or cannot be written, UsageError for what is no JSON.
        """
        with writing(self.path.parent):
            try:
                last = last_entry(self.path)
            except OSError as error:
                raise unreadable(self.path, error) from error
            identifier = str(entry.get("id") or uuid4().hex[:12])
            parent = last.get("id") if last and last.get("type") != "session" else None
            stamped = {"id": identifier, "parentId": parent, "timestamp": iso(self._clock.now())}
            ahead = {"type": entry["type"]} if "type" in entry else {}
            self._write({**ahead, **stamped, **entry, "id": identifier})
        return identifier

    def append_message(self, message: Mapping[str, Any]) -> str:
        """Append a message such as `{"role": "user", "content": "…"}` and give its entry's id."""
        milliseconds = int(self._clock.now().timestamp() * 1000)
        return self.append({"type": "message", "message": {"timestamp": milliseconds, **message}})

    def append_compaction(
        self, summary: str, *, first_kept_entry_id: str, tokens_before: int, **more: object
    ) -> str:
        """Append the entry that stands for all turns before `first_kept_entry_id`; gives its id."""
        return self.append(
            {
                "type": "compaction",
                "summary": summary,
                "firstKeptEntryId": first_kept_entry_id,
                "tokensBefore": tokens_before,
                **more,
            }
        )

    def archive(self, archive: Archive) -> Path:
        """Put the transcript away under the name of an archive, and give its path. Raises SessionError."""
        with writing(self.path.parent):
            moment = self._clock.now()
            put_away = self.path.with_name(archived_name(self.path.name, archive, moment))
            if put_away.exists():
                raise SessionError(f"{put_away} is there already", hint="try again in a moment")
            try:
                self.path.rename(put_away)
                settle_folder(put_away.parent)
            except OSError as error:
                raise unwritable(self.path, error) from error
        return put_away

    def _write(self, entry: Mapping[str, Any], *, made: bool = False) -> None:
        """Append one line. A line that another writer left half-written is ended first."""
        try:
            text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"the entry is no JSON: {error}") from error
        line = text.encode("utf-8", "replace") + b"\n"
        flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT if made else 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self.path, flags, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                if size and _byte_before(self.path, size) != b"\n":
                    line = b"\n" + line
                try:
                    write_all(descriptor, line)
                except BaseException:
                    with suppress(OSError):
                        os.ftruncate(descriptor, size)
                    raise
            finally:
                os.close(descriptor)
            if made:
                settle_folder(self.path.parent)
        except OSError as error:
            raise unwritable(self.path, error) from error


def last_entry(path: Path) -> dict[str, Any] | None:
    """The last whole entry of a transcript that has an id, found from its end. Raises OSError.

    Lines too long to be read are passed over, as they are in reading.
    """
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        rest = b""
        while position > 0:
            size = min(_BLOCK, position)
            position -= size
            file.seek(position)
            lines = (file.read(size) + rest).split(b"\n")
            rest = lines[0] if len(lines[0]) <= LONGEST_LINE else b""
            for line in reversed(lines[1:] if position else lines):
                found = decoded(line, first=not position) if line.strip() else None
                if found and isinstance(found.get("id"), str):
                    return found
    return None


def iso(moment: datetime) -> str:
    """A moment as transcripts write it: UTC, milliseconds, Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _byte_before(path: Path, position: int) -> bytes:
    with path.open("rb") as file:
        file.seek(position - 1)
        return file.read(1)
