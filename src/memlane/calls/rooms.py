"""The rooms of one agent's memory, each opened when it is first needed: what all calls share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ..clock import Clock, SystemClock, zone_named
from ..config import AgentSettings
from ..events import Observer, SilentObserver
from ..freshness import Freshness
from ..progress import ProgressRelay
from ..wiring import builtin_backend, reranker_choice, workspace_of

if TYPE_CHECKING:
    from ..backends.base import Backend
    from ..embed.base import Embedder
    from ..embed.select import Choice
    from ..recollection import Recollection
    from ..rerank.base import Reranker
    from ..tombstones.match import Tombstones
    from ..transcripts.gate import Access


class Rooms:
    """What the calls of `Memory` work on; closing it lets go of all that was opened."""

    def __init__(
        self,
        settings: AgentSettings,
        *,
        home: Path,
        observer: Observer | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        background: bool = False,
    ) -> None:
        """Memory under settings that are loaded already; `Memory.open` loads them.

        `embedder` takes the place of the configured provider, `reranker` that of the reranking model.
        `background` is for processes that live on.
        """
        self.settings = settings
        self.clock: Clock = clock or SystemClock(zone_named(settings.user_timezone))
        self._observer = ProgressRelay(observer or SilentObserver())
        self._embedder = embedder
        self._reranker = reranker
        self.workspace = workspace_of(settings, home)
        self._guard = threading.RLock()
        self._built: Backend | None = None
        self._freshness = Freshness(
            settings, self.workspace, lambda: self._backend, relay=self._observer, background=background
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self.settings.agent_id

    def close(self) -> None:
        """Let go of everything that was opened. Closing twice is harmless.

        Work in the background ends at its next step; what is done is kept.
        """
        self._freshness.close()
        with self._guard:
            if self._built is not None:
                self._built.close()

    @property
    def _backend(self) -> Backend:
        with self._guard:
            if self._built is None:
                self._built = builtin_backend(
                    self.settings,
                    self.workspace,
                    choose=self._choose_provider,
                    choose_reranker=self._choose_reranker,
                    observer=self._observer,
                    clock=self.clock,
                )
            return self._built

    @property
    def _tombstones(self) -> Tombstones:
        from ..forget.hide import tombstones_of

        return tombstones_of(self.settings.state_dir, self.agent)

    def _choose_provider(self) -> Choice:
        from ..embed.base import CheckedEmbedder
        from ..embed.select import Choice, choose_provider

        if self._embedder is not None:
            reasons = (f"{self._embedder.id}: passed in by the host",)
            return Choice(CheckedEmbedder(self._embedder), reasons, is_own=False)
        return choose_provider(self.settings, clock=self.clock, observer=self._observer)

    @property
    def _choose_reranker(self) -> Callable[[], Reranker] | None:
        return reranker_choice(self.settings, self._reranker)

    def _access(self, session: str | None) -> Access:
        """What the session with this key may have of memory."""
        from ..transcripts.gate import access_of
        from ..transcripts.keys import session_from_key

        return access_of(session_from_key(session, agent=self.agent))

    def _recollection(self, session: str | None) -> Recollection:
        from ..recollection import Recollection

        return Recollection(self.settings, self._access(session), self._tombstones)
