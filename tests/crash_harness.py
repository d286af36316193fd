"""Kills a process that indexes, rebuilds and appends, over and over, and looks at what it leaves.

`python tests/crash_harness.py FOLDER KILLS SEED` prints one JSON document with what was seen. Every worker is
forked from here, so that a kill costs milliseconds. Half of them are killed from outside after a random time;
the others kill themselves in the middle of a random write of SQLite's, with half of it written.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw

from memlane import Memory
from memlane.clock import FixedClock
from memlane.embed.base import NoVector, Vector
from memlane.index.sqlite import SqliteStore
from memlane.testing import HashEmbedder, RecordingObserver

CLOCK = FixedClock(datetime(2026, 2, 10, 12, 0, tzinfo=UTC))
LOG = "memory/2026-02-10.md"
ENTRY = r"- 12:00 entry (\d+) of (\d+), which is as long as people write them, 끝말잇기\."
NOTES = 60
WORDS = "router harbour budget garden meeting decision release kitchen library contract".split()  # noqa: SIM905


class Billed(HashEmbedder):
    """Writes down what it was paid for, before it answers: process, batch, digest of the text."""

    max_batch_items = 8

    def __init__(self, bill: Path) -> None:
        super().__init__(32)
        self._bill = bill
        self._batch = 0

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        self._batch += 1
        digests = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]
        append(self._bill, "".join(f"{os.getpid()} {self._batch} {digest}\n" for digest in digests))
        time.sleep(0.002)
        return super().embed_documents(texts)


class DeadlyVFS(apsw.VFS):
    """Kills the process at its nth write, half-way through it."""

    def __init__(self, writes: int) -> None:
        self.left = writes
        self.base = apsw.vfs_names()[0]
        super().__init__("deadly", self.base, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        return DeadlyFile(self, name, flags)


class DeadlyFile(apsw.VFSFile):
    def __init__(self, vfs: DeadlyVFS, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._vfs = vfs
        super().__init__(vfs.base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._vfs.left -= 1
        if self._vfs.left < 0:
            super().xWrite(data[: len(data) // 2], offset)
            os.kill(os.getpid(), signal.SIGKILL)
        super().xWrite(data, offset)


def append(path: Path, text: str) -> None:
    """Append in one write: what another process reads is whole."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, text.encode())
    os.close(descriptor)


class Harness:
    """One workspace, many workers, one look after each."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.numbers = random.Random(seed)
        self.notes, self.state = folder / "notes", folder / "state"
        self.bill, self.kept = folder / "bill", folder / "kept"
        (self.notes / "memory").mkdir(parents=True)
        self.died = Counter[str]()
        self.completed = 0
        self.entries = 0
        self.ended_last: set[int] = set()
        """Workers that were killed: what their last batch cost could not be kept."""
        for number in range(NOTES):
            self.write(number)
        self.takes: dict[str, float] = {}
        self.index(0, 0)
        for name, work in (("append", self.remember), ("rebuild", self.rebuild), ("index", self.index)):
            self.write(1)
            begun = time.perf_counter()
            work(self.entries, 20)  # also imports here what every worker would have to import
            self.takes[name] = time.perf_counter() - begun
            self.entries += 1000

    def open(self) -> Memory:
        return Memory.open(
            workspace=self.notes,
            state_dir=self.state,
            environ={},
            clock=CLOCK,
            embedder=Billed(self.bill),
            observer=RecordingObserver(),
        )

    def write(self, number: int) -> None:
        lines = [f"# Note {number}", "", f"This is about topic{number}.", ""]
        for _ in range(self.numbers.randint(1, 6)):
            lines += [f"## {self.numbers.choice(WORDS)} {self.numbers.getrandbits(40)}", ""]
            lines += [" ".join(self.numbers.choices(WORDS, k=120)), ""]
        (self.notes / f"memory/{number}.md").write_text("\n".join(lines))

    def round(self) -> None:
        """Change some notes, let a worker begin, kill it, look."""
        for number in self.numbers.sample(range(NOTES), 4):
            self.write(number)
        name, work = self.numbers.choice(
            [("index", self.index), ("rebuild", self.rebuild), ("append", self.remember)]
        )
        writes = self.numbers.randint(0, 120) if self.numbers.random() < 0.5 and name != "append" else None
        first = self.entries
        self.entries += 1000
        worker = os.fork()
        if worker == 0:
            try:
                if writes is not None:
                    self.vfs = DeadlyVFS(writes)
                work(first, 1000)
            finally:
                os._exit(0)
        if writes is None:
            time.sleep(self.numbers.random() * self.takes[name])
            os.kill(worker, signal.SIGKILL)
        _, status = os.waitpid(worker, 0)
        if os.WIFSIGNALED(status):
            self.died[name] += 1
            self.ended_last.add(worker)
        self.look()

    def index(self, _first: int, _count: int) -> None:
        with self.open() as memory:
            memory.sync()

    def rebuild(self, _first: int, _count: int) -> None:
        with self.open() as memory:
            memory.sync(force=True)

    def remember(self, first: int, count: int) -> None:
        with self.open() as memory:
            for number in range(first, first + count):
                memory.remember(
                    f"entry {number} of {first}, which is as long as people write them, 끝말잇기."
                )
                append(self.kept, f"{number}\n")

    def look(self) -> None:
        """The index opens and is sound; a search answers; now and then a pass completes it."""
        with self.open() as memory:
            path = memory.settings.store_path
            if path.exists():
                with closing(SqliteStore(path)) as store:
                    found = [defect.message for defect in store.defects() if not defect.leftover]
                assert found == [], found
            memory.search("topic7", sync=False)
            if self.numbers.random() < 0.3:
                self.complete(memory)
        self.check_log()

    def complete(self, memory: Memory) -> None:
        report = memory.sync()
        status = memory.status()
        assert report.complete, report.warning
        assert not status.dirty
        assert status.statistics.vectors == status.statistics.chunks
        assert memory.search("topic7", sync=False).hits[0].path == "memory/7.md"
        self.completed += 1

    def check_log(self) -> None:
        """Every entry that was kept stands in the log once, and every line is whole."""
        file = self.notes / LOG
        if not file.exists():
            return
        text = file.read_text("utf-8", "strict")
        assert text.endswith("\n")
        assert text.startswith("# 2026-02-10\n\n")
        entries = [re.fullmatch(ENTRY, line) for line in text.splitlines()[2:]]
        assert all(entries), [line for line in text.splitlines()[2:] if not re.fullmatch(ENTRY, line)]
        standing = [int(entry[1]) for entry in entries if entry]
        assert len(standing) == len(set(standing))
        kept = set(map(int, self.kept.read_text().split())) if self.kept.exists() else set()
        assert kept <= set(standing), sorted(kept - set(standing))

    def paid_again(self) -> tuple[int, int]:
        """How many texts were billed, and how many again although the first time could be kept.

        A batch whose process was killed before it could be written down is lost to everybody.
        """
        rows = [line.split() for line in self.bill.read_text().splitlines()]
        last: dict[str, int] = {}
        for process, batch, _ in rows:
            last[process] = max(last.get(process, 0), int(batch))
        seen: set[str] = set()
        again = 0
        for process, batch, digest in rows:
            again += digest in seen
            if not (int(process) in self.ended_last and int(batch) == last[process]):
                seen.add(digest)
        return len(rows), again


def main(folder: Path, kills: int, seed: int) -> dict[str, object]:
    """Kill until that many workers have died."""
    harness = Harness(folder, seed)
    started = time.perf_counter()
    rounds = 0
    while harness.died.total() < kills:
        harness.round()
        rounds += 1
    with harness.open() as memory:
        harness.complete(memory)
        files = memory.status().statistics.files
    harness.check_log()
    billed, again = harness.paid_again()
    aside = len([path for path in (folder / "state/memory").iterdir() if ".corrupt-" in path.name])
    return {
        "kills": harness.died.total(),
        "killed while": dict(harness.died),
        "rounds": rounds,
        "completed passes": harness.completed,
        "files": files,
        "entries kept": len(harness.kept.read_text().split()) if harness.kept.exists() else 0,
        "texts embedded": billed,
        "texts paid twice": again,
        "files set aside as damaged": aside,
        "seconds": round(time.perf_counter() - started, 1),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))) + "\n")
