"""What a user waits for, in medians over runs.

`python -m benchmarks.speed [--notes 1000]` on made-up notes; `--eval FOLDER` asks real questions of ten
thousand real chunks in a living process instead.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from memlane import Memory

from .notes import write_notes

PROGRAM = [sys.executable, "-m", "memlane"]


def timed(
    command: Sequence[str], runs: int, before: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """Median wall seconds and peak MB of a command as a process of its own."""
    seconds, peaks = [], []
    for _ in range(runs):
        before()
        started = perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(perf_counter() - started)
        peaks.append(usage.ru_maxrss / 1024)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} failed with {process.returncode}")
    return median(seconds), max(peaks)


def main() -> None:
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--eval", type=Path, help="folder with data sets (see benchmarks.quality)")
    options = parser.parse_args()
    if options.eval is not None:
        real_questions(options.eval)
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="memlane-speed-") as folder:
        workspace, state = Path(folder, "notes"), Path(folder, "state")
        size = write_notes(workspace, options.notes)
        print(f"{options.notes} notes, {size / 1e6:.1f} MB\n")
        place = ["--workspace", str(workspace), "--state-dir", str(state)]
        bare, _ = timed([sys.executable, "-c", "pass"], options.runs)

        def show(name: str, seconds: float, peak: float) -> None:
            print(
                f"{name:<44} {seconds:8.3f} s  {seconds / bare:7.1f} × bare Python  {peak:6.0f} MB",
                flush=True,
            )

        show("python -c pass", bare, 0)
        show("memlane --version", *timed([*PROGRAM, "--version"], options.runs))
        cold = timed([*PROGRAM, "index", *place], 3, before=lambda: shutil.rmtree(state, ignore_errors=True))
        show("memlane index, cold, vectors included", *cold)
        show("memlane index, nothing changed", *timed([*PROGRAM, "index", *place], options.runs))
        show(
            "memlane search, sync check included",
            *timed([*PROGRAM, "search", "who repaired the bridge", *place], options.runs),
        )
        show(
            "memlane search, --no-sync",
            *timed([*PROGRAM, "search", "OPS-7", "--no-sync", *place], options.runs),
        )
        show("memlane get", *timed([*PROGRAM, "get", "memory/2023-01-01.md", *place], options.runs))
        in_process(workspace, state)


def real_questions(folder: Path, *, questions: int = 200) -> None:
    """Warm searches of a living process: 200 questions of two data sets, over the notes of both."""
    from random import Random

    from benchmarks.quality.sets import EvaluationData

    data = EvaluationData(folder)
    asked: list[str] = []
    with tempfile.TemporaryDirectory(prefix="memlane-speed-") as made:
        workspace = Path(made, "notes")
        for name, layout in (("beam-100k", "daily"), ("til-simonw", "files")):
            place = Path(made, name)
            data.materialize.materialize(str(folder / name), str(place), layout, pool=True)
            rows = data.materialize.read_jsonl(str(place / "queries.jsonl"))
            asked += [row["query"] for row in rows]
            shutil.copytree(place, workspace / "memory" / name, ignore=shutil.ignore_patterns("*.jsonl"))
        Random(3).shuffle(asked)
        with Memory.open(workspace=workspace, state_dir=Path(made, "state"), environ={}) as memory:
            memory.sync()
            for query in asked[:3]:
                memory.search(query, sync=False)
            times = sorted(
                _milliseconds(lambda q=query: memory.search(q, sync=False)) for query in asked[:questions]
            )
            chunks = memory.status().statistics.chunks
            load = os.getloadavg()[0]
            print(f"{platform.machine()}, {os.cpu_count()} cores (load {load:.1f}), {chunks} chunks")
            print(f"search, p50 {median(times):.1f} ms, p95 {times[int(len(times) * 0.95)]:.1f} ms")


def in_process(workspace: Path, state: Path) -> None:
    """The same work inside a process that lives on."""
    with Memory.open(workspace=workspace, state_dir=state, environ={}) as memory:
        memory.sync()
        rounds = [_milliseconds(memory.sync) for _ in range(15)]
        print(f"\nin process: sync with nothing changed         {median(rounds):8.1f} ms")
        queries = [
            "who repaired the bridge",
            "OPS-7",
            "예산 회의",
            "the budget of the harbour library in winter",
        ] * 8
        for query in queries[:4]:  # the second search of a process puts the index into memory
            memory.search(query, sync=False)
        searches = sorted(_milliseconds(lambda q=query: memory.search(q, sync=False)) for query in queries)
        worst = searches[int(len(searches) * 0.95)]
        print(f"in process: search, p50 {median(searches):.1f} ms, p95 {worst:.1f} ms")
        statistics = memory.status().statistics
        print(f"{statistics.chunks} chunks, index {statistics.bytes_on_disk / 1e6:.1f} MB", end=", ")
        print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _milliseconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return 1000 * (perf_counter() - started)


if __name__ == "__main__":
    main()
