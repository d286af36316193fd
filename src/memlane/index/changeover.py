"""Which model's vectors answer, and what is done until the wanted one has all of its own.

Two other models may answer meanwhile. One that stands in is fast: its vectors are made first, and those of
the wanted model behind them. A substitute is the configured fallback: it takes over when the wanted provider
fails, until that works again. Each model has a space of its own, so vectors of two models are never compared;
the wanted one takes over in one transaction as soon as its space is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from ..clock import Clock
from ..embed.base import PROBE, Embedder
from ..embed.cache import EmbeddingCache, NoCache
from ..errors import EmbeddingError
from ..events import Observer
from ..values import Building, Fallback
from .identity import space_identity
from .lengths import is_noted
from .pause import Pause, Pauses
from .store import Generation, Space, Store
from .unrelated import measure_unrelated

if TYPE_CHECKING:
    from ..embed.batch.fill import BatchFill
    from .fill import FillCount, SpaceFill
    from .sync import Effort

FEW = 16
"""So many chunks a slow model embeds at once, in one or two seconds: a new note, a small folder."""
_TOLERATED_SHARE = 4
"""The wanted model goes on answering while it lacks at most one chunk in so many; beyond, the fast one stands
in again. Between, chunks without its vector are found by keyword."""


class Filled(Struct):
    """What came of filling the spaces of a generation."""

    count: FillCount
    failure: str = ""
    """Why chunks lack vectors that can answer."""
    fallback: Fallback | None = None
    """Set when the substitute answers in place of the wanted provider."""


class Changeover:
    """Fills the spaces of one generation after another."""

    def __init__(
        self,
        store: Store,
        *,
        wanted: Embedder,
        cache: EmbeddingCache,
        observer: Observer,
        clock: Clock,
        standing_in: Embedder | None = None,
        substitute: Embedder | None = None,
        batches: Callable[[], BatchFill | None] = lambda: None,
    ) -> None:
        """`batches` gives what takes batch jobs of `wanted` on in a pass, where it has them."""
        self._store = store
        self._wanted = wanted
        self._standing_in = standing_in
        self._substitute = substitute
        self._batches = batches
        self._cache = cache
        self._observer = observer
        self._pauses = Pauses(store, wanted, clock)
        self._identity = space_identity(wanted.identity)
        self._others = {
            space_identity(other.identity): other for other in (standing_in, substitute) if other is not None
        }
        self.kept = (self._identity, *self._others)
        """The identities of the spaces that belong to a changeover."""

    def is_due(self, generation: Generation, space: Space | None, effort: Effort) -> bool:
        """Whether a pass over a generation that needs no reading has vectors to make.

        `space` is the one that answers. A brief pass leaves the many to a later one.
        """
        if space is not None and is_noted(self._store, space):
            return True
        if space is not None and space.identity == self._identity and space.complete:
            return False
        deputised = space is not None and space.identity in self._others and space.complete
        if deputised and not effort.asked and self._pauses.in_force():
            return False
        target = self._store.find_space(generation, self._identity)
        if not effort.brief or target is None or space is None or not self._others:
            return True
        missing = self._store.unembedded_count(target)
        return missing <= FEW or not (deputised or self._answers(target, missing))

    def building(self) -> Building | None:
        """How far the wanted model's vectors are; None when they answer and none is missing."""
        generation, space = self._store.current_generation(), self._store.current_space()
        if generation is None or (space and space.identity == self._identity and space.complete):
            return None
        target = self._store.find_space(generation, self._identity)
        total = self._store.chunk_count()
        missing = self._store.unembedded_count(target) if target else total
        return Building(self._wanted.model, total - missing, total)

    def fallback(self, space: Space | None) -> Fallback | None:
        """Why the substitute answers; None where it does not."""
        if space is None or self._substitute is None:
            return None
        if space.identity != space_identity(self._substitute.identity):
            return None
        last = self._pauses.last()
        return Fallback(self._wanted.id, last.reason if last else "its vectors are not complete yet")

    @property
    def substitute_name(self) -> str:
        """The name of the configured fallback."""
        return self._substitute.id if self._substitute else "none"

    def pause(self) -> Pause | None:
        """Until when the wanted provider is left alone."""
        return self._pauses.in_force()

    def run(self, generation: Generation, effort: Effort) -> Filled:
        """Make the vectors that are due and let them answer. Raises StoreError, and what the observer raises.

        A forced pass takes no vectors over from the index itself.
        """
        from .fill import FillCount  # most searches look whether there is something to do, and find nothing

        target, fill = self._wanted_fill(generation, trusting=not effort.force)
        missing = self._store.unembedded_count(target)
        answers = self._answers(target, missing)
        substituting = self.fallback(self._store.current_space())
        many = missing > FEW
        helped = FillCount()
        if self._standing_in and not substituting and not answers and many:
            helped = self._let_answer(generation, self._standing_in)
        if effort.brief and many and (self._standing_in or substituting):
            if self._substitute and substituting:
                helped = self._let_answer(generation, self._substitute)
            self._store.promote(generation, None)
            return Filled(helped, str(helped.error or ""), None if helped.error else substituting)
        probing = bool(substituting) or (effort.brief and missing > 0)
        count, problem = self._make(fill, target, effort, probing=probing)
        if not problem:
            measure_unrelated(self._store, target, self._wanted)
            self._store.promote(generation, target)
            self._pauses.end()
            return Filled(count)
        if count.left and count.error is None:
            return self._do_without(generation, count, problem, None)  # jobs make what is missing
        standing_in = None if answers or many else self._standing_in
        return self._do_without(generation, count, problem, self._substitute or standing_in)

    def _wanted_fill(self, generation: Generation, *, trusting: bool) -> tuple[Space, SpaceFill]:
        """The wanted model's space and what fills it. A new one takes what the cache holds at once."""
        known = self._store.find_space(generation, self._identity)
        target = known or self._store.target_space(
            generation, self._identity, keep=self.kept, behind=self._standing_in is not None
        )
        fill = self._space_fill(target, self._wanted, trusting=trusting)
        if known is None and self._others:
            fill.run(known_only=True)
        return target, fill

    def _make(
        self, fill: SpaceFill, target: Space, effort: Effort, *, probing: bool
    ) -> tuple[FillCount, str]:
        """Have the wanted model's vectors made; gives why they are not all there.

        `probing` asks the provider for one vector first, with the little patience that a query has: a search
        waits for no provider that is down, and where none is missing it tells whether it is back.
        """
        from .fill import FillCount

        pause = self._heeded(effort)
        if pause is not None:
            count = fill.run(known_only=True)
            if self._substitute is None and not self._store.unembedded_count(target):
                return count, ""
            return count, str(pause)
        error = self._probe() if probing else None
        outlook = ""
        if error:
            count = FillCount(error=error)
        else:
            count, outlook = self._fill(fill, target, effort)
        if count.error is None:
            return count, outlook
        return count, str(self._pauses.begin(count.error))

    def _heeded(self, effort: Effort) -> Pause | None:
        """The pause in force, unless the pass is to ask all the same."""
        pause = self._pauses.in_force()
        if pause is None or effort.force:
            return None
        return None if effort.asked and not pause.is_stated else pause

    def _fill(self, fill: SpaceFill, target: Space, effort: Effort) -> tuple[FillCount, str]:
        """Have batch jobs do their part, and the rest directly. Gives what is said of texts left to jobs."""
        batches = self._batches()
        if batches is None:
            return fill.run(), ""
        from .by_jobs import fill_by_jobs

        jobs = fill_by_jobs(
            batches,
            self._store,
            target,
            self._wanted,
            self._cache,
            trusting=not effort.force,
            brief=effort.brief,
        )
        count = fill.run(leaving=jobs.left)
        count.from_batches += jobs.taken
        return count, jobs.outlook if count.left else ""

    def _do_without(
        self, generation: Generation, count: FillCount, problem: str, deputy: Embedder | None
    ) -> Filled:
        """The wanted provider makes no more for now: let the deputy answer, where there is one."""
        if deputy is not None:
            helped = self._let_answer(generation, deputy)
            if helped.error is not None:
                problem = f"{problem}; {deputy.id}: {helped.error}"
            elif deputy is self._substitute:
                return Filled(count + helped, fallback=Fallback(self._wanted.id, problem))
        if self._others or generation.current or self._store.current_space() is None:
            self._store.promote(generation, None)
        # Else the old generation, whose vectors still answer, stays until this one has its own.
        return Filled(count, problem)

    def _probe(self) -> EmbeddingError | None:
        try:
            self._wanted.embed_query(PROBE)
        except EmbeddingError as error:
            return error
        return None

    def _answers(self, target: Space, missing: int) -> bool:
        """Whether the wanted model's vectors answer queries, and may go on with what they lack."""
        return target.current and _TOLERATED_SHARE * missing <= self._store.chunk_count()

    def _let_answer(self, generation: Generation, deputy: Embedder) -> FillCount:
        """Let another model answer. If it cannot, keywords do."""
        space = self._store.target_space(generation, space_identity(deputy.identity), keep=self.kept)
        count = self._space_fill(space, deputy).run()
        if count.error is None:
            measure_unrelated(self._store, space, deputy)
            self._store.promote(generation, space, keep=self.kept)
        return count

    def _space_fill(self, space: Space, embedder: Embedder, *, trusting: bool = True) -> SpaceFill:
        from .fill import SpaceFill

        cache = self._cache if embedder.worth_caching else NoCache()
        return SpaceFill(self._store, space, embedder, cache, self._observer, trusting=trusting)
