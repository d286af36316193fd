"""A folder of data sets with its own `materialize.py` and `score.py`, which are used as they are."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

Rows = list[dict[str, Any]]

QUICK = ("qmd-eval", "locomo", "memorybank-en", "xquad-mixed", "belebele-mixed", "til-ko")
"""About 1,500 chunks: minutes, and every language and kind of question is there."""


@dataclass(frozen=True)
class LaidOut:
    """A set as workspaces on disk."""

    folder: Path
    entries: Rows
    """Which document stands at which lines of which file of which workspace."""
    queries: Rows

    def workspaces(self) -> list[str]:
        """The workspaces that are asked, as folder names."""
        return sorted({query["workspace"] for query in self.queries})

    def asked(self, workspace: str) -> Rows:
        """The questions of a workspace."""
        return [query for query in self.queries if query["workspace"] == workspace]

    def latest_day(self, workspace: str) -> date | None:
        """The latest day that a file of a workspace is named after."""
        paths = [entry["path"] for entry in self.entries if entry["workspace"] == workspace]
        return latest_day(paths)


class EvaluationData:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        """Raises SystemExit when it holds no evaluator."""
        if not (folder / "score.py").is_file():
            raise SystemExit(
                f"{folder} holds no score.py; name the evaluation folder with --eval or MEMLANE_EVAL"
            )
        self.folder = folder
        self.materialize = _module(folder / "materialize.py")
        self.scoring = _module(folder / "score.py")

    def sets(self) -> list[str]:
        """The names of the sets that have questions."""
        return sorted(path.parent.name for path in self.folder.glob("*/queries.jsonl.gz"))

    def lay_out(self, name: str, folder: Path) -> LaidOut:
        """The set as workspaces below a folder, which is emptied first."""
        shutil.rmtree(folder, ignore_errors=True)
        self.materialize.materialize(str(self.folder / name), str(folder), "daily")
        read = self.materialize.read_jsonl
        return LaidOut(folder, read(str(folder / "map.jsonl")), read(str(folder / "queries.jsonl")))

    def scored(self, name: str, ranked: Rows, entries: Rows) -> Rows:
        """The measures of a run, a row for each query and level. Raises SystemExit for a run that misfits."""
        documents = self.materialize.read_jsonl(str(self.folder / name / "docs.jsonl.gz"))
        queries = self.materialize.read_jsonl(str(self.folder / name / "queries.jsonl.gz"))
        rows, problems = self.scoring.score(documents, queries, ranked, entries)
        if any(problems.values()):
            raise SystemExit(f"{name}: the run does not fit the set: {problems}")
        return list(rows)

    def cuts(self, rows: Rows) -> Rows:
        """The means over all queries, over each kind and over each language, by level."""
        return list(self.scoring.summary(rows))

    def interval(self, rows: Rows, measure: str) -> tuple[float, float]:
        """The 95 % bootstrap interval of a mean."""
        low, high = self.scoring.interval(rows, measure)
        return low, high


class QuestionClock:
    """A clock that stands at the moment a question is asked."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment."""
        return self.moment

    def today(self) -> date:
        """Its day."""
        return self.moment.date()


def asked_at(query: dict[str, Any], latest: date | None) -> datetime:
    """Noon of the day a question says it is asked on (`as_of`), else of the day after the latest note."""
    if as_of := query.get("as_of"):
        day = date.fromisoformat(as_of[:10])
    else:
        day = (latest or date(2024, 1, 1)) + timedelta(days=1)
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


def latest_day(paths: Sequence[str]) -> date | None:
    """The latest day that one of the files is named after; None when none is."""
    days = []
    for path in paths:
        found = re.match(r"(\d{4})-(\d{2})-(\d{2})(?!\d)", path.rpartition("/")[2])
        if found:
            try:
                days.append(date(int(found[1]), int(found[2]), int(found[3])))
            except ValueError:
                continue
    return max(days, default=None)


def _module(file: Path) -> ModuleType:
    spec = spec_from_file_location(f"evaluation_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
