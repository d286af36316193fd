"""Asking after the parts of a memory one by one, and trying the provider, each within a limit of time."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

from ..embed.base import PROBE, CheckedEmbedder, NoVector, Vector, dimensions_of
from ..embed.select import Choice
from ..errors import EmbeddingError, StoreCorrupt, StoreError
from ..index.identity import space_identity
from ..index.sqlite import SqliteStore
from ..patience import TookTooLong, within
from ..values import Filters

_Answer = TypeVar("_Answer")
_Other = TypeVar("_Other")


class Questions:
    """Asks one thing after another. What takes too long or fails becomes a warning, and the rest is told."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.warnings: list[str] = []

    def ask(self, what: str, work: Callable[[], _Answer], otherwise: _Other) -> _Answer | _Other:
        """What the work gives. Raises StoreCorrupt, which is mended, and what is wrong with the workspace."""
        try:
            return within(self._seconds, work)
        except TookTooLong:
            self.warnings.append(f"{what} took longer than {self._seconds:.0f} s and is left out")
        except StoreCorrupt:
            raise
        except (StoreError, EmbeddingError) as error:
            self.warnings.append(str(error))
        return otherwise


def probe(questions: Questions, store: SqliteStore, choice: Choice, answering: CheckedEmbedder | None) -> str:
    """Use the provider, then, where its vectors answer, those. What it gave, in words, when all is well."""
    embedder = choice.embedder
    if embedder is None:
        questions.warnings += [choice.failure] if choice.failure else []
        return ""
    started = perf_counter()
    vector = questions.ask(f"asking {embedder.id} for a vector", lambda: _embedded(embedder), None)
    took = 1000 * (perf_counter() - started)
    if vector is None:
        return ""
    if isinstance(vector, NoVector):
        questions.warnings.append(f"embedding failed: {vector.reason}")
        return ""
    found = dimensions_of(vector)
    if problem := questions.ask("comparing vectors", lambda: _misfit(store, embedder, vector), ""):
        questions.warnings.append(problem)
        return ""
    told = f"{embedder.id} ({embedder.model}) answered in {took:.0f} ms with a vector of {found} dimensions"
    return told if answering is embedder else f"{told}, which is not in use yet"


def _embedded(embedder: CheckedEmbedder) -> Vector | NoVector:
    try:
        embedder.verify()
        return embedder.embed_query(PROBE)
    except EmbeddingError as error:
        return NoVector(f"{error} ({error.hint})" if error.hint else str(error))


def _misfit(store: SqliteStore, embedder: CheckedEmbedder, vector: Vector) -> str:
    """Why the provider's vector cannot be compared with its stored ones; empty when it can, or none are."""
    space = store.current_space()
    if space is None or space.identity != space_identity(embedder.identity):
        return ""
    found = dimensions_of(vector)
    if space.dimensions and space.dimensions != found:
        return (
            f"{embedder.id} ({embedder.model}) gives vectors of {found} dimensions, and the index holds its "
            f"vectors with {space.dimensions}: memlane index --force makes them again"
        )
    if not store.vector_candidates(vector, limit=1, filters=Filters()) and store.statistics().vectors:
        return "the stored vectors cannot be compared with those of the provider"
    return ""
