"""Keeping the index in step with the tree: what differs, and whether there is anything to do.

Most passes find nothing: they compare a walk over the tree with what is indexed and open no note. When
there is work, `update` does it under the writer's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..clock import Clock
from ..disk import writer_lock
from ..embed.base import Embedder
from ..embed.cache import EmbeddingCache
from ..errors import Interrupted, StoreBusy
from ..events import Observer
from ..values import Building, Fallback, SyncReport, TreeScan, Value
from ..workspace import is_readable
from .growth import ANY_GROWTH
from .identity import layout_identity
from .plan import SyncPlan, plan_sync
from .sources import Sources, remembered
from .store import Space, Store

if TYPE_CHECKING:
    from ..embed.batch.fill import BatchFill
    from .changeover import Changeover
    from .pause import Pause

LAST_PASS = "last_pass"  # noqa: S105 - not a password
"""The note that holds the time of the last pass that wrote something."""
COMMAND = "command"
"""The reason of a pass that somebody asks for by itself: it tries a provider that failed a moment ago."""
VANISHED = "vanished"
"""The note that identifies what had vanished in the last pass, when that was doubted."""
_FIRST_INDEX_SECONDS = 5.0
_OLD_SCAN_SECONDS = 0.5
"""When another process was waited for longer than this, the tree is looked at again."""
_HEADING_TOKENS = 64
"""What a heading path may add to a chunk when it is embedded."""


class Chunking(Value, frozen=True):
    """How texts are cut: `memorySearch.chunking`."""

    tokens: int = 400
    overlap: int = 80

    @property
    def layout(self) -> str:
        """The identity of a generation whose texts are cut like this."""
        return layout_identity(chunk_tokens=self.tokens, chunk_overlap=self.overlap)

    def within(self, embedder: Embedder | None) -> Chunking:
        """The same, but with no chunk longer than the model takes."""
        if embedder is None or self.tokens + _HEADING_TOKENS <= embedder.max_input_tokens:
            return self
        tokens = max(32, embedder.max_input_tokens - _HEADING_TOKENS)
        return Chunking(tokens, min(self.overlap, tokens // 5))


class Effort(Value, frozen=True):
    """How much a pass is to do."""

    force: bool = False
    asked: bool = False
    """Somebody asks for this pass, and may have mended what ails the provider."""
    brief: bool = False
    stem: str | None = None
    most_said: int | None = None


class Synchronizer:
    """Keeps one store in step with the notes and transcripts it is made of."""

    def __init__(
        self,
        sources: Sources,
        store: Store,
        *,
        embedder: Embedder | None,
        cache: EmbeddingCache,
        chunking: Chunking,
        observer: Observer,
        clock: Clock,
        standing_in: Embedder | None = None,
        substitute: Embedder | None = None,
        batches: Callable[[], BatchFill | None] = lambda: None,
    ) -> None:
        """`embedder` None leaves vectors alone: keyword search needs none.

        `standing_in` is a fast model that answers until the vectors of `embedder` are made, `substitute` the
        one that takes over when it fails. `batches` gives what takes batch jobs of `embedder` on in a pass.
        """
        self._sources = sources
        self._store = store
        self._cache = cache
        self._chunking = chunking.within(embedder).within(substitute)
        self._observer = observer
        self._clock = clock
        self._changeover: Changeover | None = None
        if embedder is not None:
            from .changeover import Changeover

            self._changeover = Changeover(
                store,
                wanted=embedder,
                standing_in=standing_in,
                substitute=substitute,
                cache=cache,
                observer=observer,
                clock=clock,
                batches=batches,
            )

    def pending(self, *, stem: str | None = None) -> tuple[TreeScan, SyncPlan]:
        """What a pass would do now, without doing it. `stem` as of `run`."""
        generation = self._store.current_generation()
        indexed = self._store.indexed_files(generation) if generation else {}
        scan = remembered(self._sources.scan(), self._sources.tombstones(), indexed)
        outdated = generation is None or generation.layout != self._chunking.layout
        sessions = self._sources.sessions
        growth = sessions.growth(stem) if sessions else ANY_GROWTH
        return scan, plan_sync(scan, indexed, force=outdated, is_readable=is_readable, has_grown=growth)

    def building(self) -> Building | None:
        """How far the vectors of the configured model are; None when they answer and none is missing."""
        return self._changeover.building() if self._changeover else None

    def fallback(self, space: Space | None) -> Fallback | None:
        """Why the substitute's vectors answer, where the space is its own."""
        return self._changeover.fallback(space) if self._changeover else None

    def pause(self) -> Pause | None:
        """Until when the configured provider is left alone."""
        return self._changeover.pause() if self._changeover else None

    def run(
        self,
        reason: str,
        *,
        force: bool = False,
        wait: float = 30.0,
        brief: bool = False,
        stem: str | None = None,
        most_said: int | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the tree.

        `force` builds a new index beside the old one, from the notes and the embedding cache alone. `wait`
        is how long, in seconds, to wait for another process that is writing; after that nothing is done and
        the report says so (`complete` is False). `brief` leaves the many vectors of a slow model to a later
        pass, as long as another one stands in. Of the transcript named `stem` any growth is indexed;
        `most_said` is how many new bytes of transcripts are read at most, for a pass that somebody waits for.
        Raises WorkspaceError when the workspace is not there, StoreError when the index cannot be written.
        """
        started = perf_counter()
        effort = Effort(force=force, asked=reason == COMMAND, brief=brief, stem=stem, most_said=most_said)
        scan, plan = self.pending(stem=stem)
        report = SyncReport(
            reason,
            unchanged=plan.unchanged,
            failed=(*plan.failed, *scan.failed),
            skipped_links=scan.skipped_links,
            skipped=scan.skipped,
        )
        # What had vanished and was doubted is back, or its removal is done.
        reassured = not plan.doubt and bool(self._store.note(VANISHED))
        if force or reassured or not plan.empty or not self._complete(effort) or self._has_leftovers():
            asked = perf_counter()
            try:
                with writer_lock(self._store.path, timeout=self._patience(wait)):
                    waited = perf_counter() - asked > _OLD_SCAN_SECONDS
                    seen = self._sources.scan() if waited else scan
                    report = self._update(seen, reason, effort)
            except StoreBusy as busy:
                report = replace(report, complete=False, busy=True, warning=str(busy))
        if self._sources.workspace.media is not None:
            report = replace(report, failed=(*report.failed, *self._store.refused_media()))
        if report.warning and not report.busy:
            self._observer.warning(report.warning)
        building = self.building() if brief and not self.pause() else None
        left = building.total - building.done if building else 0
        return replace(report, left=left, seconds=perf_counter() - started)

    def _update(self, scan: TreeScan, reason: str, effort: Effort) -> SyncReport:
        from .update import IndexUpdate

        update = IndexUpdate(
            self._store,
            cache=self._cache,
            chunking=self._chunking,
            observer=self._observer,
            changeover=self._changeover,
            sessions=self._sources.sessions,
            zone=self._clock.now().tzinfo,
            forgotten=self._sources.tombstones(),
        )
        try:
            report = update.run(scan, reason, effort)
        except (Interrupted, KeyboardInterrupt):
            self._store.settle()  # what was written is whole: the next open need not check it
            raise
        self._store.put_note(LAST_PASS, self._clock.now().isoformat(timespec="seconds"))
        self._store.settle()
        return report

    def _patience(self, wait: float) -> float:
        """How long to wait for another writer: longer when there is nothing yet that could answer instead."""
        generation = self._store.current_generation()
        answering = generation is not None and generation.complete
        return wait if answering else max(wait, _FIRST_INDEX_SECONDS)

    def _complete(self, effort: Effort) -> bool:
        """Whether the last pass ended, and every chunk was asked for a vector of this model."""
        generation = self._store.current_generation()
        if generation is None or not generation.complete:
            return False
        space = self._store.current_space()
        return self._changeover is None or not self._changeover.is_due(generation, space, effort)

    def _has_leftovers(self) -> bool:
        return self._store.has_leftovers(keep=self._changeover.kept if self._changeover else ())
