"""`python -m benchmarks.sessions [--sessions N] [--turns N] [--provider NAME]`: transcripts at size."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time

from memlane import Memory

WORDS = (  # noqa: SIM905
    "router kitchen garden invoice meeting budget project train hotel doctor recipe window battery server"
    " deploy branch release holiday school piano camera bicycle insurance contract parcel window battery"
    " we should could the a of and with for about before after because that this there then again maybe"
).split()
START = datetime(2026, 1, 1, 8, tzinfo=UTC)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--provider", default="bundled")
    parser.add_argument("--one", choices=["cold", "line", "search"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.folder, options.one)))
        return
    load = f"load {os.getloadavg()[0]:.1f}"
    print(f"{platform.machine()}, {os.cpu_count()} cores ({load}), Python {platform.python_version()}\n")
    folder = Path(tempfile.mkdtemp(prefix="memlane-sessions-"))
    try:
        show_many(folder / "many", options.sessions, options.turns, options.provider)
        show_large(folder / "large", options.provider)
    finally:
        shutil.rmtree(folder)


def show_many(folder: Path, sessions: int, turns: int, provider: str) -> None:
    """Many sessions from nothing; then one line more."""
    size = 0
    source = prepared(folder, provider)
    for number in range(sessions):
        path = source / f"s{number}.jsonl"
        path.write_text("".join(lines(random.Random(number), turns)), "utf-8")
        size += path.stat().st_size
    print(f"{sessions} sessions of {turns} turns, {size / 1e6:.1f} MB")
    show("cold index", process(folder, "cold"), "180 s")
    show("one more line", process(folder, "line"), "0.3 s")
    show("the first search", process(folder, "search"), "0.5 s")


def show_large(folder: Path, provider: str) -> None:
    """One transcript of 200 MB, one line of it of 50 MB; then one line more."""
    source = prepared(folder, provider)
    path = source / "large.jsonl"
    generator = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < 150_000_000:
            file.writelines(lines(generator, 20))
            for _ in range(10):
                file.write(entry("toolResult", "r" * 100_000, START))
        file.write(entry("toolResult", "x" * 50_000_000, START))
    print(f"\none transcript of {path.stat().st_size / 1e6:.0f} MB, one line of 50 MB")
    show("cold index", process(folder, "cold"), "150 MB")
    show("one more line", process(folder, "line"), "0.3 s")


def show(name: str, made: dict[str, float], limit: str) -> None:
    """One row."""
    figures = f"{made['seconds']:.2f} s (cpu {made['cpu']:.2f} s), {made['passages']:.0f} passages"
    print(f"{name:<24} {figures:>40}   to reach {limit:<8} peak {made['peak']:4.0f} MB", flush=True)


def process(folder: Path, what: str) -> dict[str, float]:
    """The figures of one thing done in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.sessions", "--one", what, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def one(folder: Path, what: str) -> dict[str, float]:
    """Do it, with the time from the opened memory on and the most memory of the process.

    A line is added while a process that lives on has the index open.
    """
    with Memory.open(state_dir=folder, environ={}) as memory:
        if what == "line":
            for number in range(2):  # the first also loads what indexing needs
                memory.sync()
                add_line(sorted((folder / "agents" / "main" / "sessions").glob("*.jsonl"))[number - 1])
        began, cpu = perf_counter(), process_time()
        if what == "search":
            memory.search("when does the train leave for the meeting?")
            passages = 0
        else:
            passages = memory.sync().chunks
        seconds = perf_counter() - began
        cpu = process_time() - cpu
    return {"seconds": seconds, "cpu": cpu, "passages": passages, "peak": peak_megabytes()}


def peak_megabytes() -> float:
    """The most memory this process has had; the resource module's figure begins with its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def prepared(folder: Path, provider: str) -> Path:
    """A state folder whose sessions are searched, any growth of theirs; gives the folder of the sessions."""
    notes = folder / "notes"
    (notes / "memory").mkdir(parents=True)
    section = {
        "provider": provider,
        "experimental": {"sessionMemory": True},
        "sources": ["memory", "sessions"],
        "sync": {"sessions": {"deltaMessages": 0}},
    }
    config = {"agents": {"defaults": {"workspace": str(notes), "memorySearch": section}}}
    (folder / "openclaw.json").write_text(json.dumps(config), "utf-8")
    source = folder / "agents" / "main" / "sessions"
    source.mkdir(parents=True)
    return source


def lines(generator: random.Random, turns: int) -> Iterator[str]:
    """Turns of a conversation, some forty words each."""
    for number in range(turns):
        text = " ".join(generator.choices(WORDS, k=generator.randint(10, 70)))
        yield entry("user" if number % 2 == 0 else "assistant", text, START + timedelta(minutes=number))


def entry(role: str, text: str, at: datetime) -> str:
    """One line."""
    content = [{"type": "text", "text": text}]
    message = {"role": role, "content": content}
    return json.dumps({"type": "message", "timestamp": at.isoformat(), "message": message}) + "\n"


def add_line(path: Path) -> None:
    """Somebody says something more."""
    with path.open("a", encoding="utf-8") as file:
        file.write(entry("user", "and when does the train to the meeting leave?", START))


if __name__ == "__main__":
    main()
