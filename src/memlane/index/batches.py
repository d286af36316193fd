"""Forming batches: as much a call as is well, counted and weighed."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..embed.base import Embedder
from .inputs import Draft

BATCH_BYTES = 14_000_000
"""What the files of one call may add up to. Gemini takes requests of 20 MB; as base64, bytes grow by a third,
and the texts and the frame around them want some room. A larger file goes alone."""

_MOST_TEXTS = 64
"""Of several calls at a time, none holds more texts: a larger one would hardly be faster, and all that is on
its way is lost, and paid again, when the process is killed."""


class _Waiting(NamedTuple):
    digest: bytes
    draft: Draft
    tokens: int
    """Estimated."""
    size: int
    """Bytes of a file to be sent; 0 for texts."""


class Batching:
    """Drafts that wait to be sent, first come, first served.

    The limits are asked for each batch: a provider may have learned meanwhile that it takes fewer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: deque[_Waiting] = deque()
        self._tokens = self._bytes = 0

    def add(self, digest: bytes, draft: Draft, tokens: int) -> None:
        """Have a draft wait."""
        size = 0 if isinstance(draft, str) else draft.size
        self._waiting.append(_Waiting(digest, draft, tokens, size))
        self._tokens += tokens
        self._bytes += size

    @property
    def is_ripe(self) -> bool:
        """Whether what waits makes a full batch."""
        return (
            len(self._waiting) >= self._most_texts()
            or self._tokens >= self._embedder.max_batch_tokens
            or self._bytes >= BATCH_BYTES
        )

    def take(self) -> dict[bytes, Draft]:
        """The next batch, drafts by digest: at least one, however long; none when nothing waits."""
        items, tokens, room = self._most_texts(), self._embedder.max_batch_tokens, BATCH_BYTES
        batch: dict[bytes, Draft] = {}
        while self._waiting and len(batch) < max(1, items):
            first = self._waiting[0]
            if batch and (first.tokens > tokens or (first.size and first.size > room)):
                break
            self._waiting.popleft()
            batch[first.digest] = first.draft
            tokens -= first.tokens
            room -= first.size
            self._tokens -= first.tokens
            self._bytes -= first.size
        return batch

    def _most_texts(self) -> int:
        most = self._embedder.max_batch_items
        return most if self._embedder.max_in_flight <= 1 else min(most, _MOST_TEXTS)
