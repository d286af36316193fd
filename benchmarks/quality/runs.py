"""Asking a data set's questions of real workspaces, through the pipeline that users have."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from types import ModuleType
from typing import Any

from memlane import Memory

RESULTS = 20


@dataclass
class Run:
    """The answers to a set's questions, and what they cost."""

    rows: list[dict[str, Any]]
    """One a query: `qid` and `ranked`."""
    entries: list[dict[str, Any]]
    """Which document stands at which lines of which file."""
    chunks: int = 0
    index_bytes: int = 0
    index_seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)

    @property
    def median_milliseconds(self) -> float:
        """The median time of a query."""
        return median(self.milliseconds) if self.milliseconds else 0.0


class EvaluationData:
    """A folder of data sets with its own `materialize.py` and `score.py`, which are used as they are."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "score.py").is_file():
            raise SystemExit(
                f"{folder} holds no score.py; name the evaluation folder with --eval or MEMLANE_EVAL"
            )
        self.folder = folder
        sys.path.insert(0, str(folder))
        self.materialize: ModuleType = __import__("materialize")
        self.scoring: ModuleType = __import__("score")

    def sets(self) -> list[str]:
        """The names of the sets that have questions."""
        return sorted(path.parent.name for path in self.folder.glob("*/queries.jsonl.gz"))

    @contextmanager
    def workspaces(self, name: str) -> Iterator[tuple[Path, list[dict[str, Any]], list[dict[str, Any]]]]:
        """The set laid out as workspaces in a temporary folder, with its map and its questions."""
        with tempfile.TemporaryDirectory(prefix="memlane-quality-") as folder:
            out = Path(folder)
            self.materialize.materialize(str(self.folder / name), folder, "daily")
            read = self.materialize.read_jsonl
            yield out, read(str(out / "map.jsonl")), read(str(out / "queries.jsonl"))

    def scores(self, name: str, run: Run) -> dict[str, dict[str, float]]:
        """The measures of a run over all its questions, by level (`doc`, `evidence`)."""
        documents = self.materialize.read_jsonl(str(self.folder / name / "docs.jsonl.gz"))
        queries = self.materialize.read_jsonl(str(self.folder / name / "queries.jsonl.gz"))
        rows, problems = self.scoring.score(documents, queries, run.rows, run.entries)
        if any(problems.values()):
            raise SystemExit(f"{name}: the run does not fit the set: {problems}")
        return {cut["level"]: cut for cut in self.scoring.summary(rows) if cut["cut"] == "all"}


def run_set(data: EvaluationData, name: str, settings: Mapping[str, Any]) -> Run:
    """Index every workspace of a set and ask it every question. `settings` is a `memorySearch` section."""
    with data.workspaces(name) as (out, entries, queries):
        run = Run([], entries)
        for workspace in sorted({query["workspace"] for query in queries}):
            asked = [query for query in queries if query["workspace"] == workspace]
            _ask(out / workspace, out / f".state-{workspace.strip('.')}", asked, settings, run)
    return run


def _ask(
    workspace: Path, state: Path, queries: Sequence[dict[str, Any]], settings: Mapping[str, Any], run: Run
) -> None:
    import json

    state.mkdir()
    config = state / "openclaw.json"
    config.write_text(json.dumps({"agents": {"defaults": {"memorySearch": settings}}}), "utf-8")
    with Memory.open(workspace=workspace, state_dir=state, environ={}) as memory:
        started = perf_counter()
        memory.sync()
        run.index_seconds += perf_counter() - started
        for query in queries:
            started = perf_counter()
            result = memory.search(query["query"], max_results=RESULTS, sync=False)
            run.milliseconds.append(1000 * (perf_counter() - started))
            ranked = [
                {"path": hit.path, "startLine": hit.start_line, "endLine": hit.end_line} for hit in result
            ]
            run.rows.append({"qid": query["qid"], "ranked": ranked})
        statistics = memory.status().statistics
        run.chunks += statistics.chunks
        run.index_bytes += statistics.bytes_on_disk
