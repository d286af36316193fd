"""The nouns the rooms trade with each other. Frozen, no behaviour beyond what follows from their fields.

Lines are 1-based and inclusive everywhere. Paths in results are relative to the workspace with `/`, or
absolute (with `/`) for extra paths outside it. Scores are in 0..1.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

from .events import Stage


class Value(Struct, frozen=True):
    """Base of all traded values: immutable, compared by content.

    A msgspec Struct rather than a dataclass: making one of these classes takes 0.03 ms at import, a frozen
    dataclass takes over 1 ms, and there are some eighty of them on the way to a search result.
    """


Source = Literal["memory", "sessions"]
Mode = Literal["hybrid", "keyword", "vector"]
Readiness = Literal["empty", "partial", "complete"]
"""How much of the notes an index can answer from."""


class SessionKind(StrEnum):
    """What sort of conversation a session is. Anything not recognised is UNKNOWN and treated as shared."""

    MAIN = "main"
    DIRECT = "direct"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"
    SUBAGENT = "subagent"
    CRON = "cron"
    UNKNOWN = "unknown"


class Session(Value, frozen=True):
    """A conversation as far as memory is concerned."""

    key: str
    kind: SessionKind
    private: bool
    """Only the owner is present: MEMORY.md may be shown."""
    channel: str | None = None

    @property
    def is_direct_chat(self) -> bool:
        """One person talks with the agent; citations are shown unless configured otherwise."""
        return self.kind in {SessionKind.MAIN, SessionKind.DIRECT}


# ---- workspace ---------------------------------------------------------------------------------------


class FileEntry(Value, frozen=True):
    """One indexable file as the scan of the tree saw it, unread."""

    path: str
    """As shown in results."""
    location: str
    """Where it lies on disk, absolute."""
    source: Source
    size: int
    mtime_ns: int
    inode: int
    """0 where the system has none."""
    device: int = 0
    day: date | None = None
    """The calendar day in its name, for dated files."""
    curated: bool = False
    """The workspace's MEMORY.md (or memory.md): for private sessions only."""
    evergreen: bool = True
    """False: its age counts for temporal decay (dated by name, or an extra path with `evergreen: false`)."""


class FileFailure(Value, frozen=True):
    """A file or folder that could not be listed, read or indexed, and why."""

    path: str
    reason: str


class TreeScan(Value, frozen=True):
    """What a walk over the workspace and the extra paths found."""

    files: tuple[FileEntry, ...]
    skipped_links: tuple[str, ...] = ()
    failed: tuple[FileFailure, ...] = ()
    """Folders and files that could not be listed or looked at."""
    missing_roots: tuple[str, ...] = ()
    """Configured extra paths that do not exist (yet)."""
    absent: tuple[str, ...] = ()
    """Where roots should be and nothing is (now), as locations: such extra paths, the `memory` folder."""


class Document(Value, frozen=True):
    """The text of one file: decoded, without BOM, lines ended by a line feed only."""

    text: str
    digest: str
    """SHA-256 (hex) of `text`, so that CRLF, BOM and LF forms of a note are the same document."""


# ---- chunks ------------------------------------------------------------------------------------------


class Chunk(Value, frozen=True):
    """A passage of a document."""

    start_line: int
    end_line: int
    text: str
    """The very text of the lines (or of a part of one over-long line), without the heading path."""
    heading: str = ""
    """`Title > Section`: prepended to what is embedded and a field of its own in full text."""

    @property
    def embedding_text(self) -> str:
        """What is embedded for this chunk."""
        return embedding_text(self.heading, self.text)


def embedding_text(heading: str, text: str) -> str:
    """What is embedded for a chunk: its heading path, then its text."""
    return f"{heading}\n{text}" if heading else text


# ---- search ------------------------------------------------------------------------------------------


class Filters(Value, frozen=True):
    """What a search is limited to. Applied inside both legs, never after."""

    source: Source | None = None
    path: str | None = None
    """A glob over result paths."""
    since: date | None = None
    until: date | None = None
    curated: bool = True
    """False leaves MEMORY.md out, for sessions that are not private."""


class Explanation(Value, frozen=True):
    """How one result came by its score. A field is None where its step did not touch the result."""

    keyword_rank: int | None = None
    """1-based."""
    keyword_raw: float | None = None
    """BM25, positive, bigger is better."""
    keyword_score: float | None = None
    vector_rank: int | None = None
    vector_raw: float | None = None
    """Cosine."""
    vector_score: float | None = None
    vector_weight: float = 0.0
    text_weight: float = 0.0
    fused: float = 0.0
    """Both legs together, 0..1."""
    late: float | None = None
    """Late interaction: how well the best window answers, piece by piece, 0..1."""
    reranked: float | None = None
    """What the reranking model says, 0..1."""
    nearness: float | None = None
    """How near the note's day lies to the time the question speaks of, 0..1."""
    strength: float = 0.0
    """All of the evidence together."""
    lead: float = 0.0
    """By how much the strength exceeds the best one of any other note."""
    threshold: float = 0.0
    passed_by: str = ""
    """Which leg carried it over the threshold."""
    age_days: int | None = None
    decay: float | None = None
    mmr_penalty: float | None = None
    mmr_against: str | None = None
    matched_terms: tuple[str, ...] = ()


class Hit(Value, frozen=True):
    """One search result."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: Source
    citation: str | None = None
    """`path#Lstart-Lend`, when citations are on."""
    matched_terms: tuple[str, ...] = ()
    explanation: Explanation | None = None


class SearchTotals(Value, frozen=True):
    """What happened to the candidates of a query on the way to its results."""

    keyword_candidates: int = 0
    vector_candidates: int = 0
    dropped_by_score: int = 0
    dropped_missing_file: int = 0
    dropped_by_size: int = 0
    periods: tuple[str, ...] = ()
    """The times that the question speaks of, as they were read."""
    generation: int | None = None
    last_sync: str | None = None
    """ISO time of the last pass that changed the index; for explained searches."""
    milliseconds: dict[str, float] = field(default_factory=dict)


class Why(Value, frozen=True):
    """Why a result list is empty, or why its results are hardly an answer (nothing_relevant).

    `code` is stable: disabled, denied, blank_query, no_searchable_terms, nothing_indexed, no_match,
    below_threshold, nothing_relevant, provider_failed, file_gone.
    """

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


class Fallback(Value, frozen=True):
    """Which provider or backend was wanted, and why another one answered."""

    origin: str
    reason: str


class Building(Value, frozen=True):
    """Vectors of the configured model that are not all there yet."""

    model: str
    done: int
    """Chunks that have one."""
    total: int

    def __str__(self) -> str:
        return f"{self.model}: {self.done:,} of {self.total:,} chunks"


class SearchResult(Value, frozen=True):
    """The answer to one search. Iterates over its hits."""

    hits: tuple[Hit, ...]
    provider: str
    model: str | None
    """The one whose vectors answered."""
    mode: Mode
    citations: str = "auto"
    fallback: Fallback | None = None
    stale: bool = False
    partial: bool = False
    building: Building | None = None
    """Set while a faster model answers in place of the configured one."""
    confidence: float | None = None
    """The chance that the best passage answers the question, 0..1; None where nothing was searched, or by
    keyword alone: such scores are no chances."""
    warning: str | None = None
    why: Why | None = None
    totals: SearchTotals = field(default_factory=SearchTotals)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


# ---- reading and writing -----------------------------------------------------------------------------


class Excerpt(Value, frozen=True):
    """Exact lines of a file (`memory_get`)."""

    path: str
    text: str
    start: int
    """1-based first line of `text`."""
    lines: int
    """How many lines `text` holds."""
    exists: bool
    truncated: bool = False
    next_start: int | None = None
    eof: bool = False
    """`start` lies beyond the last line."""


class Written(Value, frozen=True):
    """What `remember` did."""

    path: str
    line: int
    """1-based line at which the entry stands."""
    added: bool
    """False when the same entry stood there already."""


class ContextPart(Value, frozen=True):
    """One file of a session's opening context, cut at section borders where it was too long."""

    path: str
    text: str
    omitted_headings: tuple[str, ...] = ()
    omitted_characters: int = 0


class SessionContext(Value, frozen=True):
    """What an agent should have in its prompt when a session starts."""

    session_kind: str
    parts: tuple[ContextPart, ...]
    withheld: tuple[str, ...] = ()
    """Files that exist but must not be shown to a session of this kind."""
    text: str = ""
    """The parts, fenced as data, ready for a prompt."""


# ---- sync and status ---------------------------------------------------------------------------------


class SyncReport(Value, frozen=True):
    """What one pass over the tree did. Counts are files unless they say otherwise."""

    reason: str
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[FileFailure, ...] = ()
    skipped_links: tuple[str, ...] = ()
    chunks: int = 0
    """Chunks written."""
    embedded: int = 0
    """Chunks embedded by the provider."""
    from_cache: int = 0
    """Chunks whose embedding was known already."""
    without_vector: int = 0
    """Chunks that stay keyword-only."""
    seconds: float = 0.0
    files_read: int = 0
    warning: str | None = None
    left: int = 0
    """Chunks whose vectors, of a model that takes long, are left to a later pass; another model stands in."""
    complete: bool = True
    """False: stopped early or another process is writing; the next pass goes on."""
    busy: bool = False
    """Nothing was done, because another process (or another call) is writing."""
    changed: tuple[str, ...] = ()
    """Paths of the files that were indexed or removed, the first few of them."""


class Progress(Value, frozen=True):
    """How far the work at hand is."""

    stage: Stage
    done: int
    total: int
    """Files for `index`, chunks for `embed`."""
    seconds_left: float | None
    """At the pace so far; None while there is no pace yet."""


class Pass(Value, frozen=True):
    """One pass of a memory that keeps itself fresh."""

    reasons: tuple[str, ...]
    changed: tuple[str, ...]
    """Locations of notes and folders that the watch told of before it."""
    report: SyncReport | None
    """None when it failed."""
    failure: str = ""


class Upkeep(Value, frozen=True):
    """How a process that lives on keeps its index fresh."""

    watching: Literal["events", "polling", "off"]
    problem: str = ""
    """Why it polls although it should watch."""
    working_on: tuple[str, ...] = ()
    """The reasons for the pass at hand."""
    progress: Progress | None = None
    passes: int = 0
    """How many passes have ended."""
    fresh: bool = False
    """No change is known that is not indexed."""
    trouble: str = ""
    """Why the last pass did not do all there was to do."""


class Outlook(Value, frozen=True):
    """How far a search may rely on the index being up to date."""

    stale: bool
    trouble: str = ""


class StoreStatistics(Value, frozen=True):
    """Counts of what an index holds."""

    files: int = 0
    chunks: int = 0
    vectors: int = 0
    without_vector: int = 0
    failed: tuple[FileFailure, ...] = ()
    by_source: dict[str, int] = field(default_factory=dict)
    bytes_on_disk: int = 0


class Status(Value, frozen=True):
    """Everything `memlane status` tells of one agent."""

    agent: str
    enabled: bool
    workspace: str
    store_path: str
    backend: str
    provider: str
    model: str | None
    """The one whose vectors answer."""
    dimensions: int | None
    provider_reasons: tuple[str, ...]
    """Why this provider was chosen and the ones before it passed over."""
    vector_engine: str
    statistics: StoreStatistics
    generation: int | None
    last_sync: str | None
    """ISO time of the last pass that wrote something."""
    dirty: bool
    """The tree differs from the index, or the index is not complete."""
    pending: int | None
    """How many files differ; None when that could not be found out in time."""
    cache_entries: int
    cache_bytes: int
    skipped_links: tuple[str, ...] = ()
    missing_roots: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fallback: Fallback | None = None
    building: Building | None = None
    """Set while the vectors of the configured model are not all there."""
    complete: bool = True
    """A whole pass has gone into the index, and every chunk was asked for a vector of this model."""
    extra_paths: tuple[str, ...] = ()
    """As configured."""
    notes: int = 0
    """Files that count as notes now."""
    note_bytes: int = 0
    seconds_since_sync: int | None = None
    read_only: bool = False
    """The index can be read but not written."""
    writer: str | None = None
    """Which process is writing the index now, since when."""
    upkeep: Upkeep | None = None
    """In a process that lives on: how the index is kept fresh."""
