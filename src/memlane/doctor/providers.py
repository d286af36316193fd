"""The embedding provider and its fallback: chosen for which reason, and whether they answer."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from ..embed.base import PROBE, CheckedEmbedder, NoVector
from ..embed.select import Choice
from ..errors import EmbeddingError
from .findings import Finding, advice, broken, failure, fine
from .subject import Subject


def check_provider(subject: Subject) -> Iterator[Finding]:
    """Embed one word. The check's own time limit covers a provider that never answers."""
    choice = subject.choose()
    try:
        yield from _findings(subject, choice)
    finally:
        choice.close()


def _findings(subject: Subject, choice: Choice) -> Iterator[Finding]:
    for warning in choice.warnings:
        yield advice("provider", warning, "mend the file, or what memorySearch.fallback needs")
    if subject.settings.memory_search.provider == "auto":
        yield from (fine("provider", f"passed over: {reason}") for reason in _passed_over(choice))
    if choice.fallback is not None:
        yield broken("provider", choice.fallback.reason, "do what it says; the fallback answers meanwhile")
    if choice.failure:
        yield broken(
            "provider",
            choice.failure,
            "do what it says, or set memorySearch.provider and model to what can be used",
        )
    elif choice.embedder is None:
        yield advice("provider", "no provider is configured: search is by keyword alone")
    else:
        yield _tried(choice.embedder, choice)
    if choice.substitute is not None:
        yield _tried(choice.substitute, choice)


def _passed_over(choice: Choice) -> tuple[str, ...]:
    """The reasons of automatic choice but that for the one it took."""
    used = choice.embedder.id if choice.embedder else ""
    return tuple(reason for reason in choice.reasons if not reason.startswith((f"{used}:", f"{used} (")))


def _tried(embedder: CheckedEmbedder, choice: Choice) -> Finding:
    """What using an embedder gives."""
    started = perf_counter()
    try:
        embedder.verify()
        vector = embedder.embed_query(PROBE)
    except EmbeddingError as error:
        return failure("provider", error)
    if isinstance(vector, NoVector):
        return broken("provider", f"{embedder.id} ({embedder.model}) answered no vector: {vector.reason}")
    took = 1000 * (perf_counter() - started)
    role = "the fallback " if embedder is choice.substitute else ""
    endpoint = choice.reached(embedder)
    named = f"{embedder.id}: {endpoint}" if endpoint else f"{embedder.id} ({embedder.model})"
    return fine("provider", f"{role}{named}: {embedder.dimensions} dimensions, answered in {took:.0f} ms")
