"""Embedders for tests of calls that run at the same time, and of providers that come and go."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

from memlane.clock import FixedClock
from memlane.embed.base import Input, NoVector, Vector, texts_of
from memlane.errors import EmbeddingError
from memlane.testing import HashEmbedder


class Remote(HashEmbedder):
    """Takes four calls at a time; fails while it is told to, and counts what it is asked."""

    id = "remote"
    max_batch_items = 8
    max_in_flight = 4

    def __init__(self, dimensions: int = 32, *, model: str = "words") -> None:
        super().__init__(dimensions, model=model)
        self.batches: list[list[str]] = []
        self.failure: EmbeddingError | None = None
        self.closed = 0
        self._guard = threading.Lock()

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        with self._guard:
            self.batches.append(texts_of(inputs))
            if self.failure is not None:
                raise self.failure
            return super().embed_documents(inputs)

    def embed_query(self, text: str) -> Vector | NoVector:
        if self.failure is not None:
            self.queries.append(text)
            raise self.failure
        return super().embed_query(text)

    def close(self) -> None:
        self.closed += 1


class Gate(Remote):
    """Holds its calls until the test lets them through, and ends them when it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Semaphore(0)
        """Released by each call that has come in."""
        self.through = threading.Semaphore(0)
        self._ended = threading.Event()

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        self.waiting.release()
        while not self.through.acquire(timeout=0.01):
            if self._ended.is_set():
                first = dict(enumerate(super().embed_documents(inputs[:1])))
                raise EmbeddingError("the call was cancelled", made=first)
        return super().embed_documents(inputs)

    def close(self) -> None:
        super().close()
        self._ended.set()


class Moving(FixedClock):
    """A clock the test puts forward."""

    def pass_by(self, **time: float) -> None:
        self._moment += timedelta(**time)
