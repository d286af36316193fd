"""Forming batches: as many texts a call as the provider takes, counted and weighed."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..embed.base import Embedder


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
        return (
            len(self._waiting) >= self._embedder.max_batch_items
            or self._tokens >= self._embedder.max_batch_tokens
        )

    def take(self) -> dict[bytes, str]:
        """The next batch, texts by digest: at least one, however long; none when nothing waits."""
        items, room = self._embedder.max_batch_items, self._embedder.max_batch_tokens
        batch: dict[bytes, str] = {}
        while self._waiting and len(batch) < max(1, items):
            if batch and self._waiting[0].tokens > room:
                break
            digest, text, tokens = self._waiting.popleft()
            batch[digest] = text
            room -= tokens
            self._tokens -= tokens
        return batch
