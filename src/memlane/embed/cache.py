"""What a memory of embeddings is, and the one that remembers nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from .base import Vector


class EmbeddingCache(Protocol):
    """Remembers vectors by space and text digest."""

    def get(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors known for these digests in this space. Counts as a use."""
        ...

    def put(self, identity: Mapping[str, str | int], vectors: Iterable[tuple[bytes, Vector]]) -> None:
        """Remember vectors."""
        ...

    def known(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> set[bytes]:
        """For which of these digests there is a vector in this space. Does not count as a use."""
        ...

    def forget_others(self, identity: Mapping[str, str | int], dimensions: int) -> None:
        """Forget the vectors of this space that have another length."""
        ...

    def discard(self, digests: Sequence[bytes]) -> None:
        """Forget the vectors of these texts in every space."""
        ...

    def trim(self, in_use: Callable[[], Collection[bytes]]) -> None:
        """Forget what is beyond the limits: texts that are not in use first, then the least recently used.

        `in_use` gives the digests in use; it is asked only when something has to go.
        """
        ...

    def size(self) -> tuple[int, int]:
        """Entries and bytes on disk."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class NoCache:
    """Remembers nothing: for providers whose vectors are cheaper to compute than to read."""

    def get(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> dict[bytes, Vector]:  # noqa: ARG002
        """Nothing is known."""
        return {}

    def put(self, identity: Mapping[str, str | int], vectors: Iterable[tuple[bytes, Vector]]) -> None:
        """Nothing is kept."""

    def known(self, identity: Mapping[str, str | int], digests: Sequence[bytes]) -> set[bytes]:  # noqa: ARG002
        """Nothing is known."""
        return set()

    def forget_others(self, identity: Mapping[str, str | int], dimensions: int) -> None:
        """Nothing to forget."""

    def discard(self, digests: Sequence[bytes]) -> None:
        """Nothing is known of them."""

    def trim(self, in_use: Callable[[], Collection[bytes]]) -> None:
        """Nothing to forget."""

    def size(self) -> tuple[int, int]:
        """No entries."""
        return 0, 0

    def close(self) -> None:
        """Nothing to let go of."""
