"""Keeping the index fresh: passes, progress, and the state of a memory."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from ..events import Stage
from .base import Value
from .batches import BatchJob
from .notes import FileFailure
from .search import Building, Fallback

Readiness = Literal["empty", "partial", "complete"]
"""How much of the notes an index can answer from."""


class SyncReport(Value, frozen=True):
    """What one pass over the tree did. Counts are files unless they say otherwise."""

    reason: str
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[FileFailure, ...] = ()
    skipped_links: tuple[str, ...] = ()
    skipped: tuple[FileFailure, ...] = ()
    """Images and audio that are passed over, and why."""
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
    from_batches: int = 0
    """Vectors that batch jobs have made and this pass has taken over."""
    fallback: Fallback | None = None
    """Set when the configured fallback's vectors answer."""
    retry_at: str | None = None
    """ISO time from which on a provider that failed is asked again by itself; before, only by a pass
    that somebody asks for, and not if the provider has named that time."""


class IndexPlan(Value, frozen=True):
    """What a pass would do. Counts are chunks unless they say otherwise."""

    provider: str
    model: str | None
    files_to_read: int
    files_to_remove: int
    unchanged: int
    """Files."""
    failed: tuple[FileFailure, ...]
    """Files that cannot be indexed."""
    chunks: int
    """Chunks that would be written."""
    from_index: int
    """Chunks whose vector the index holds already."""
    from_cache: int
    """Chunks whose vector the embedding cache holds."""
    without_vector: int
    """Chunks that the model does not take: too long ones, or images and audio."""
    texts: int
    """Texts to be embedded by the provider; equal ones count once."""
    tokens: int
    """What these texts hold, estimated."""
    requests: int
    """In how many calls."""
    cost: float | None
    """By `remote.pricePerMillionTokens`; None where no price is configured."""
    meanwhile: str
    """What a search can do until the vectors are there."""
    retry_at: str | None = None
    """ISO time before which the provider would not be asked."""
    files_to_upload: int = 0
    """Images and audio files to be embedded by the provider; no part of `tokens` and `cost` but by name."""
    bytes_to_upload: int = 0
    """What these files add up to."""


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
    """Which provider was wanted, while another one answers."""
    building: Building | None = None
    """Set while the vectors of the configured model are not all there."""
    retry_at: str | None = None
    """ISO time from which on a provider that failed is asked for vectors again."""
    complete: bool = True
    """A whole pass has gone into the index, and every chunk was asked for a vector of this model."""
    extra_paths: tuple[str, ...] = ()
    """As configured."""
    notes: int = 0
    """Files that count as notes now."""
    note_bytes: int = 0
    media: dict[str, int] = field(default_factory=dict)
    """Images and audio files that count now, by modality."""
    skipped: tuple[FileFailure, ...] = ()
    """Images and audio that are passed over, and why."""
    notices: tuple[str, ...] = ()
    """What is worth knowing of the settings in force, such as what is uploaded."""
    seconds_since_sync: int | None = None
    endpoint: str = ""
    """The host of a remote provider; empty for one in this process."""
    key_origin: str = ""
    """Where its key comes from, in words; never the key."""
    probed: str = ""
    """What trying the provider gave, where that was asked for and all is well."""
    read_only: bool = False
    """The index can be read but not written."""
    writer: str | None = None
    """Which process is writing the index now, since when."""
    upkeep: Upkeep | None = None
    """In a process that lives on: how the index is kept fresh."""
    batches: tuple[BatchJob, ...] = ()
    """Batch jobs that go on, as they were at the last look."""
