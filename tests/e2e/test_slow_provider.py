"""A process is killed while a slow provider answers several of its calls."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.providers.client import Client
from benchmarks.providers.server import running
from benchmarks.speed.notes import write_notes

from memlane import Memory


def test_a_kill_costs_what_is_on_its_way(tmp_path: Path) -> None:
    notes, state = tmp_path / "notes", tmp_path / "state"
    write_notes(notes, 120)
    with running(0.05) as server:
        child = ["--child", server.address, str(notes), str(state)]
        process = subprocess.Popen([sys.executable, "-m", "benchmarks.providers", *child])
        assert server.bill.reached(7, seconds=60)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Memory.open(
            workspace=notes, state_dir=state, environ={}, embedder=Client(server.address)
        ) as memory:
            assert memory.sync().complete
            statistics = memory.status().statistics
            assert statistics.vectors == statistics.chunks > 500
        bill = server.bill
        assert 0 <= bill.again <= Client.max_in_flight * bill.largest
        asked = bill.requests
        with Memory.open(
            workspace=notes, state_dir=state, environ={}, embedder=Client(server.address)
        ) as memory:
            assert memory.sync(force=True).complete
        assert bill.requests == asked
