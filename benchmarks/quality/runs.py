"""A set laid out, indexed once for each embedding model, and asked under each configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from memlane import ConfigError, Memory

from .abstention import Answered, is_answerable
from .configurations import index_key, section
from .sets import EvaluationData, LaidOut, QuestionClock, asked_at

RESULTS = 20

Combination = tuple[str, str]
"""A model and a configuration, by name."""


@dataclass
class Run:
    """The answers to a set's questions under one configuration, and what they cost."""

    model: str
    configuration: str
    ranked: list[dict[str, Any]] = field(default_factory=list)
    """One a query: `qid` and `ranked`, as the evaluator wants them."""
    answers: list[Answered] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    chunks: int = 0
    index_bytes: int = 0
    index_seconds: float = 0.0


@dataclass
class Index:
    """What making the indexes of a set took."""

    chunks: int = 0
    index_bytes: int = 0
    seconds: float = 0.0


def run_set(
    data: EvaluationData, name: str, combinations: Sequence[Combination], folder: Path
) -> tuple[LaidOut, list[Run], list[str]]:
    """Ask a set under every combination; also gives what was passed over, and why.

    `folder` holds notes, indexes and, next to them, the embeddings, which a later run finds again.
    Raises SystemExit for a model that this version does not have.
    """
    out = data.lay_out(name, folder / "notes")
    groups: dict[str, list[Combination]] = {}
    skipped = []
    for model in {model for model, _ in combinations}:
        if problem := _problem(section(model, "default"), folder):
            raise SystemExit(problem)
    for combination in combinations:
        settings = section(*combination)
        if problem := _problem(settings, folder):
            skipped.append(f"{combination[1]}: {problem}")
        else:
            groups.setdefault(index_key(settings), []).append(combination)
    runs: list[Run] = []
    for key, members in groups.items():
        stores = folder / hashlib.sha256(key.encode()).hexdigest()[:12]
        index = _index(out, stores, section(*members[0]))
        for model, configuration in members:
            run = Run(model, configuration, [], [], [], index.chunks, index.index_bytes, index.seconds)
            for workspace in out.workspaces():
                _ask(out, workspace, stores, section(model, configuration), run)
            runs.append(run)
    order = list(combinations)
    return out, sorted(runs, key=lambda run: order.index((run.model, run.configuration))), skipped


def _problem(settings: dict[str, Any], folder: Path) -> str:
    """Why this version cannot run these settings; nothing when it can."""
    try:
        Memory.open(workspace=folder, state_dir=folder, environ={}, memory_search=settings).close()
    except ConfigError as error:
        return str(error)
    return ""


def _index(out: LaidOut, stores: Path, settings: dict[str, Any]) -> Index:
    """Make every workspace's index anew; only embeddings are taken from an earlier run."""
    index = Index()
    stores.mkdir(parents=True, exist_ok=True)
    for file in stores.glob("*.sqlite*"):
        if ".embeddings." not in file.name:
            file.unlink()
    for workspace in out.workspaces():
        with _open(out, workspace, stores, settings) as memory:
            started = perf_counter()
            memory.sync()
            index.seconds += perf_counter() - started
            status = memory.status()
            if (wanted := settings.get("model")) and wanted not in str(status.model):
                raise SystemExit(f"the model {wanted} was asked for, but {status.model or 'none'} answers")
            index.chunks += status.statistics.chunks
            index.index_bytes += status.statistics.bytes_on_disk
    return index


def _ask(out: LaidOut, workspace: str, stores: Path, settings: dict[str, Any], run: Run) -> None:
    latest = out.latest_day(workspace)
    queries = out.asked(workspace)
    clock = QuestionClock(asked_at({}, latest))
    with _open(out, workspace, stores, settings, clock) as memory:
        memory.search(queries[0]["query"], max_results=RESULTS, sync=False)  # loads the model
        for query in queries:
            clock.moment = asked_at(query, latest)
            started = perf_counter()
            result = memory.search(query["query"], max_results=RESULTS, sync=False)
            run.milliseconds.append(1000 * (perf_counter() - started))
            ranked = [
                {"path": hit.path, "startLine": hit.start_line, "endLine": hit.end_line} for hit in result
            ]
            run.ranked.append({"qid": query["qid"], "ranked": ranked})
            run.answers.append(
                Answered(
                    query["qid"],
                    is_answerable(query),
                    empty=not result.hits,
                    confidence=result.confidence,
                    score=result.hits[0].score if result.hits else 0.0,
                )
            )


def _open(
    out: LaidOut, workspace: str, stores: Path, settings: dict[str, Any], clock: QuestionClock | None = None
) -> Memory:
    stem = workspace.strip(".") or "all"
    store = {**settings.get("store", {}), "path": str(stores / f"{stem}.sqlite")}
    return Memory.open(
        workspace=out.folder / workspace,
        state_dir=out.folder / ".state",
        environ={},
        clock=clock,
        memory_search={**settings, "store": store, "cache": {"maxEntries": 1_000_000}},
    )
