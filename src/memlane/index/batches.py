"""Forming batches: as many texts a call as is well, counted and weighed."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..embed.base import Embedder

_MOST_TEXTS = 64
"""Of several calls at a time, none holds more texts: a larger one would hardly be faster, and all that is on
its way is lost, and paid again, when the process is killed."""


class _Text(NamedTuple):
    digest: bytes
    text: str
    tokens: int
    """Estimated."""


class Batching:
    """Texts that wait to be sent, first come, first served.

    The limits are asked for each batch: a provider may have learned meanwhile that it takes fewer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: deque[_Text] = deque()
        self._tokens = 0

    def add(self, digest: bytes, text: str, tokens: int) -> None:
        """Have a text wait."""
        self._waiting.append(_Text(digest, text, tokens))
        self._tokens += tokens

    @property
    def is_ripe(self) -> bool:
        """Whether what waits makes a full batch."""
        return len(self._waiting) >= self._most_texts() or self._tokens >= self._embedder.max_batch_tokens

    def take(self) -> dict[bytes, str]:
        """The next batch, texts by digest: at least one, however long; none when nothing waits."""
        items, room = self._most_texts(), self._embedder.max_batch_tokens
        batch: dict[bytes, str] = {}
        while self._waiting and len(batch) < max(1, items):
            if batch and self._waiting[0].tokens > room:
                break
            digest, text, tokens = self._waiting.popleft()
            batch[digest] = text
            room -= tokens
            self._tokens -= tokens
        return batch

    def _most_texts(self) -> int:
        most = self._embedder.max_batch_items
        return most if self._embedder.max_in_flight <= 1 else min(most, _MOST_TEXTS)
