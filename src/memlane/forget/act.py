"""Forgetting, step by step: the tombstone first, so that whatever is killed on the way is gone on with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import replace

from ..backends.base import Backend
from ..backends.forgetting import Forgotten
from ..backends.sources import sources_of
from ..config import AgentSettings
from ..errors import UsageError
from ..index.sources import Sources
from ..tombstones.ledger import Ledger, new_key
from ..tombstones.match import Tombstones
from ..tombstones.values import Tombstone
from ..transcripts.folder import unwritable
from ..transcripts.names import RESULT_FOLDER, sessions_folder, transcript_name
from ..transcripts.redact import redact
from ..transcripts.store import SessionStore
from ..values import Value
from ..workspace import Workspace
from ..workspace.remove import delete_note, remove_lines
from .hide import text_of
from .look import Found, look, path_of, stem_of, transcripts_of
from .plan import (
    Derived,
    Forgetting,
    Request,
    TombstoneInfo,
    checked_phrase,
    found_by,
    tombstone_for,
    with_stone,
)
from .sweep import is_indexed, standing_in, sweep


class Ground(Value, frozen=True):
    """Where something is forgotten."""

    settings: AgentSettings
    workspace: Workspace
    backend: Callable[[], Backend]
    now: Callable[[], datetime]

    @property
    def sources(self) -> Sources:
        """Where what is indexed comes from, and the tombstones."""
        return sources_of(self.settings, self.workspace)

    @property
    def ledger(self) -> Ledger:
        """The tombstones of the agent."""
        ledger = self.sources.ledger
        assert ledger is not None
        return ledger


def forget(ground: Ground, request: Request, *, dry_run: bool) -> Forgetting:
    """Forget something, or with `dry_run` tell what would go.

    Raises UsageError for what cannot be meant, WorkspaceError, SessionError or StoreError when something
    cannot be read or written; what was begun is then gone on with by the next pass, or by asking again.
    """
    request = _meant(ground, request)
    make = _maker(ground, request)
    key = ground.ledger.read().key or new_key()
    found = look(ground.settings, ground.sources, Tombstones(key, [make(key)]), request)
    planned = Forgetting(
        ground.settings.agent_id,
        request.kind,
        "planned",
        places=tuple(found.places),
        files=tuple(found.files),
        warning=_warning(found.unread),
    )
    if dry_run:
        return planned
    _check_writable(ground, request)
    stones = ground.ledger.change(lambda key, stones: with_stone(stones, make(key)))
    mine = stones[-1]
    sessions = _change_files(ground, found, Tombstones(ground.ledger.read().key, [mine]), request)
    went = _derived(ground)
    remaining = standing_in(ground.settings, ground.workspace, request.phrase) if request.phrase else ()
    if remaining and ground.settings.enabled:
        # A byte that survived in a way nobody thought of: an index made anew has never held it.
        ground.backend().sync("forgetting", force=True)
        _derived(ground)
        remaining = standing_in(ground.settings, ground.workspace, request.phrase or "")
    erased = went.erased
    return replace(
        planned,
        status="incomplete" if remaining else "done",
        tombstone=mine.id,
        places=tuple(replace(one, text="") for one in planned.places),
        sessions=tuple(sessions),
        derived=Derived(
            erased.files, erased.chunks, erased.vectors, went.cached, erased.half_built, went.swept
        ),
        remaining=remaining,
        warning=_warning([*found.unread, *([went.warning] if went.warning else [])]),
    )


def forgotten(ground: Ground) -> list[TombstoneInfo]:
    """Everything that is forgotten, the last first. Raises StoreError."""
    stones = ground.ledger.read().stones
    return [TombstoneInfo(one.id, one.kind, one.made_at, one.length) for one in reversed(stones)]


def take_back(ground: Ground, which: str) -> TombstoneInfo:
    """Take one tombstone back: what notes and transcripts still hold is read again by the next pass.

    Raises UsageError when `which` names none, StoreError.
    """
    stone = found_by(ground.ledger.read().stones, which)
    ground.backend().take_back(stone.digest)
    return TombstoneInfo(stone.id, stone.kind, stone.made_at, stone.length)


def _derived(ground: Ground) -> Forgotten:
    """Take it out of what is derived. No index is begun for that, and a memory that is off reads nothing."""
    if not is_indexed(ground.settings):
        gone = sweep(ground.settings, ground.workspace, ground.ledger.read())
        return Forgotten(swept=tuple(gone))
    return ground.backend().forget(reading=ground.settings.enabled)


def _warning(parts: Sequence[str]) -> str | None:
    return "; ".join(parts) or None


def _meant(ground: Ground, request: Request) -> Request:
    """The request in terms of what is indexed: the path of a transcript means its session."""
    kind = request.kind
    if kind == "phrase":
        checked_phrase(request.phrase or "")
        return request
    if kind == "path":
        path = path_of(ground.workspace, request.path or "")
        folder, _, name = path.partition("/")
        if not path.strip("./"):
            raise UsageError(f"{request.path!r} is no path of a note", hint="such as memory/2026-02-10.md")
        named = transcript_name(name) if folder == RESULT_FOLDER else None
        if named is not None:
            return replace(request, path=None, session=named.stem)
        return replace(request, path=path)
    names = {named.stem for path in transcripts_of(ground.settings) if (named := transcript_name(path.name))}
    stem = request.session or ""
    return request if stem in names else replace(request, session=stem_of(ground.settings, stem))


def _maker(ground: Ground, request: Request) -> Callable[[bytes], Tombstone]:
    kind, now = request.kind, ground.now().isoformat(timespec="seconds")
    what = request.phrase or request.path or request.session or ""
    text = text_of(ground.workspace, what) if kind == "path" else None
    return lambda key: tombstone_for(key, kind, what, made_at=now, text=text)


def _check_writable(ground: Ground, request: Request) -> None:
    if request.notes and ground.settings.workspace_access != "rw":
        raise UsageError(
            "notes may not be changed: workspaceAccess is not rw", hint="leave --notes out, or change that"
        )


def _change_files(ground: Ground, found: Found, mine: Tombstones, request: Request) -> list[str]:
    """Change notes and transcripts as far as the request says; gives the sessions that went."""
    if request.notes:
        for entry in found.notes:
            remove_lines(ground.workspace, entry.location, mine.forgotten_lines)
        for entry in found.whole_notes:
            delete_note(ground.workspace, entry.location)
    if not request.transcripts:
        return []
    folder = sessions_folder(ground.settings.state_dir, ground.settings.agent_id)
    for path in found.transcripts:
        redact(path, mine.holds)
    for path in found.whole_transcripts:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error
    store = SessionStore(folder, agent=ground.settings.agent_id)
    return store.remove(request.session) if request.session else []
