"""Vectors of a slow model, while a fast one answers.

The fast model stands in: its vectors are made first and answer at once. Those of the wanted model are made
behind them, and when all are there they take over in one transaction. Each model has a space of its own, so
vectors of two models are never compared.
"""

from __future__ import annotations

from ..embed.base import Embedder
from ..embed.cache import EmbeddingCache, NoCache
from ..events import Observer
from ..values import Building
from .fill import FillCount, SpaceFill
from .identity import space_identity
from .store import Generation, Space, Store

FEW = 16
"""So many chunks the slow model embeds at once, in one or two seconds: a new note, a small folder."""
_TOLERATED_SHARE = 4
"""The wanted model goes on answering while it lacks at most one chunk in so many; beyond, the fast one stands
in again. Between, chunks without its vector are found by keyword."""


class Changeover:
    """Fills the spaces of one generation after another."""

    def __init__(
        self,
        store: Store,
        *,
        wanted: Embedder,
        standing_in: Embedder,
        cache: EmbeddingCache,
        observer: Observer,
    ) -> None:
        self._store = store
        self._wanted = wanted
        self._standing_in = standing_in
        self._cache = cache
        self._observer = observer
        self._identity = space_identity(wanted.identity)
        self.kept = (self._identity, space_identity(standing_in.identity))
        """The identities of the spaces that belong to a changeover."""

    def is_due(self, generation: Generation, space: Space | None, *, brief: bool) -> bool:
        """Whether a pass over a generation that needs no reading has vectors to make.

        `space` is the one that answers. A `brief` pass leaves the many to a later one.
        """
        if space is not None and space.identity == self._identity and space.complete:
            return False
        target = self._store.find_space(generation, self._identity)
        if not brief or target is None or space is None:
            return True
        missing = self._store.unembedded_count(target)
        if missing <= FEW:
            return True
        return not (self._answers(target, missing) or (space.identity in self.kept and space.complete))

    def building(self) -> Building | None:
        """How far the wanted model's vectors are; None when they answer and none is missing."""
        generation, space = self._store.current_generation(), self._store.current_space()
        if generation is None or (space and space.identity == self._identity and space.complete):
            return None
        target = self._store.find_space(generation, self._identity)
        total = self._store.chunk_count()
        missing = self._store.unembedded_count(target) if target else total
        return Building(self._wanted.model, total - missing, total)

    def run(self, generation: Generation, *, trusting: bool, brief: bool) -> FillCount:
        """Make the vectors that are due and let them answer. Raises StoreError alone.

        `trusting` takes vectors over from the index itself.
        """
        known = self._store.find_space(generation, self._identity)
        target = known or self._store.target_space(generation, self._identity, keep=self.kept, behind=True)
        fill = SpaceFill(self._store, target, self._wanted, self._cache, self._observer, trusting=trusting)
        if known is None:
            fill.run(known_only=True)  # a new space for old texts: the cache may hold all of them
        missing = self._store.unembedded_count(target)
        answers = self._answers(target, missing)
        stand_in = FillCount()
        if not answers and missing > FEW:
            stand_in = self._stand_in(generation)
        if not brief or missing <= FEW:
            count = fill.run()
            if not count.failure:
                self._store.promote(generation, target)
                return count
            if not answers and missing <= FEW:
                self._stand_in(generation)
            self._store.promote(generation, None)
            return count
        self._store.promote(generation, None)
        return stand_in

    def _answers(self, target: Space, missing: int) -> bool:
        """Whether the wanted model's vectors answer queries, and may go on with what they lack."""
        return target.current and _TOLERATED_SHARE * missing <= self._store.chunk_count()

    def _stand_in(self, generation: Generation) -> FillCount:
        """Let the fast model answer. If it cannot, keywords do."""
        identity = space_identity(self._standing_in.identity)
        space = self._store.target_space(generation, identity, keep=self.kept)
        fill = SpaceFill(self._store, space, self._standing_in, NoCache(), self._observer)
        count = fill.run()
        if not count.failure:
            self._store.promote(generation, space, keep=self.kept)
        return count
