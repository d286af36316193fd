"""The state of the built-in index, each part of it asked for within a limit of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from ..clock import Clock
from ..disk import lock_owner
from ..embed.base import CheckedEmbedder
from ..embed.cache import EmbeddingCache
from ..embed.select import Choice
from ..index.identity import space_identity
from ..index.sqlite import SqliteStore
from ..index.sync import LAST_PASS, Synchronizer
from ..values import FileFailure, Status, StoreStatistics, TreeScan, Value
from ..workspace import Workspace, oversized_notes
from .batches import Batches
from .probe import Questions, probe


class Observed(Value, frozen=True):
    """What a status is made from."""

    agent: str
    workspace: Workspace
    store: SqliteStore
    synchronizer: Synchronizer
    choice: Choice
    answering: CheckedEmbedder | None
    """The one whose vectors answer."""
    cache: EmbeddingCache
    clock: Clock
    batches: Batches
    notices: tuple[str, ...] = ()


def state_of(observed: Observed, *, deep: bool, seconds: float) -> Status:
    """The state of an index. `deep` also uses the provider, and compares its vector with the stored ones.

    No part takes longer than `seconds`.
    """
    store, choice, answering = observed.store, observed.choice, observed.answering
    questions = Questions(seconds)
    looked = questions.ask("comparing the notes with the index", observed.synchronizer.pending, None)
    scan, plan = looked or (TreeScan(()), None)
    counts = questions.ask("counting what is indexed", store.statistics, StoreStatistics())
    entries, size = questions.ask("looking at the embedding cache", observed.cache.size, (0, 0))
    oversized = questions.ask("reading MEMORY.md", lambda: oversized_notes(observed.workspace), ())
    if problem := observed.batches.problem():
        questions.warnings.append(problem)
    probed = probe(questions, store, choice, answering) if deep else ""
    endpoint = choice.reached(answering)
    generation, space = store.current_generation(), store.current_space()
    pause = questions.ask("asking whether the provider is left alone", observed.synchronizer.pause, None)
    if pause:
        questions.warnings.append(f"{choice.embedder.id if choice.embedder else 'the provider'}: {pause}")
    complete = bool(generation and generation.complete) and (
        answering is None
        or bool(space and space.complete and space.identity == space_identity(answering.identity))
    )
    if complete and answering is not None and counts.chunks != counts.vectors + counts.without_vector:
        questions.warnings.append(
            f"{counts.chunks} chunks have {counts.vectors} vectors: memlane doctor looks into it"
        )
    pending = None if plan is None else len(plan.read) + len(plan.remove) + len(plan.refresh)
    last = store.note(LAST_PASS)
    return Status(
        agent=observed.agent,
        enabled=True,
        workspace=str(observed.workspace.root),
        store_path=str(store.path),
        backend="builtin",
        provider=answering.id if answering else "none",
        model=answering.model if answering else None,
        dimensions=space.dimensions if space else None,
        provider_reasons=choice.reasons,
        vector_engine=store.vector_engine,
        statistics=_with_failures(counts, scan, questions.ask("looking at media", store.refused_media, [])),
        generation=generation.id if generation else None,
        last_sync=last,
        dirty=pending != 0 or not complete,
        pending=pending,
        cache_entries=entries,
        cache_bytes=size,
        skipped_links=scan.skipped_links,
        missing_roots=scan.missing_roots,
        warnings=(*oversized, *choice.warnings, *questions.warnings),
        complete=complete,
        extra_paths=tuple(extra.path for extra in observed.workspace.extra_paths),
        notes=sum(entry.media is None for entry in scan.files),
        note_bytes=sum(entry.size for entry in scan.files if entry.media is None),
        media=dict(Counter(entry.media for entry in scan.files if entry.media is not None)),
        skipped=scan.skipped,
        notices=observed.notices,
        seconds_since_sync=_seconds_since(last, observed.clock),
        read_only=store.read_only,
        writer=str(owner) if (owner := lock_owner(store.path)) else None,
        fallback=choice.fallback or observed.synchronizer.fallback(space),
        endpoint=endpoint.host if endpoint else "",
        key_origin=endpoint.key_origin if endpoint else "",
        probed=probed,
        building=questions.ask("counting vectors", observed.synchronizer.building, None),
        batches=questions.ask("reading the batch jobs", observed.batches.jobs, ()),
        retry_at=pause.retry_at if pause else None,
    )


def _with_failures(
    counts: StoreStatistics, scan: TreeScan, refused: Sequence[FileFailure]
) -> StoreStatistics:
    from msgspec.structs import replace

    return replace(counts, failed=(*counts.failed, *scan.failed, *refused))


def _seconds_since(noted: str | None, clock: Clock) -> int | None:
    """How long ago a noted time is; None when there is none, or when the clock was set back since."""
    try:
        seconds = int((clock.now() - datetime.fromisoformat(noted or "")).total_seconds())
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None
