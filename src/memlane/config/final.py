"""Merged values into the form that is worked with: weights that sum to 1, paths that are whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from .merge import Merger
from .querying import Hybrid
from .related import MemorySection
from .schema import Chunking, ExtraPath, MemorySearch, Modality


def final_search(
    search: MemorySearch, *, workspace: Path, store_path: Path, cache: Path, merger: Merger
) -> MemorySearch:
    """Memory search with everything filled in that depends on other keys or on where it runs."""
    chunking = search.chunking
    if "memorySearch.chunking.overlap" not in merger.origins:
        chunking = _with_fitting_overlap(chunking)
    media = search.multimodal
    local = search.local
    return replace(
        search,
        sources=_sources(search, merger),
        extra_paths=_distinct(search.extra_paths, workspace),
        local=replace(local, model_cache_dir=local.model_cache_dir or str(cache / "models")),
        multimodal=replace(media, modalities=_modalities(media.modalities)),
        store=replace(search.store, path=str(store_path)),
        chunking=chunking,
        query=replace(search.query, hybrid=_weighed(search.query.hybrid)),
    )


def final_qmd(memory: MemorySection, workspace: Path) -> MemorySection:
    """The memory section with QMD's paths whole."""
    if not memory.qmd.paths:
        return memory
    paths = tuple(replace(entry, path=_whole(entry.path, workspace)) for entry in memory.qmd.paths)
    return replace(memory, qmd=replace(memory.qmd, paths=paths))


def _whole(path: str, workspace: Path) -> str:
    return os.path.normpath(workspace / path)


def _with_fitting_overlap(chunking: Chunking) -> Chunking:
    """Passages shorter than the built-in overlap get one in proportion: nobody asked for a conflict."""
    if chunking.overlap < chunking.tokens:
        return chunking
    return replace(chunking, overlap=chunking.tokens // 5)


def _weighed(hybrid: Hybrid) -> Hybrid:
    total = hybrid.vector_weight + hybrid.text_weight
    if total == 0:
        return replace(hybrid, vector_weight=Hybrid().vector_weight, text_weight=Hybrid().text_weight)
    return replace(hybrid, vector_weight=hybrid.vector_weight / total, text_weight=hybrid.text_weight / total)


def _sources(search: MemorySearch, merger: Merger) -> tuple[str, ...]:
    """Each source once. Transcripts count only when session memory is switched on."""
    sources = tuple(dict.fromkeys(search.sources))
    if search.experimental.session_memory or "sessions" not in sources:
        return sources
    place = merger.origins["memorySearch.sources"].place
    merger.note(f'{place} names "sessions", which counts only with experimental.sessionMemory: true')
    return tuple(source for source in sources if source != "sessions") or ("memory",)


def _modalities(modalities: Sequence[Modality]) -> tuple[Modality, ...]:
    return ("image", "audio") if "all" in modalities else tuple(dict.fromkeys(modalities))


def _distinct(entries: Sequence[ExtraPath], workspace: Path) -> tuple[ExtraPath, ...]:
    """Each path and pattern once, at its first place, with what was said last: the agent knows better."""
    found: dict[tuple[str, str], ExtraPath] = {}
    for entry in entries:
        whole = replace(entry, path=_whole(entry.path, workspace))
        found[whole.path, whole.pattern] = whole
    return tuple(found.values())
