"""What was said, as `Memory` hands it out: to sessions that may have it, with secrets masked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from .config import AgentSettings, configured_secrets
from .errors import PathRefused, UsageError
from .transcripts.gate import Access
from .transcripts.keys import session_from_key
from .transcripts.listing import SessionInfo, find_session, list_sessions
from .transcripts.names import sessions_folder
from .transcripts.read import named_in, read_turns, turns
from .transcripts.sanitize import Sanitizer
from .transcripts.store import SessionStore
from .values import Excerpt


def read_said(
    settings: AgentSettings, access: Access, path: str, *, start: int, lines: int | None
) -> Excerpt | None:
    """The lines of the transcript that a result's path names; None when it names none.

    Raises PathRefused for a session that may not have it, otherwise as `read_turns`.
    """
    named = named_in(path)
    if named is None:
        return None
    _check(access, path)
    return read_turns(_folder(settings), named, start=start, lines=lines, sanitize=_sanitizer(settings))


def listed(settings: AgentSettings, access: Access) -> list[SessionInfo]:
    """Every session of the agent, the last used first. Raises PathRefused, SessionError."""
    _check(access, "sessions")
    return list_sessions(_folder(settings), agent=settings.agent_id)


def shown(settings: AgentSettings, access: Access, which: str, *, start: int, lines: int | None) -> Excerpt:
    """Lines of the session that a key, an id or a path names. Raises UsageError when there is none."""
    info = find_session(listed(settings, access), which)
    named = named_in(_path_of(info))
    if named is None:
        raise UsageError(f"the session {which!r} is deleted", hint="its file can be restored by hand")
    return read_turns(_folder(settings), named, start=start, lines=lines, sanitize=_sanitizer(settings))


def exported(settings: AgentSettings, access: Access, which: str, zone: tzinfo | None) -> Iterator[str]:
    """A session as Markdown, in pieces. Raises as `shown`, before the first piece."""
    info = find_session(listed(settings, access), which)
    path = _path_of(info)
    location = _folder(settings) / Path(path).name
    return _markdown(info, path, location, _sanitizer(settings), zone)


def stem_of(settings: AgentSettings, key: str) -> str | None:
    """The name of a session's transcript without its suffix; None when it has none. Raises SessionError.

    A key that names another agent has none here.
    """
    if session_from_key(key, agent=settings.agent_id) != session_from_key(key):
        return None
    store = SessionStore(_folder(settings), agent=settings.agent_id)
    record = store.record(key) or store.record(f"agent:{settings.agent_id}:{key}")
    return record.stem if record else None


def _markdown(
    info: SessionInfo, path: str, location: Path, sanitize: Sanitizer, zone: tzinfo | None
) -> Iterator[str]:
    yield f"# Session {info.session_id}\n\n"
    yield "".join(f"- {name}: {value}\n" for name, value in (("key", info.key), ("file", path)) if value)
    for turn in turns(location, sanitize=sanitize):
        name, _, said = turn.text.partition(": ")
        at = f", {turn.moment.astimezone(zone):%Y-%m-%d %H:%M}" if turn.moment else ""
        yield f"\n## {name}{at}\n\n{said}\n"


def _check(access: Access, path: str) -> None:
    if not access.transcripts:
        raise PathRefused(
            f"{path!r} may not be read: what was said is shown in private sessions only",
            hint="ask in the main session",
        )


def _path_of(info: SessionInfo) -> str:
    if info.path is None:
        raise UsageError(
            f"the session {info.key or info.session_id} has no transcript yet",
            hint="memlane sessions list shows those that have one",
        )
    return info.path


def _folder(settings: AgentSettings) -> Path:
    return sessions_folder(settings.state_dir, settings.agent_id)


def _sanitizer(settings: AgentSettings) -> Sanitizer:
    return Sanitizer(configured_secrets(settings))
