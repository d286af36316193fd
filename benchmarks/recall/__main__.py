"""`python -m benchmarks.recall --eval FOLDER`: what is added to messages, at several confidences."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.quality.sets import EvaluationData, LaidOut
from memlane import Hit, Memory, SearchResult
from memlane.config.querying import Recall
from memlane.sessions.recall import recall

from .small_talk import MESSAGES

CONFIDENCES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
CHOSEN_ON = ("locomo", "til-ko", "xquad-mixed", "beam-100k")
JUDGED_ON = ("til-simonw", "til-jbranchaud", "memorybank-en", "belebele-mixed")
_MOST = 300
"""Questions of a set, evenly from its first to its last."""
_FOREIGN = 60


@dataclass
class Tally:
    """Messages of one kind, and what was added to them."""

    messages: int = 0
    with_some: int = 0
    added: int = 0
    right: int = 0
    served: int = 0

    def count(self, hits: Sequence[Hit], right: Sequence[bool] = ()) -> None:
        """One message."""
        self.messages += 1
        self.with_some += bool(hits)
        self.added += len(hits)
        self.right += sum(right)
        self.served += any(right)


@dataclass
class Set:
    """What came of one set at one confidence."""

    answered: Tally = field(default_factory=Tally)
    unanswerable: Tally = field(default_factory=Tally)
    foreign: Tally = field(default_factory=Tally)
    small_talk: Tally = field(default_factory=Tally)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", required=True, type=Path, help="the folder with the data sets")
    data = EvaluationData(parser.parse_args().eval)
    questions = {name: _queries(data, name) for name in (*CHOSEN_ON, *JUDGED_ON)}
    columns = (
        "set",
        "confidence",
        "some added",
        "precision",
        "right",
        "unanswerable",
        "foreign",
        "small talk",
    )
    print(f"| {' | '.join(columns)} |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in questions:
        other = "xquad-mixed" if name.startswith(("locomo", "memorybank", "beam")) else "locomo"
        foreign = [row["query"] for row in _spread(questions[other], _FOREIGN)]
        with tempfile.TemporaryDirectory() as folder:
            found = _measure(data.lay_out(name, Path(folder) / "set"), foreign)
        role = "chosen on" if name in CHOSEN_ON else "judged on"
        for confidence, one in found.items():
            print(f"| {name} ({role}) | {confidence} | {_row(one)} |", flush=True)


def _queries(data: EvaluationData, name: str) -> list[dict[str, str]]:
    return list(data.materialize.read_jsonl(str(data.folder / name / "queries.jsonl.gz")))


def _spread(rows: list[dict[str, str]], most: int) -> list[dict[str, str]]:
    return rows[:: max(1, len(rows) // most)][:most]


def _measure(out: LaidOut, foreign: Sequence[str]) -> dict[float, Set]:
    found = {confidence: Set() for confidence in CONFIDENCES}
    places = {entry["doc_id"]: entry for entry in out.entries}
    share = len(_spread(out.queries, _MOST)) / len(out.queries)
    for workspace in out.workspaces():
        asked = out.asked(workspace)
        with Memory.open(
            workspace=out.folder / workspace,
            state_dir=out.folder / ".state",
            environ={},
            memory_search={"provider": "bundled"},
        ) as memory:
            memory.sync()
            for query in _spread(asked, max(1, round(share * len(asked)))):
                result = _asked(memory, query["query"])
                gold = [_place(name, places) for name in query["relevant"]]
                for confidence, one in found.items():
                    hits = _added(query["query"], result, confidence)
                    if query["relevant"]:
                        one.answered.count(hits, [_holds(hit, gold) for hit in hits])
                    elif query["kind"] == "abstention":
                        one.unanswerable.count(hits)
            if workspace == out.workspaces()[0]:
                for messages, kind in ((foreign, "foreign"), (MESSAGES, "small_talk")):
                    for message in messages:
                        result = _asked(memory, message)
                        for confidence, one in found.items():
                            getattr(one, kind).count(_added(message, result, confidence))
    return found


def _asked(memory: Memory, message: str) -> SearchResult:
    return memory.search(message, max_results=10, source="memory", sync=False)


def _added(message: str, result: SearchResult, confidence: float) -> Sequence[Hit]:
    return recall(message, lambda _text, _most: result, Recall(min_confidence=confidence)).hits


def _place(name: str, places: dict[str, dict[str, Any]]) -> tuple[str, int, int]:
    """Where what answers stands: a document, or some of its lines (`document#L5-L7`)."""
    document, _, lines = name.partition("#")
    entry = places[document]
    first, last = entry["startLine"], entry["endLine"]
    if lines:
        begin, end = (int(number.lstrip("L")) for number in lines.split("-"))
        first, last = first + begin - 1, first + end - 1
    return entry["path"], first, last


def _holds(hit: Hit, gold: Sequence[tuple[str, int, int]]) -> bool:
    """Whether a passage shares a line with what answers."""
    return any(
        hit.path == path and hit.start_line <= last and first <= hit.end_line for path, first, last in gold
    )


def _row(one: Set) -> str:
    cells = [
        _share(one.answered.with_some, one.answered.messages),
        _share(one.answered.right, one.answered.added),
        _share(one.answered.served, one.answered.messages),
        *(
            _share(tally.with_some, tally.messages)
            for tally in (one.unanswerable, one.foreign, one.small_talk)
        ),
    ]
    return " | ".join(cells)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else ""


if __name__ == "__main__":
    main()
