"""How a memory keeps its index in step with the notes: in the background, or just before a search."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from .config import AgentSettings
from .errors import StoreError
from .progress import ProgressRelay
from .values import Outlook, Pass, SyncReport, Upkeep
from .workspace import Workspace

if TYPE_CHECKING:
    from .backends.base import Backend
    from .background import Background

_Answer = TypeVar("_Answer")
_FRESH_SECONDS = 2.0
"""A search looks at the tree again when the last look is older than this."""
_MOST_SAID = 300_000
"""New bytes of transcripts that a search or a session waits for: some tenths of a second."""


class Freshness:
    """The passes of one memory. With a background, one thread does them and searches answer meanwhile."""

    def __init__(
        self,
        settings: AgentSettings,
        workspace: Workspace,
        backend: Callable[[], Backend],
        *,
        relay: ProgressRelay,
        background: bool,
    ) -> None:
        """`backend` gives the index, opened when a pass is first done."""
        self._settings = settings
        self._workspace = workspace
        self._backend = backend
        self._relay = relay
        self._looked = float("-inf")
        self._guard = threading.Lock()
        self._behind = self._background() if background else None

    def sync(
        self,
        reason: str,
        *,
        force: bool = False,
        wait: float,
        brief: bool = False,
        stem: str | None = None,
        most_said: int | None = None,
    ) -> SyncReport:
        """One pass, in turn with those of the background. Arguments and errors as of `Backend.sync`."""
        before = monotonic()

        def run() -> SyncReport:
            return self._backend().sync(
                reason, force=force, wait=wait, brief=brief, stem=stem, most_said=most_said
            )

        report = self.in_turn(run)
        self._looked = before if report.complete else float("-inf")
        return report

    def in_turn(self, work: Callable[[], _Answer]) -> _Answer:
        """Do some work in turn with the passes of the background."""
        return work() if self._behind is None else self._behind.in_turn(work)

    def start(self, listener: Callable[[Pass], None] | None, *, watch: bool | None) -> None:
        """Begin to work in the background, or tell what works there already of a listener."""
        with self._guard:
            if self._behind is None:
                self._behind = self._background(listener, watch=watch)
            elif listener is not None:
                self._behind.listener = listener
        self._behind.ask("start")

    def note_write(self, written: Path | None) -> None:
        """This memory has written to a note; None where the write may or may not have happened."""
        self._looked = float("-inf")
        if self._behind is not None and written is not None:
            self._behind.note_own_change(str(written))

    def greet_session(self) -> None:
        """Bring the index up to date for a session that starts; a failure of that is a warning."""
        if self._behind is not None:
            self._behind.ask("session start")
            return
        try:
            self.sync("session start", wait=0.0, brief=True, most_said=_MOST_SAID)
        except StoreError as error:
            self._relay.warning(str(error))

    def outlook(self, *, blank: bool, sync: bool | None) -> Outlook:
        """How far a search may rely on the index, after what there is to be done first.

        A `blank` query needs nothing done. `sync` None: as configured. What was indexed before still answers
        when it cannot be brought up to date.
        """
        wanted = (self._settings.memory_search.sync.on_search if sync is None else sync) and not blank
        if self._behind is not None and sync is not True:
            return self._behind.outlook(self._backend().readiness, look=wanted)
        looked_just_now = sync is None and monotonic() - self._looked < _FRESH_SECONDS
        if not wanted or looked_just_now:
            return Outlook(stale=False)
        try:
            report = self.sync("search", wait=0.0, brief=True, most_said=_MOST_SAID)
        except StoreError as error:
            return Outlook(stale=True, trouble=f"newer changes are not in these results: {error}")
        if report.complete:
            return Outlook(stale=False)
        return Outlook(stale=True, trouble=report.warning or "another process is indexing")

    def upkeep(self) -> Upkeep | None:
        """How the background is doing; None where there is none."""
        return self._behind.upkeep() if self._behind is not None else None

    def close(self) -> None:
        """End the work in the background at its next step; what is done is kept."""
        if self._behind is not None:
            self._behind.close()

    def _background(
        self, listener: Callable[[Pass], None] | None = None, *, watch: bool | None = None
    ) -> Background:
        from .background import VECTORS, Background
        from .workspace.watch import TreeWatch

        configured = self._settings.memory_search.sync
        return Background(
            lambda reason: self._backend().sync(reason, wait=0.0, brief=reason != VECTORS),
            relay=self._relay,
            watch=TreeWatch(self._workspace) if (configured.watch if watch is None else watch) else None,
            debounce=configured.watch_debounce_ms / 1000,
            interval=configured.interval_minutes * 60,
            listener=listener,
        )
