"""The nouns the rooms trade with each other. Frozen, no behaviour beyond what follows from their fields.

Lines are 1-based and inclusive everywhere. Paths in results are relative to the workspace with `/`, or
absolute (with `/`) for extra paths outside it. Scores are in 0..1.
"""

from __future__ import annotations

from .base import Value
from .batches import BatchJob, BatchReport
from .notes import (
    Chunk,
    ContextPart,
    Document,
    Excerpt,
    FileEntry,
    FileFailure,
    Modality,
    Session,
    SessionContext,
    SessionKind,
    Source,
    TreeScan,
    Written,
    embedding_text,
)
from .search import (
    Building,
    Explanation,
    Fallback,
    Filters,
    Hit,
    Mode,
    Recalled,
    SearchResult,
    SearchTotals,
    Why,
)
from .upkeep import IndexPlan, Outlook, Pass, Progress, Readiness, Status, StoreStatistics, SyncReport, Upkeep

__all__ = [
    "BatchJob",
    "BatchReport",
    "Building",
    "Chunk",
    "ContextPart",
    "Document",
    "Excerpt",
    "Explanation",
    "Fallback",
    "FileEntry",
    "FileFailure",
    "Filters",
    "Hit",
    "IndexPlan",
    "Modality",
    "Mode",
    "Outlook",
    "Pass",
    "Progress",
    "Readiness",
    "Recalled",
    "SearchResult",
    "SearchTotals",
    "Session",
    "SessionContext",
    "SessionKind",
    "Source",
    "Status",
    "StoreStatistics",
    "SyncReport",
    "TreeScan",
    "Upkeep",
    "Value",
    "Why",
    "Written",
    "embedding_text",
]
