"""Memlane: memory for AI agents. Plain Markdown is the truth; everything else is derived from it.

The rooms, in the order in which data flows through them (each imports only those before it):

    errors, clock, disk, events, patience,
    values                                  what all share
    config                                  every key, where values come from, what is wrong with them
    markdown                                text → blocks → chunks (pure)
    workspace                               which files are notes; reading, appending, session context
    embed, progress                         text → vectors: the providers and the cache; how far that is
    rerank                                  query and passage read together by a model, where there is one
    transcripts                             what was said in sessions: read, written, masked
    tombstones                              what is forgotten, known by digests alone
    index                                   chunks → full text and vectors in one SQLite file; syncing
    search                                  query → two legs → fused, explained, ranked results
    sessions, backends                      the life of a conversation; the index behind one protocol
    testing                                 stand-ins for tests of code that uses Memlane
    doctor                                  what is wrong, and what to do about it
    tools                                   what an agent's model sees
    evaluate                                a user's own questions: measures, reasons of misses, comparisons
    forget                                  forgetting: looked for, planned, done, proved
    agenda, background, freshness           keeping the index in step, also in a process that lives on
    asking, recollection                    a search, and what was said, as far as who asks may have them
    wiring                                  the rooms put together under the settings in force
    calls, memory, async_memory             `Memory`: its calls, a subject to a module, over rooms opened once
    surfaces                                the command line and servers, thin
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .async_memory import AsyncMemory
    from .doctor import DoctorReport, Finding
    from .errors import (
        ChatError,
        ConfigError,
        ContextOverflow,
        EmbeddingError,
        Interrupted,
        MemlaneError,
        PathRefused,
        ProviderUnavailable,
        QuotaExhausted,
        RerankError,
        SessionError,
        StoreBusy,
        StoreCorrupt,
        StoreError,
        UsageError,
        WorkspaceError,
    )
    from .memory import Memory
    from .values import (
        Excerpt,
        Hit,
        IndexPlan,
        Pass,
        Recalled,
        SearchResult,
        SessionContext,
        Status,
        SyncReport,
        Upkeep,
        Written,
    )

_HOMES = {
    "Memory": "memory",
    "AsyncMemory": "async_memory",
    "DoctorReport": "doctor",
    "Finding": "doctor",
    **dict.fromkeys(
        (
            "ChatError",
            "ConfigError",
            "ContextOverflow",
            "EmbeddingError",
            "Interrupted",
            "MemlaneError",
            "PathRefused",
            "ProviderUnavailable",
            "QuotaExhausted",
            "RerankError",
            "SessionError",
            "StoreBusy",
            "StoreCorrupt",
            "StoreError",
            "UsageError",
            "WorkspaceError",
        ),
        "errors",
    ),
    **dict.fromkeys(
        (
            "Excerpt",
            "Hit",
            "IndexPlan",
            "Pass",
            "Recalled",
            "SearchResult",
            "SessionContext",
            "Status",
            "SyncReport",
            "Upkeep",
            "Written",
        ),
        "values",
    ),
}

__all__ = [
    "AsyncMemory",
    "ChatError",
    "ConfigError",
    "ContextOverflow",
    "DoctorReport",
    "EmbeddingError",
    "Excerpt",
    "Finding",
    "Hit",
    "IndexPlan",
    "Interrupted",
    "MemlaneError",
    "Memory",
    "Pass",
    "PathRefused",
    "ProviderUnavailable",
    "QuotaExhausted",
    "Recalled",
    "RerankError",
    "SearchResult",
    "SessionContext",
    "SessionError",
    "Status",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "SyncReport",
    "Upkeep",
    "UsageError",
    "WorkspaceError",
    "Written",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Public names are imported at first use, so that `import memlane` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'memlane' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
