"""The embedding provider: chosen for which reason, and whether it answers."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from ..embed.base import NoVector
from ..errors import EmbeddingError
from .findings import Finding, advice, broken, failure, fine
from .subject import Subject


def check_provider(subject: Subject) -> Iterator[Finding]:
    """Embed one word. The check's own time limit covers a provider that never answers."""
    choice = subject.choose()
    if choice.failure:
        yield broken(
            "provider",
            choice.failure,
            "do what it says, or set memorySearch.provider and model to what can be used",
        )
        return
    embedder = choice.embedder
    if embedder is None:
        yield advice("provider", "no provider is configured: search is by keyword alone")
        return
    started = perf_counter()
    try:
        embedder.verify()
        vector = embedder.embed_query("memory")
    except EmbeddingError as error:
        yield failure("provider", error)
        return
    if isinstance(vector, NoVector):
        yield broken("provider", f"{embedder.id} ({embedder.model}) answered no vector: {vector.reason}")
        return
    took = 1000 * (perf_counter() - started)
    yield fine(
        "provider",
        f"{embedder.id} ({embedder.model}): {embedder.dimensions} dimensions, answered in {took:.0f} ms",
    )
