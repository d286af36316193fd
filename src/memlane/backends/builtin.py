"""The built-in backend: one SQLite index in step with one workspace.

The index is derived data. A damaged one is moved aside and built again from the notes, and the call that
found it damaged is answered; a file that is not ours is left alone and the index goes beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..clock import Clock
from ..embed.base import CheckedEmbedder
from ..embed.cache import EmbeddingCache, NoCache
from ..embed.select import Choice
from ..errors import StoreBusy
from ..events import Observer
from ..index.identity import space_identity
from ..index.scrub import note_verification, verification_is_due
from ..index.sources import Sources, forgetting_is_due
from ..index.sqlite import SqliteStore
from ..index.store import Space
from ..index.sync import COMMAND, LAST_PASS, Synchronizer
from ..rerank.base import Reranker
from ..search.model import RerankingModel
from ..search.pipeline import Search
from ..search.settings import SearchRequest, SearchSettings
from ..values import BatchReport, Filters, IndexPlan, Readiness, SearchResult, Status, SyncReport
from .base import Sweep
from .batches import Batches
from .index_file import IndexFile
from .settings import IndexSettings

if TYPE_CHECKING:
    from .forgetting import Forgotten

DOCTOR = "doctor"
"""A pass for this reason checks the whole file in any case."""
_HURRIED = frozenset({"search", "session start", "repair", "evaluation"})
"""Passes that somebody waits for: the whole file is checked in the others."""
_PROBE_SECONDS = 10.0
"""How long a status waits for any of its parts."""
_FORGET_SECONDS = 60.0
"""How long forgetting waits for another process that writes."""


class BuiltinBackend:
    """The built-in index of one agent. Opened at first use; thread-safe."""

    def __init__(
        self,
        sources: Sources,
        settings: IndexSettings,
        search_settings: SearchSettings,
        *,
        choose: Callable[[], Choice],
        choose_reranker: Callable[[], Reranker] | None = None,
        observer: Observer,
        clock: Clock,
        sweep: Sweep = lambda _forgotten: (),
    ) -> None:
        """`choose` picks the embedding provider; it is called once, when one is first needed.

        So is `choose_reranker`, where there is a reranking model; it may raise RerankError. `sweep` takes
        away what else than the index holds something forgotten.
        """
        self._sweep = sweep
        self._sources = sources
        self._settings = settings
        self._search_settings = search_settings
        self._choose = choose
        self._model = choose_reranker and RerankingModel(
            choose_reranker,
            candidates=search_settings.rerank_candidates,
            seconds=search_settings.rerank_seconds,
            clock=clock,
        )
        self._observer = observer
        self._clock = clock
        self._file = IndexFile(
            settings,
            check_sources=sources.scan,
            rebuild=lambda store: self._synchronizer(store).run("repair"),
            observer=observer,
        )
        self._choosing = threading.RLock()
        self._chosen: Choice | None = None
        self._kept_embeddings: EmbeddingCache | None = None

    def search(self, request: SearchRequest, filters: Filters) -> SearchResult:
        """The ranked answer to a request. An empty one says why."""

        def answer(store: SqliteStore) -> SearchResult:
            space = store.current_space()
            result = self._answer(store, space, request, filters)
            if (now := store.current_space()) and (space is None or now.id != space.id):
                # The vectors of another model took over between two looks at the index.
                result = self._answer(store, now, request, filters)
            if request.explain:
                totals = replace(result.totals, last_sync=store.note(LAST_PASS))
                result = replace(result, totals=totals)
            if self._choice.failure and not result.warning:
                return replace(result, warning=self._choice.failure)
            return result

        return self._file.use(answer)

    def _answer(
        self, store: SqliteStore, space: Space | None, request: SearchRequest, filters: Filters
    ) -> SearchResult:
        """Search with the model that made the vectors of the space."""
        search = Search(
            store,
            self._fitting(space),
            self._search_settings,
            self._clock,
            rater=self._choice.standing_in,
            model=self._model,
        )
        synchronizer = self._synchronizer(store)
        return replace(
            search.run(request, filters),
            building=synchronizer.building(),
            fallback=self._choice.fallback or synchronizer.fallback(space),
        )

    def sync(
        self,
        reason: str,
        *,
        force: bool = False,
        wait: float = 30.0,
        brief: bool = False,
        stem: str | None = None,
        most_said: int | None = None,
    ) -> SyncReport:
        """Bring the index up to date with its sources. Arguments as of `Synchronizer.run`."""
        self._file.try_to_write()
        if force:
            self._file.make_room()

        def pass_over(store: SqliteStore) -> SyncReport:
            if forgetting_is_due(store, self._sources):
                try:
                    self._carry_out(store, patience=wait)
                except StoreBusy as busy:
                    return SyncReport(reason, complete=False, busy=True, warning=str(busy))
            wanted = reason not in _HURRIED and verification_is_due(store, self._clock)
            if wanted or reason == DOCTOR:
                store.verify()
                note_verification(store, self._clock)
            report = self._synchronizer(store).run(
                reason, force=force, wait=wait, brief=brief, stem=stem, most_said=most_said
            )
            failure = self._choice.failure if self._choice.embedder is None else ""
            if failure and reason == COMMAND:
                return replace(report, complete=False, warning=report.warning or failure)
            return report

        return self._file.use(pass_over)

    def plan(self, *, force: bool = False) -> IndexPlan:
        """What a pass would do now. Writes nothing, also no index where there is none; asks no provider."""
        from ..index.forecast import Forecast

        store = self._file.store() if self._settings.store_path.exists() else None
        pause = self._synchronizer(store).pause() if store else None
        plan = Forecast(
            store,
            embedder=self._embedder,
            standing_in=self._choice.standing_in,
            substitute=self._choice.substitute,
            cache=self._cache,
            chunking=self._settings.chunking,
            price=self._settings.price_per_million_tokens,
        ).run(self._sources, force=force)
        if pause and pause.is_stated and not force:
            return replace(plan, retry_at=pause.retry_at)
        return plan

    def forget(self, *, reading: bool = True) -> Forgotten:
        """Take all that is forgotten out of what is derived, be it for the second time."""
        return self._file.use(lambda store: self._carry_out(store, reading=reading))

    def take_back(self, digest: str) -> None:
        """Take the tombstone with this digest back; the next pass reads what is still there."""
        from .forgetting import take_back

        self._file.use(lambda store: take_back(store, self._sources, digest))

    def _carry_out(
        self, store: SqliteStore, *, patience: float = _FORGET_SECONDS, reading: bool = True
    ) -> Forgotten:
        from .forgetting import carry_out

        return carry_out(
            store,
            self._sources,
            cache_path=self._settings.cache_path,
            jobs_path=self._settings.jobs_path,
            sweep=self._sweep,
            patience=patience,
            run=lambda: self._synchronizer(store).run("forgetting", brief=True) if reading else None,
        )

    def readiness(self) -> Readiness:
        """How much of the notes the index can answer from."""

        def look(store: SqliteStore) -> Readiness:
            generation = store.current_generation()
            if generation is None:
                return "empty"
            if generation.complete:
                return "complete"
            return "partial" if store.chunk_count() else "empty"

        return self._file.use(look)

    def status(self, *, deep: bool = False) -> Status:
        """What is indexed, from where, how fresh, and by which provider."""
        from .state import Observed, state_of

        def observe(store: SqliteStore) -> Status:
            observed = Observed(
                self._settings.agent,
                self._sources.workspace,
                store,
                self._synchronizer(store),
                self._choice,
                self._fitting(store.current_space()),
                self._cache,
                self._clock,
                self._batches,
                self._settings.notices,
            )
            return state_of(observed, deep=deep, seconds=_PROBE_SECONDS)

        return self._file.use(observe)

    def batches(self) -> BatchReport:
        """Look at the batch jobs that go on, and take over what is finished."""
        return self._file.use(lambda store: self._batches.report(store.path))

    def close(self) -> None:
        """Close the index and the cache, and let go of the model."""
        self._file.close()
        with self._choosing:
            if self._kept_embeddings is not None:
                self._kept_embeddings.close()
            if self._chosen is not None:
                self._chosen.close()
            self._chosen = self._kept_embeddings = None

    @property
    def _choice(self) -> Choice:
        with self._choosing:
            if self._chosen is None or _is_closed(self._chosen):
                self._chosen = self._choose()
                for warning in filter(None, (*self._chosen.warnings, self._chosen.failure)):
                    self._observer.warning(warning)
            return self._chosen

    @property
    def _embedder(self) -> CheckedEmbedder | None:
        return self._choice.embedder

    def _fitting(self, space: Space | None) -> CheckedEmbedder | None:
        """The embedder for queries to a space: the one whose own it is, else the wanted one."""
        for other in (self._choice.standing_in, self._choice.substitute):
            if space and other and space.identity == space_identity(other.identity):
                return other
        return self._embedder

    @property
    def _cache(self) -> EmbeddingCache:
        models = (self._embedder, self._choice.substitute)
        with self._choosing:
            if self._kept_embeddings is None:
                worth = any(model is not None and model.worth_caching for model in models)
                if not worth or not self._settings.cache_enabled:
                    self._kept_embeddings = NoCache()
                else:
                    from ..embed.sqlite_cache import SqliteCache

                    self._kept_embeddings = SqliteCache(
                        self._settings.cache_path,
                        max_entries=self._settings.cache_entries,
                        max_bytes=self._settings.cache_bytes,
                    )
            return self._kept_embeddings

    @property
    def _batches(self) -> Batches:
        return Batches(self._settings, self._choice, self._cache, self._observer, self._clock)

    def _synchronizer(self, store: SqliteStore) -> Synchronizer:
        return Synchronizer(
            self._sources,
            store,
            embedder=self._embedder,
            cache=self._cache,
            chunking=self._settings.chunking,
            observer=self._observer,
            clock=self._clock,
            standing_in=self._choice.standing_in,
            batches=self._batches.fill,
            substitute=self._choice.substitute,
        )


def _is_closed(choice: Choice) -> bool:
    """Whether a pass that was ended has closed one of the models."""
    models = (choice.embedder, choice.standing_in, choice.substitute)
    return any(model is not None and model.closed for model in models)
