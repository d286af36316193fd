"""The figures of a tree of 10,000 notes. Each is made by a process with a peak of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any

from memlane import Memory

Figures = dict[str, Any]
QUERY = "who repaired the bridge"


def measured(work: str, workspace: Path, state: Path, provider: str = "auto") -> Figures:
    """The figures of a work, done in a process of its own, with that process's peak memory in MB."""
    state.mkdir(exist_ok=True)
    search = {"provider": provider}
    config = {"agents": {"defaults": {"workspace": str(workspace), "memorySearch": search}}}
    (state / "openclaw.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "benchmarks.freshness.figures", work, str(workspace), str(state)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{work} failed with {process.returncode}")
    return {**json.loads(out), "peak": usage.ru_maxrss / 1024}


def _cold(_workspace: Path, state: Path) -> Figures:
    with Memory.open(state_dir=state, environ={}) as memory:
        cpu = process_time()
        report = memory.sync()
        cpu = process_time() - cpu
        status = memory.status()
    statistics = status.statistics
    return {
        "seconds": report.seconds,
        "cpu": cpu,
        "chunks": statistics.chunks,
        "vectors": statistics.vectors,
        "bytes": Path(status.store_path).stat().st_size,
    }


def _unchanged(_workspace: Path, state: Path) -> Figures:
    with Memory.open(state_dir=state, environ={}) as memory:
        memory.sync()
        reports = [memory.sync() for _ in range(9)]
    return {
        "seconds": median(report.seconds for report in reports),
        "read": sum(report.files_read for report in reports),
    }


def _changed(workspace: Path, state: Path) -> Figures:
    note = workspace / "memory/2023-01-01.md"
    seconds, cpu = [], []
    with Memory.open(state_dir=state, environ={}) as memory:
        memory.sync()
        for number in range(9):
            with note.open("a", encoding="utf-8") as file:
                file.write(f"- the word{number}lighthouse was seen\n")
            sleep(0.05)
            began, used = perf_counter(), process_time()
            memory.sync()
            seconds.append(perf_counter() - began)
            cpu.append(process_time() - used)
            assert memory.search(f"word{number}lighthouse", sync=False).hits
    return {"seconds": median(seconds), "cpu": median(cpu)}


def _first(_workspace: Path, state: Path) -> Figures:
    with Memory.open(state_dir=state, environ={}, background=True) as memory:
        began = perf_counter()
        first = memory.search(QUERY)
        seconds = perf_counter() - began
        assert first.hits
        assert first.partial
        times = []
        while True:
            sleep(0.2)
            began_one = perf_counter()
            result = memory.search(QUERY)
            times.append(perf_counter() - began_one)
            if not result.partial and not result.stale:
                break
        converged = perf_counter() - began
        closing = perf_counter()
    return {
        "first": seconds,
        "converged": converged,
        "searches": len(times),
        "median": median(times),
        "slowest": max(times),
        "close": perf_counter() - closing,
    }


if __name__ == "__main__":
    _work = {"cold": _cold, "unchanged": _unchanged, "changed": _changed, "first": _first}[sys.argv[1]]
    print(json.dumps(_work(Path(sys.argv[2]), Path(sys.argv[3]))))
