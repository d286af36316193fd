"""The session store `sessions.json`: which sessions there are, and what the platform keeps of each.

A map from session key to entry. What Memlane does not know in it survives every change. A file that cannot be
understood is an error that names it, and is never written over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import msgspec

from ..disk import write_all
from ..errors import SessionError
from ..values import Session, Value
from .folder import settle_folder, unreadable, unwritable, writing
from .keys import is_housekeeping, session_from_key
from .lines import moment_of
from .names import STORE_NAME, transcript_name

_ATTEMPTS = 5
_Answer = TypeVar("_Answer")


class SessionRecord(Value, frozen=True):
    """One session as the store has it."""

    key: str
    session: Session
    """What the key says of it."""
    data: Mapping[str, Any]
    """The entry as it stands in the file."""

    @property
    def session_id(self) -> str | None:
        """The id of its present transcript."""
        identifier = self.data.get("sessionId")
        return identifier if isinstance(identifier, str) and identifier else None

    @property
    def stem(self) -> str | None:
        """The name of its present transcript without `.jsonl`."""
        file = self.data.get("sessionFile")
        if isinstance(file, str):
            named = transcript_name(file.replace("\\", "/").rpartition("/")[2])
            if named is not None:
                return named.stem
        return self.session_id

    @property
    def updated(self) -> datetime | None:
        """When it was last used, in UTC."""
        return moment_of(self.data.get("updatedAt"))

    @property
    def is_housekeeping(self) -> bool:
        """Whether nobody talks in it: a sub-agent's, a scheduled job's, a heartbeat's."""
        return is_housekeeping(self.key) or isinstance(self.data.get("spawnedBy"), str)


class SessionStore:
    """One `sessions.json`. Nothing is kept in memory: every call reads the file."""

    def __init__(self, folder: Path, *, agent: str | None = None) -> None:
        """The store in a folder of sessions, of the agent with this id."""
        self.path = folder / STORE_NAME
        self._agent = agent

    def records(self) -> list[SessionRecord]:
        """All sessions in the order of the file; none when there is no file. Raises SessionError."""
        return [
            SessionRecord(key, session_from_key(key, agent=self._agent), entry)
            for key, entry in self._read()[0].items()
            if isinstance(entry, dict)
        ]

    def record(self, key: str) -> SessionRecord | None:
        """The session with this key, in whatever letter case it is given. Raises SessionError."""
        wanted = key.lower()
        return next((record for record in self.records() if record.key.lower() == wanted), None)

    def update(self, key: str, change: Callable[[dict[str, Any]], None] | Mapping[str, Any]) -> SessionRecord:
        """Change the entry of one session, in place or by laying fields over it; made when there is none.

        All other entries and unknown fields stay as they are. Atomic: whoever reads meanwhile finds the old
        file or the new one. Raises SessionError when the file is broken or cannot be written.
        """

        def changed(sessions: dict[str, Any]) -> SessionRecord:
            present = next((known for known in sessions if known.lower() == key.lower()), key)
            entry = sessions.setdefault(present, {})
            if not isinstance(entry, dict):
                raise _broken(self.path, f"the entry of {present} is no object")
            if callable(change):
                change(entry)
            else:
                entry.update(change)
            return SessionRecord(present, session_from_key(present, agent=self._agent), entry)

        return self._changed(changed)

    def remove(self, stem: str) -> list[str]:
        """Take out the sessions with this transcript, by its stem; gives their keys. Raises SessionError."""
        keys = [record.key for record in self.records() if record.stem == stem]

        def removed(sessions: dict[str, Any]) -> None:
            for key in keys:
                sessions.pop(key, None)

        if keys:
            self._changed(removed)
        return keys

    def _changed(self, change: Callable[[dict[str, Any]], _Answer]) -> _Answer:
        """Change all that stands in the file, in turn with other writers; gives what `change` gives."""
        with writing(self.path.parent):
            for _ in range(_ATTEMPTS):
                sessions, version = self._read()
                answer = change(sessions)
                if self._replace(sessions, version):
                    return answer
        raise SessionError(
            f"cannot write {self.path}: another program keeps changing it",
            hint="close that program and try again",
        )

    def _read(self) -> tuple[dict[str, Any], tuple[int, ...]]:
        """What stands in the file, and which version of it that is."""
        try:
            with self.path.open("rb") as file:
                version = _version(os.fstat(file.fileno()))
                data = file.read()
        except FileNotFoundError:
            return {}, ()
        except OSError as error:
            raise unreadable(self.path, error) from error
        return _parsed(self.path, data), version

    def _replace(self, sessions: dict[str, Any], version: tuple[int, ...]) -> bool:
        """Put a new file in the place of the old one; False when that is no longer the version given."""
        text = json.dumps(sessions, ensure_ascii=False, indent=2)
        temporary = self.path.with_name(f".{STORE_NAME}.{uuid4().hex[:8]}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                write_all(descriptor, text.encode("utf-8", "surrogatepass"))
            finally:
                os.close(descriptor)
            if self._version_now() != version:
                return False
            temporary.replace(self.path)
            settle_folder(self.path.parent)
            return True
        except OSError as error:
            raise unwritable(self.path, error) from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _version_now(self) -> tuple[int, ...]:
        try:
            return _version(self.path.stat())
        except FileNotFoundError:
            return ()


class _Marks(msgspec.Struct):
    """The fields of an entry that say whose transcript is whose; all others are skipped unread."""

    sessionId: str | None = None  # noqa: N815 - as the file spells it
    sessionFile: str | None = None  # noqa: N815
    spawnedBy: str | None = None  # noqa: N815


def housekeeping_stems(folder: Path) -> frozenset[str]:
    """The transcripts, by the stem of their names, of sessions in which nobody talks.

    On the path of every search: a store of a megabyte takes about a millisecond. Raises SessionError.
    """
    path = folder / STORE_NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        marks: Iterable[tuple[str, Any]] = [
            (key, msgspec.to_builtins(mark))
            for key, mark in msgspec.json.decode(data, type=dict[str, _Marks]).items()
        ]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        marks = _parsed(path, data).items()
    records = [
        SessionRecord(key, session_from_key(key), entry) for key, entry in marks if isinstance(entry, dict)
    ]
    return frozenset(record.stem for record in records if record.is_housekeeping and record.stem)


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _broken(path, f"invalid UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise _broken(path, f"{error.msg} in line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise _broken(path, "it is nested too deeply") from error
    if not isinstance(found, dict):
        raise _broken(path, "it is no object of sessions")
    return found


def _broken(path: Path, what: str) -> SessionError:
    return SessionError(
        f"{path} cannot be understood: {what}",
        hint="mend the file or move it away; nothing was written to it",
    )


def _version(looked: os.stat_result) -> tuple[int, ...]:
    return looked.st_dev, looked.st_ino, looked.st_size, looked.st_mtime_ns
