"""What was said in sessions: listed, read, exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..values import Excerpt
from .rooms import Rooms

if TYPE_CHECKING:
    from ..transcripts.listing import SessionInfo


class SessionCalls(Rooms):
    """The calls of `Memory` about what was said."""

    def sessions(self, *, session: str | None = None) -> list[SessionInfo]:
        """Every session of this agent, the last used first. `session` is the key of the one that asks.

        Raises PathRefused for one that is not private, SessionError when they cannot be read.
        """
        return self._recollection(session).sessions()

    def transcript(
        self, which: str, *, start: int = 1, lines: int | None = None, session: str | None = None
    ) -> Excerpt:
        """What was said in a session, named by key, id or path; lines are those of its file.

        Secrets are masked. Raises UsageError when there is no such session, otherwise as `sessions`.
        """
        return self._recollection(session).transcript(which, start=start, lines=lines)

    def export_session(self, which: str, *, session: str | None = None) -> Iterator[str]:
        """A whole session as Markdown, in pieces, with secrets masked. Raises as `transcript`."""
        return self._recollection(session).exported(which, self.clock.now().tzinfo)
