"""Processes that share one index: writers, readers, a watcher and a rebuilder, with a provider that is slow.

`race` runs them for some seconds and gives what each of them saw. Run as a module, this is one of them.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep
from typing import Any

from memlane import MemlaneError, Memory
from memlane.embed.base import NoVector, Vector
from memlane.testing import HashEmbedder, RecordingObserver

STABLE = 30
"""Notes that nobody touches: every search for their word must find them all, whatever goes on."""
ROLES = ("writer", "writer", "reader", "reader", "host", "host", "watcher", "rebuilder")

Seen = dict[str, Any]


class SlowEmbedder(HashEmbedder):
    """Takes its time for every batch of texts, as a service does."""

    max_batch_items = 8

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        """The documents' vectors, after a pause."""
        sleep(self.seconds)
        return super().embed_documents(texts)


def race(folder: Path, *, seconds: float, pause: float) -> list[Seen]:
    """Let all roles work on one workspace and index for so long; gives what each of them saw.

    `pause` is what embedding a batch takes. The last one is a check afterwards: the index as it is then,
    beside one built anew.
    """
    notes = folder / "notes/memory"
    notes.mkdir(parents=True)
    for number in range(STABLE):
        (notes / f"stable-{number}.md").write_text(f"anchor of the harbour, number {number}\n")
    with opened(folder, SlowEmbedder(0)) as memory:
        memory.sync()
    command = [sys.executable, "-m", "benchmarks.freshness.actors", str(folder), str(seconds), str(pause)]
    processes = [
        subprocess.Popen(
            [*command, role, str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for number, role in enumerate(ROLES)
    ]
    seen: list[Seen] = []
    for role, process in zip(ROLES, processes, strict=True):
        out, errors = process.communicate()
        crashed = [errors] if process.returncode or errors else []
        seen.append(json.loads(out) if out.strip() else {"role": role, "errors": []})
        seen[-1]["errors"] += crashed
    return [*seen, settled(folder)]


def opened(folder: Path, embedder: HashEmbedder, *, background: bool = False, state: str = "state") -> Memory:
    """The memory the race is about."""
    return Memory.open(
        workspace=folder / "notes",
        state_dir=folder / state,
        environ={},
        embedder=embedder,
        background=background,
        observer=RecordingObserver(),
    )


def settled(folder: Path) -> Seen:
    """The index after all is over, and one built anew: they are to be the same."""
    counts = []
    for state in ("state", "anew"):
        with opened(folder, SlowEmbedder(0), state=state) as memory:
            memory.sync()
            found = memory.status().statistics
            paths = sorted(
                (hit.path, hit.start_line, hit.snippet)
                for hit in memory.search("harbour", max_results=500, min_score=0, sync=False)
            )
        counts.append((found.files, found.chunks, found.vectors, found.failed, paths))
    errors = [] if counts[0] == counts[1] else [f"{counts[0]} is not {counts[1]}"]
    return {"role": "afterwards", "errors": errors, "files": counts[0][0], "vectors": counts[0][2]}


def act(folder: Path, seconds: float, pause: float, role: str, number: int) -> Seen:
    """Play a role for some seconds; gives what was seen."""
    seen: Seen = {"role": role, "rounds": 0, "errors": [], "first": 0.0, "slowest": 0.0, "median": 0.0}
    times: list[float] = []
    roles: dict[str, Callable[[Memory, random.Random], None]] = {
        "writer": lambda memory, numbers: _edit(memory, folder, numbers, number),
        "reader": lambda memory, _: _look(memory, seen, sync=False),
        "host": lambda memory, _: _look(memory, seen, sync=None),
        "watcher": lambda memory, _: memory.start(),
        "rebuilder": lambda memory, _: _rebuild(memory),
    }
    numbers = random.Random(number)
    until = monotonic() + seconds
    with opened(folder, SlowEmbedder(pause), background=role in {"host", "watcher"}) as memory:
        while monotonic() < until:
            began = perf_counter()
            try:
                roles[role](memory, numbers)
            except MemlaneError as error:
                seen["errors"].append(f"{type(error).__name__}: {error}")
            times.append(perf_counter() - began)
            threading.Event().wait(0.05)
    seen["rounds"], seen["first"] = len(times), times[0]
    seen["slowest"], seen["median"] = max(times[1:], default=0.0), median(times)
    return seen


def _edit(memory: Memory, folder: Path, numbers: random.Random, writer: int) -> None:
    note = folder / f"notes/memory/moving-{writer}-{numbers.randrange(10)}.md"
    if numbers.random() < 0.2:
        note.unlink(missing_ok=True)
    else:
        note.write_text(f"the harbour at {numbers.random()}\n" * numbers.randrange(1, 5))
    memory.sync(wait=0.5)


def _rebuild(memory: Memory) -> None:
    memory.sync(force=True, wait=1.0)


def _look(memory: Memory, seen: Seen, *, sync: bool | None) -> None:
    result = memory.search("anchor", max_results=2 * STABLE, min_score=0, sync=sync)
    found = sorted(hit.path for hit in result)
    stable = sorted(f"memory/stable-{number}.md" for number in range(STABLE))
    if [path for path in found if "stable" in path] != stable:
        seen["errors"].append(f"{len(found)} found of {STABLE}, generation {result.totals.generation}")
    if result.warning and "is writing the index" not in result.warning:
        seen["errors"].append(result.warning)


if __name__ == "__main__":
    place, duration, slowness, part, index = sys.argv[1:]
    print(json.dumps(act(Path(place), float(duration), float(slowness), part, int(index))))
