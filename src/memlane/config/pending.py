"""Settings that are understood and checked but not acted upon yet. A row goes when its feature comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .merge import Merger
from .related import MemorySection
from .schema import MemorySearch


class Pending(NamedTuple):
    """One such setting."""

    key: str
    is_asked_for: Callable[[MemorySearch, MemorySection], bool]
    what: str
    instead: str
    """What happens, or with `refused` what to do."""
    refused: bool = False


PENDING = (
    Pending(
        "memorySearch.store.driver", lambda search, _: search.store.driver == "postgres",
        "the postgres store", 'use "sqlite"', refused=True,
    ),
    Pending(
        "memory.backend", lambda _, memory: memory.backend == "qmd",
        "the QMD backend", "the built-in index answers",
    ),
)  # fmt: skip


def note_pending(
    search: MemorySearch, memory: MemorySection, merger: Merger, *, only_errors: bool = False
) -> None:
    """Warn of each setting that is asked for and not available yet. ConfigError where nothing helps."""
    for row in PENDING:
        if not row.is_asked_for(search, memory):
            continue
        origin = merger.origins.get(row.key)
        message = f"{origin.place if origin else row.key}: {row.what}"
        message += f" is not available yet in this version; {row.instead}"
        if row.refused:
            raise merger.reader.error(message)
        if not only_errors:
            merger.note(message)
