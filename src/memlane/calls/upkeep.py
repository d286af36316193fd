"""Keeping the index in step with the notes, and looking at how it fares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..values import BatchReport, IndexPlan, Pass, Status, SyncReport
from .rooms import Rooms

if TYPE_CHECKING:
    from ..doctor import DoctorReport


class UpkeepCalls(Rooms):
    """The calls of `Memory` about its index."""

    def sync(
        self,
        *,
        force: bool = False,
        session: str | None = None,
        reason: str = "command",
        wait: float = 30.0,
    ) -> SyncReport:
        """Bring the index up to date with the notes. `force` reads and stores every note again.

        `session` is the key of a session whose transcript is indexed however little it has grown by, such as
        after its compaction. This also makes the vectors of a model that takes long; searches do without,
        while another stands in. Work in the background makes room for it. Raises WorkspaceError when the
        workspace is missing, SessionError when `session` cannot be looked up, StoreError when the index
        cannot be written, Interrupted when the observer ends it or this memory is closed meanwhile.
        """
        stem = self._recollection(None).stem_of(session) if session is not None else None
        return self._freshness.sync(reason, force=force, wait=wait, stem=stem)

    def plan(self, *, force: bool = False) -> IndexPlan:
        """What `sync` would do now, with an estimate of its cost. Writes nothing, sends nothing."""
        return self._backend.plan(force=force)

    def start(self, listener: Callable[[Pass], None] | None = None, *, watch: bool | None = None) -> None:
        """Begin to keep the index fresh in the background, now rather than at the first search.

        `listener` is told of every pass, from the thread that does it. `watch` says whether notes are
        watched, by default as configured. Does nothing when memory search is switched off.
        """
        if self.settings.enabled:
            self._freshness.start(listener, watch=watch)

    def status(self, *, deep: bool = False) -> Status:
        """What is indexed, from where, how fresh, and by which provider. `deep` tries the provider too."""
        status = self._backend.status(deep=deep)
        return replace(status, upkeep=self._freshness.upkeep())

    def batches(self) -> BatchReport:
        """Look at the provider's batch jobs now, and take over what has ended. Raises as `status` does."""
        return self._backend.batches() if self.settings.enabled else BatchReport()

    def doctor(self, *, fix: bool = False) -> DoctorReport:
        """What keeps memory from doing all it should, and what to do about each finding.

        `fix` mends what is safe: the index, the embedding cache, the modes of their files; never a note.
        """
        from ..doctor import Subject, examine

        subject = Subject(
            self.settings,
            self.workspace,
            self._choose_provider,
            lambda: self.sync(reason="doctor"),
            self.clock,
            self._choose_reranker,
        )
        return examine(subject, fix=fix)
