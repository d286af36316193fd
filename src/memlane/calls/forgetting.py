"""Forgetting for good, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rooms import Rooms

if TYPE_CHECKING:
    from ..forget.act import Ground
    from ..forget.plan import Forgetting, TombstoneInfo


class ForgettingCalls(Rooms):
    """The calls of `Memory` that forget."""

    def forget(
        self,
        *,
        phrase: str | None = None,
        path: str | None = None,
        session_named: str | None = None,
        notes: bool = False,
        transcripts: bool = False,
        dry_run: bool = True,
    ) -> Forgetting:
        """Forget a phrase, a note or a session: nothing derived holds it then, and no pass brings it back.

        A dry run, unless told otherwise, gives what would go. `notes` takes it out of the Markdown too,
        `transcripts` out of what was said; there is no copy. Raises UsageError for what cannot be meant,
        StoreError, WorkspaceError or SessionError when something cannot be written (docs/forgetting.md).
        """
        from ..forget.act import forget
        from ..forget.plan import Request

        request = Request(phrase, path, session_named, notes, transcripts)
        try:
            return self._freshness.in_turn(lambda: forget(self._ground, request, dry_run=dry_run))
        finally:
            self._freshness.note_write(None)

    def forgotten(self) -> list[TombstoneInfo]:
        """Everything that is forgotten, the last first; what it was nobody can tell. Raises StoreError."""
        from ..forget.act import forgotten

        return forgotten(self._ground)

    def unforget(self, tombstone: str) -> TombstoneInfo:
        """Take back what has this id: the next pass reads again what notes and transcripts still hold.

        Raises UsageError when there is none, StoreError when that cannot be written.
        """
        from ..forget.act import take_back

        try:
            return self._freshness.in_turn(lambda: take_back(self._ground, tombstone))
        finally:
            self._freshness.note_write(None)

    @property
    def _ground(self) -> Ground:
        from ..forget.act import Ground

        return Ground(self.settings, self.workspace, lambda: self._backend, self.clock.now)
