"""What was said, as `Memory` hands it out: to sessions that may have it, with secrets masked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from itertools import chain

from .config import AgentSettings, configured_secrets
from .errors import PathRefused, UsageError
from .tombstones.match import Tombstones
from .transcripts.gate import Access
from .transcripts.keys import session_from_key
from .transcripts.listing import SessionInfo, find_session, list_sessions
from .transcripts.names import TranscriptName, sessions_folder
from .transcripts.read import named_in, read_turns, turns
from .transcripts.redact import FORGOTTEN
from .transcripts.sanitize import Sanitizer
from .transcripts.store import SessionStore
from .transcripts.turns import Turn
from .values import Excerpt


class Recollection:
    """The transcripts of an agent, for one session that asks."""

    def __init__(self, settings: AgentSettings, access: Access, forgotten: Tombstones) -> None:
        """`access` is what that session may have; without transcripts, every call raises PathRefused.

        Messages that hold something `forgotten` are shown as `[forgotten]`.
        """
        self._agent = settings.agent_id
        self._folder = sessions_folder(settings.state_dir, settings.agent_id)
        self._forgotten = forgotten
        self._mask = Sanitizer(configured_secrets(settings))
        self._access = access

    def lines(self, path: str, *, start: int, lines: int | None) -> Excerpt | None:
        """The lines of the transcript that a result's path names; None when it names none."""
        named = named_in(path)
        if named is None:
            return None
        self._check(path)
        if self._forgotten.forgets_session(named.stem):
            return Excerpt(named.path, "", start, 0, exists=False)
        return read_turns(self._folder, named, start=start, lines=lines, sanitize=self._sanitize)

    def sessions(self) -> list[SessionInfo]:
        """Every session, the last used first. Raises SessionError when they cannot be read."""
        self._check("sessions")
        return list_sessions(self._folder, agent=self._agent)

    def transcript(self, which: str, *, start: int, lines: int | None) -> Excerpt:
        """Lines of the session that a key, an id or a path names. Raises UsageError when there is none."""
        return read_turns(
            self._folder, self._named(which)[1], start=start, lines=lines, sanitize=self._sanitize
        )

    def exported(self, which: str, zone: tzinfo | None) -> Iterator[str]:
        """A session as Markdown, in pieces. Raises as `transcript`, before the first piece."""
        info, named = self._named(which)
        location = self._folder / named.name
        head = "".join(
            f"- {name}: {said}\n" for name, said in (("key", info.key), ("file", named.path)) if said
        )
        said = turns(location, sanitize=self._sanitize)
        return chain((f"# Session {info.session_id}\n\n{head}",), (_section(turn, zone) for turn in said))

    def stem_of(self, key: str) -> str | None:
        """The name of a session's transcript without its suffix; None when it has none.

        A key that names another agent has none here. Raises SessionError.
        """
        if session_from_key(key, agent=self._agent) != session_from_key(key):
            return None
        store = SessionStore(self._folder, agent=self._agent)
        record = store.record(key) or store.record(f"agent:{self._agent}:{key}")
        return record.stem if record else None

    def _sanitize(self, text: str) -> str:
        return FORGOTTEN if self._forgotten.holds(text) else self._mask(text)

    def _named(self, which: str) -> tuple[SessionInfo, TranscriptName]:
        info = find_session(self.sessions(), which)
        if info.path is None:
            raise UsageError(
                f"the session {info.key or info.session_id} has no transcript yet",
                hint="memlane sessions list shows those that have one",
            )
        named = named_in(info.path)
        if named is None:
            raise UsageError(
                f"the session {which!r} was deleted", hint="take the suffix off its file to restore it"
            )
        return info, named

    def _check(self, path: str) -> None:
        if not self._access.transcripts:
            raise PathRefused(
                f"{path!r} may not be read: what was said is shown in private sessions only",
                hint="ask in the main session",
            )


def _section(turn: Turn, zone: tzinfo | None) -> str:
    name, _, said = turn.text.partition(": ")
    at = f", {turn.moment.astimezone(zone):%Y-%m-%d %H:%M}" if turn.moment else ""
    return f"\n## {name}{at}\n\n{said}\n"
