"""How a slow provider is used: `python -m benchmarks.providers [--notes 1000] [--kills 5]`.

Indexes made-up notes against a server on this machine that takes 100 ms for each request and keeps the bill:
from nothing, again with a warm cache, with another model and back, and killed half-way. Exits with 1 when a
figure misses its limit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

from benchmarks.speed.notes import write_notes
from memlane import Memory

from .client import Client
from .server import Server, running

_REQUESTS_A_NOTE = 1 / 8
_SHARE_OF_SEQUENCE = 1 / 10


class Figures:
    """Prints one line a figure, and keeps whether all were within their limits."""

    def __init__(self) -> None:
        self.good = True

    def tell(self, name: str, figure: float, limit: float, unit: str = "") -> None:
        """A figure, and the most it may be."""
        good = figure <= limit
        self.good &= good
        print(f"{name:<52} {figure:8.2f} {unit:<3} (at most {limit:.2f}){'' if good else '  MISSED'}")


def main() -> int:
    """Print the figures; 0 when all are within their limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--milliseconds", type=int, default=100)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _index(*options.child)
    figures = Figures()
    seconds = options.milliseconds / 1000
    with tempfile.TemporaryDirectory(prefix="memlane-providers-") as folder:
        notes, state = Path(folder, "notes"), Path(folder, "state")
        write_notes(notes, options.notes)
        with running(seconds) as server:
            requests = _cold_and_warm(figures, server, notes, state, options.notes)
        for kill in range(options.kills):
            shutil.rmtree(state)
            with running(seconds) as server:
                _kill(figures, server, notes, state, requests * (kill + 1) // (options.kills + 1))
    return 0 if figures.good else 1


def _cold_and_warm(figures: Figures, server: Server, notes: Path, state: Path, count: int) -> int:
    """Everything but kills. Gives how many requests an index from nothing takes."""
    bill = server.bill
    started = perf_counter()
    chunks = _synced(server, notes, state)
    took = perf_counter() - started
    print(f"{count} notes, {chunks} chunks, up to {bill.largest} texts a request")
    figures.tell("requests a note, from nothing", bill.requests / count, _REQUESTS_A_NOTE)
    figures.tell("seconds, from nothing", took, _SHARE_OF_SEQUENCE * count * server.seconds, "s")
    figures.tell("texts sent again", bill.again, 0)
    made = bill.requests
    _synced(server, notes, state, force=True)
    for file in (state / "memory").iterdir():
        if ".embeddings." not in file.name:
            file.unlink()
    _synced(server, notes, state)
    figures.tell("requests of a rebuild with a warm cache", bill.requests - made, 0)
    _synced(server, notes, state, model="two")
    other = bill.requests - made
    _synced(server, notes, state)
    figures.tell("requests on the way back from another model", bill.requests - made - other, 0)
    return made


def _kill(figures: Figures, server: Server, notes: Path, state: Path, request: int) -> None:
    """Kill a process at this request, and let another one go on."""
    child = ["--child", server.address, str(notes), str(state)]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.providers", *child])
    while server.bill.requests < request and process.poll() is None:
        sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _synced(server, notes, state)
    bill = server.bill
    again = max(bill.again / Client.max_batch_items, bill.tokens_again / Client.max_batch_tokens)
    name = f"full batches again, killed at request {request} ({bill.again} texts)"
    figures.tell(name, again, 1)


def _synced(server: Server, notes: Path, state: Path, *, model: str = "one", force: bool = False) -> int:
    embedder = Client(server.address, model)
    with Memory.open(workspace=notes, state_dir=state, environ={}, embedder=embedder) as memory:
        report = memory.sync(force=force)
        if not report.complete:
            raise SystemExit(f"the pass did not end: {report.warning}")
        return memory.status().statistics.chunks


def _index(address: str, notes: str, state: str) -> int:
    with Memory.open(workspace=notes, state_dir=state, environ={}, embedder=Client(address)) as memory:
        memory.sync()
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
