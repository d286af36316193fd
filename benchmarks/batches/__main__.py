"""`python -m benchmarks.batches [--chunks 10000] [--kills 12]`: does every chunk get its vector, paid once?

For each of the three interfaces a process indexes through batch jobs of 2,500 texts, of which one in 100
is refused. It is killed with SIGKILL at calls chosen at random, when they are done and before it has heard of
it, and started again. Prints one JSON document; exits with 1 when a vector is missing or was paid twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.loopback.batch_api import BatchApi, served
from tests.loopback.in_process import KINDS

ROOT = Path(__file__).resolve().parents[2]
TEXTS_A_JOB = 2_500
STEPS = frozenset({"upload", "create", "look", "list", "download"})


class Killer:
    """Kills the process at hand at one of its next calls."""

    def __init__(self, numbers: random.Random, kills: int) -> None:
        self._numbers = numbers
        self.left = kills
        self.at = Counter[str]()
        self.worker: subprocess.Popen[bytes] | None = None
        self._calls = 0

    def aim(self, worker: subprocess.Popen[bytes]) -> None:
        """Take a process on."""
        self.worker = worker
        self._calls = self._numbers.randint(1, 8)

    def __call__(self, step: str) -> None:
        """A call has been done, and is not answered yet."""
        if self.left and step in STEPS and self.worker is not None:
            self._calls -= 1
            if self._calls == 0:
                self.left -= 1
                self.at[step] += 1
                os.kill(self.worker.pid, signal.SIGKILL)


def measure(kind: str, chunks: int, kills: int, folder: Path) -> dict[str, Any]:
    """Index so many notes of one chunk each through one interface."""
    notes = folder / "notes"
    (notes / "memory").mkdir(parents=True)
    for number in range(chunks):
        (notes / f"memory/{number}.md").write_text(f"# Note {number}\n\nabout topic{number}\n", "utf-8")
    api: BatchApi = KINDS[kind][0]()
    api.refuses = lambda _number, text: crc32(text.encode()) % 100 == 0
    killer = Killer(random.Random(kind), kills)
    api.on_step = killer
    command = [sys.executable, "-m", "tests.loopback.batch_worker", str(notes), str(folder / "main.sqlite")]
    started = time.perf_counter()
    passes = 0
    with served(api) as base:
        while True:
            worker = subprocess.Popen(
                [*command, base, kind, str(TEXTS_A_JOB)], cwd=ROOT, stdout=subprocess.PIPE
            )
            killer.aim(worker)
            out, _ = worker.communicate()
            passes += 1
            if worker.returncode != -signal.SIGKILL:
                break
    report = json.loads(out)
    return {
        "chunks": report["chunks"],
        "vectors": report["vectors"],
        "complete": report["complete"],
        "jobs": len(api.jobs),
        "passes": passes,
        "killed while": dict(killer.at),
        "rows refused": sum(api.direct.values()),
        "texts paid for": sum(api.paid.values()),
        "paid twice": sum(count > 1 for count in api.paid.values()),
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> int:
    """Print what was seen; 0 when every chunk has its vector and none was paid twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=12)
    options = parser.parse_args()
    seen = {}
    for kind in KINDS:
        with tempfile.TemporaryDirectory(prefix="memlane-batches-") as folder:
            seen[kind] = measure(kind, options.chunks, options.kills, Path(folder))
    print(json.dumps(seen, indent=2))
    sound = all(
        found["complete"] and found["vectors"] == options.chunks and found["paid twice"] == 0
        for found in seen.values()
    )
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
