"""Several calls of one provider on their way at the same time.

Each call runs in a thread of its own, which lives as long as the call and does not keep the process alive:
one that hangs can be left behind. A model that takes one call at a time is called in the caller's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from ..errors import EmbeddingError
from .base import Embedder, NoVector, Vector

_Draft = TypeVar("_Draft")
_BEAT_SECONDS = 0.5
_CANCEL_SECONDS = 1.0
"""How long cancelled calls are waited for: what they had made travels in their error."""


class Landed(NamedTuple):
    """What came of one call."""

    asked: tuple[bytes, ...]
    """The digests of what was sent, in order."""
    made: Mapping[bytes, Vector | NoVector]
    """All of them, or of a call that failed those that it made before."""
    error: BaseException | None = None


class Flights(Generic[_Draft]):
    """Sends batches, and gives back what came of them. For one thread."""

    def __init__(
        self, embedder: Embedder, vectors_of: Callable[[Sequence[_Draft]], list[Vector | NoVector]]
    ) -> None:
        """`vectors_of` asks the embedder for the vectors of a batch, in the thread of the call."""
        self._embedder = embedder
        self._vectors_of = vectors_of
        self._arrivals: SimpleQueue[Landed] = SimpleQueue()
        self.flying = 0
        """Calls that were sent and not given back yet."""

    @property
    def is_full(self) -> bool:
        """Whether one has to land before another is sent."""
        return self.flying >= max(1, self._embedder.max_in_flight)

    def send(self, batch: Mapping[bytes, _Draft]) -> None:
        """Ask for the vectors of these drafts, by digest; with one call at a time, this waits for them."""
        self.flying += 1
        if self._embedder.max_in_flight > 1:
            name = "memlane-embed"
            threading.Thread(target=self._call, args=(batch,), name=name, daemon=True).start()
        else:
            self._call(batch)

    def land(self, beat: Callable[[], None]) -> list[Landed]:
        """All calls that are back, at least one. `beat` is called twice a second while none is.

        It may raise to end the waiting.
        """
        landed = self._back()
        while not landed:
            with suppress(Empty):
                landed = [self._arrival(_BEAT_SECONDS), *self._back()]
            if not landed:
                beat()
        return landed

    def abandon(self, grace: float) -> list[Landed]:
        """Cancel what is not back within `grace` seconds. Gives what is back and what was made until then."""
        landed = self._within(grace)
        if self.flying:
            self._embedder.close()
            landed += self._within(_CANCEL_SECONDS)
        return landed

    def _within(self, seconds: float) -> list[Landed]:
        landed = self._back()
        until = monotonic() + seconds
        with suppress(Empty):
            while self.flying and (left := until - monotonic()) > 0:
                landed.append(self._arrival(left))
        return landed

    def _back(self) -> list[Landed]:
        landed = []
        with suppress(Empty):
            while self.flying:
                landed.append(self._arrival(0.0))
        return landed

    def _arrival(self, seconds: float) -> Landed:
        """The next call that is back. Raises Empty after so many seconds."""
        landed = self._arrivals.get(timeout=seconds) if seconds else self._arrivals.get_nowait()
        self.flying -= 1
        return landed

    def _call(self, batch: Mapping[bytes, _Draft]) -> None:
        digests = tuple(batch)
        try:
            vectors = self._vectors_of(list(batch.values()))
            landed = Landed(digests, dict(zip(digests, vectors, strict=True)))
        except EmbeddingError as error:
            landed = Landed(digests, {digests[place]: vector for place, vector in error.made.items()}, error)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            landed = Landed(digests, {}, error)
        self._arrivals.put(landed)
