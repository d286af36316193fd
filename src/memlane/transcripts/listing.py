"""Which sessions an agent has: what the store knows of them, and the transcripts that lie beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ..errors import UsageError
from ..values import SessionKind, Value
from .append import iso
from .folder import unreadable
from .names import Archive, TranscriptName, transcript_name
from .store import SessionRecord, SessionStore


class SessionInfo(Value, frozen=True):
    """One transcript, or a session of the store that has none yet."""

    session_id: str
    key: str | None
    """None for transcripts that no session of the store goes on with."""
    kind: SessionKind
    path: str | None
    """As results show it; None when there is no file."""
    size: int
    """Bytes of the transcript."""
    updated: str | None
    """ISO time, UTC."""
    archive: Archive | None = None
    housekeeping: bool = False
    """Nobody talks in it (a sub-agent, a scheduled job, a heartbeat): it is never searched."""


def list_sessions(folder: Path, *, agent: str) -> list[SessionInfo]:
    """Every session of an agent, the last used first; none when there is no folder. Raises SessionError."""
    left = {record.stem: record for record in SessionStore(folder, agent=agent).records() if record.stem}
    found: list[SessionInfo] = []
    for named, path in _transcripts(folder):
        record = left.pop(named.stem, None) if named.archive is None else None
        try:
            looked = path.stat()
        except OSError:
            continue  # it went away meanwhile
        written = iso(datetime.fromtimestamp(looked.st_mtime, UTC))
        found.append(_info(named, record, size=looked.st_size, written=written))
    found += [_info(None, record, size=0, written=None) for record in left.values()]
    return sorted(found, key=lambda info: info.updated or "", reverse=True)


def find_session(sessions: list[SessionInfo], wanted: str) -> SessionInfo:
    """The session that a key, an id, the beginning of an id or a result's path names.

    Raises UsageError when there is none, or more than one.
    """
    lowered = wanted.lower()
    exact = [one for one in sessions if lowered in {(one.key or "").lower(), one.session_id, one.path or ""}]
    exact = exact or [one for one in sessions if one.key and one.key.lower().split(":", 2)[-1] == lowered]
    present = [one for one in exact if one.archive is None]
    found = present or exact or [one for one in sessions if one.session_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"there is no session {wanted!r}", hint="memlane sessions list shows them")
    named = ", ".join(one.path or one.session_id for one in found[:5])
    raise UsageError(f"{wanted!r} names {len(found)} sessions: {named}", hint="name one of them by its path")


def _transcripts(folder: Path) -> list[tuple[TranscriptName, Path]]:
    try:
        paths = sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(folder, error) from error
    named = [(transcript_name(path.name), path) for path in paths if path.is_file() and not path.is_symlink()]
    return [(name, path) for name, path in named if name is not None]


def _info(
    named: TranscriptName | None, record: SessionRecord | None, *, size: int, written: str | None
) -> SessionInfo:
    updated = record.updated if record else None
    return SessionInfo(
        session_id=named.session_id if named else (record and record.session_id) or "",
        key=record.key if record else None,
        kind=record.session.kind if record else SessionKind.UNKNOWN,
        path=named.path if named else None,
        size=size,
        updated=iso(updated) if updated else written,
        archive=named.archive if named else None,
        housekeeping=record.is_housekeeping if record else False,
    )
