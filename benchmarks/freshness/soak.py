"""Random edits with the watcher on: does anything grow? And a large root: what does it cost?"""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path
from time import monotonic, process_time, sleep

from memlane import Memory
from memlane.testing import RecordingObserver
from memlane.values import Pass

from ..speed.notes import write_notes

NOTES = 300


def soak(folder: Path, seconds: float) -> None:
    """Edit, add, rename and delete notes at random; print what the process holds, a line every so often."""
    workspace = folder / "notes"
    write_notes(workspace, NOTES)
    numbers = random.Random(1)
    began = monotonic()
    print(" seconds   edits  passes      MB  files  threads  index MB  vectors")
    with Memory.open(workspace=workspace, state_dir=folder / "state", environ={}, background=True) as memory:
        memory.start()
        edits = lines = 0
        while (now := monotonic() - began) < seconds:
            _edit(workspace / "memory", numbers)
            edits += 1
            if edits % 10 == 0:
                memory.search("harbour library")
            if now >= lines * seconds / 12:
                lines += 1
                _line(memory, now, edits)
            sleep(0.05)
        memory.sync()
        _line(memory, monotonic() - began, edits)
        statistics = memory.status().statistics
        assert statistics.vectors == statistics.chunks
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    print(f"threads left after closing: {left}")


def _line(memory: Memory, now: float, edits: int) -> None:
    status = memory.status()
    assert status.upkeep is not None
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    files = len(list(Path("/proc/self/fd").iterdir()))
    threads = len(list(Path("/proc/self/task").iterdir()))
    size = status.statistics.bytes_on_disk / 1e6
    print(
        f"{now:8.0f} {edits:7} {status.upkeep.passes:7} {resident:7.1f} {files:6} {threads:8} {size:9.2f}"
        f" {status.statistics.vectors:8}",
        flush=True,
    )


def _edit(folder: Path, numbers: random.Random) -> None:
    notes = sorted(folder.rglob("*.md"))
    note = numbers.choice(notes)
    choice = numbers.random()
    if choice < 0.5:
        text = note.read_text("utf-8")
        note.write_text(text[-4000:] + f"\n- {numbers.random()} of the harbour\n", "utf-8")
    elif choice < 0.7 and len(notes) < 2 * NOTES:
        (note.parent / f"new-{numbers.getrandbits(40):x}.md").write_text(note.read_text("utf-8"), "utf-8")
    elif choice < 0.85:
        target = folder / f"moved/{numbers.randrange(20)}"
        target.mkdir(parents=True, exist_ok=True)
        note.rename(target / note.name)
    elif len(notes) > NOTES // 2:
        note.unlink()


def large_root(folder: Path, files: int = 20_000) -> None:
    """A root with virtual environments and repositories inside: descriptors, idle processor time, notice."""
    root = folder / "notes/memory"
    for number in range(files // 100):
        for above in (".venv/lib", ".git/objects", "node_modules", "src"):
            place = f"{above}/{number}"
            (root / place).mkdir(parents=True)
            for file in range(25):
                (root / place / f"{file}.py").write_text("")
    for number in range(20):
        (root / f"{number}.md").write_text(f"note {number}\n")
    told: list[Pass] = []
    before = len(list(Path("/proc/self/fd").iterdir()))
    observer = RecordingObserver()
    with Memory.open(
        workspace=folder / "notes", state_dir=folder / "state", environ={}, background=True, observer=observer
    ) as memory:
        memory.start(told.append)
        while len(told) < 2:  # the first look, and the one since the watch began
            sleep(0.05)
        more = len(list(Path("/proc/self/fd").iterdir())) - before
        used = process_time()
        sleep(10)
        used = process_time() - used
        (root / "new.md").write_text("the lighthouse\n")
        began = monotonic()
        while not any(done.report and "memory/new.md" in done.report.changed for done in told):
            sleep(0.01)
        noticed = monotonic() - began
        upkeep = memory.status().upkeep
        assert upkeep is not None
    print(f"{files} files: {more} more descriptors, watching by {upkeep.watching}")
    print(
        f"idle: {used / 10:.2%} of a processor; a new note indexed after {noticed:.2f} s (1.5 s of it quiet)"
    )
    print(json.dumps(observer.warnings))
