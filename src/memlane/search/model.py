"""A reranking model's look at the first passages, within a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ..clock import Clock
from ..errors import RerankError
from ..rerank.base import CheckedReranker, Reranker
from ..values import Value

_BATCH = 4
"""Texts a call, where there is a deadline: it is kept but for one of these."""


class ModelScores(Value, frozen=True):
    """What a model said."""

    scores: tuple[float, ...] = ()
    """One for each text, or none at all."""
    warning: str = ""
    """Why there are none."""


class RerankingModel:
    """The reranking model of a memory: made at its first use, once. Thread-safe."""

    def __init__(
        self,
        choose: Callable[[], Reranker],
        *,
        candidates: int,
        seconds: float,
        clock: Clock,
    ) -> None:
        """`choose` gives the model or raises RerankError. `candidates` is how many texts it reads at most.

        `seconds` is the deadline of one look, 0 for none. Loading the model does not count: it happens once.
        """
        self.candidates = candidates
        self._choose = choose
        self._seconds = seconds
        self._clock = clock
        self._making = threading.Lock()
        self._model: CheckedReranker | None = None
        self._failure = ""

    def look(self, query: str, texts: Sequence[str]) -> ModelScores:
        """A score for each text, or a warning. All are scored or none: half of an order would be chance."""
        if not texts:
            return ModelScores()
        model = self._made()
        if model is None:
            return ModelScores(warning=self._failure)
        batch = _BATCH if self._seconds else max(1, len(texts))
        start = self._clock.monotonic()
        scores: list[float] = []
        try:
            while len(scores) < len(texts):
                if scores and self._clock.monotonic() - start >= self._seconds > 0:
                    return ModelScores(warning=self._too_slow(model, len(scores), len(texts)))
                scores += model.scores(query, texts[len(scores) : len(scores) + batch])
        except RerankError as error:
            return ModelScores(warning=_without(error))
        return ModelScores(tuple(scores))

    def _made(self) -> CheckedReranker | None:
        """The model, or None with a reason. One that cannot be used is tried once."""
        with self._making:
            if self._model is None and not self._failure:
                try:
                    self._model = CheckedReranker(self._choose())
                except RerankError as error:
                    self._failure = _without(error)
            return self._model

    def _too_slow(self, model: CheckedReranker, done: int, total: int) -> str:
        return (
            f"the reranking model {model.name} had read {done} of {total} passages after "
            f"{1000 * self._seconds:.0f} ms, so it was not heard; lower query.rerank.candidates, raise "
            "query.rerank.deadlineMs (0 waits for it), or take a smaller model"
        )


def _without(error: RerankError) -> str:
    remedy = f" ({error.hint})" if error.hint else ""
    return f"{error}{remedy}; the order is the one without a reranking model"
