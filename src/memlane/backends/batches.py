"""The batch jobs of one index: what a pass needs of them, and what a status tells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..clock import Clock
from ..disk import writer_lock
from ..embed.batch.connect import batch_service, has_batches
from ..embed.cache import EmbeddingCache, NoCache
from ..embed.select import Choice
from ..errors import StoreBusy
from ..events import Observer
from ..index.identity import space_identity
from ..values import BatchJob, BatchReport
from .settings import IndexSettings

if TYPE_CHECKING:
    from ..embed.batch.fill import BatchFill


class Batches:
    """The jobs remembered beside the index: of the model in use and of others."""

    def __init__(
        self,
        index: IndexSettings,
        choice: Choice,
        cache: EmbeddingCache,
        observer: Observer,
        clock: Clock,
    ) -> None:
        self._settings = index.batch
        self._choice = choice
        self._cache = cache
        self._observer = observer
        self._clock = clock
        self._folder = index.jobs_path

    def jobs(self) -> tuple[BatchJob, ...]:
        """The jobs that go on, as they were at the last look. Reads some small files."""
        if not self._folder.is_dir():
            return ()
        from ..embed.batch.ledger import Ledger
        from ..embed.batch.shown import shown

        return shown(Ledger(self._folder), self._clock, space=self._space)

    def problem(self) -> str:
        """Why there are no batch jobs although they are configured; empty where there may be some."""
        embedder = self._choice.embedder
        if not self._settings.enabled or embedder is None:
            return ""
        if not has_batches(self._choice.endpoint):
            return f"remote.batch.enabled: {embedder.id} has no batch jobs; texts are embedded directly"
        if isinstance(self._cache, NoCache):
            return (
                "remote.batch.enabled: batch jobs need the embedding cache, and cache.enabled is false; "
                "texts are embedded directly"
            )
        return ""

    def fill(self) -> BatchFill | None:
        """What takes jobs on in a pass; None where there are none and none can be."""
        embedder, endpoint = self._choice.embedder, self._choice.endpoint
        if embedder is None or endpoint is None or not has_batches(endpoint):
            return None
        if isinstance(self._cache, NoCache):
            return None
        if not self._settings.enabled and not self._folder.is_dir():
            return None
        from ..embed.batch.fill import BatchFill
        from ..embed.batch.ledger import Ledger

        return BatchFill(
            batch_service(endpoint, clock=self._clock),
            embedder,
            self._cache,
            Ledger(self._folder),
            self._settings,
            space=space_identity(embedder.identity),
            observer=self._observer,
            clock=self._clock,
        )

    def report(self, index: Path) -> BatchReport:
        """Look at the jobs now, and take over what is finished.

        `index` is the file whose lock is held meanwhile, where it can be had at once: the providers are not
        asked while another process is indexing. Raises StoreError.
        """
        fill = self.fill() if self._folder.is_dir() else None
        if fill is None:
            problem = self.problem()
            return self._warned(problem) if problem else BatchReport(self.jobs())
        try:
            with writer_lock(index, timeout=0.0):
                found = fill.look()
        except StoreBusy as busy:
            return self._warned(f"the jobs are not looked at: {busy}")
        return BatchReport(self.jobs(), found.taken, found.resent, found.warnings)

    def _warned(self, problem: str) -> BatchReport:
        self._observer.warning(problem)
        return BatchReport(self.jobs(), warnings=(problem,))

    @property
    def _space(self) -> str | None:
        embedder = self._choice.embedder
        return space_identity(embedder.identity) if embedder else None
