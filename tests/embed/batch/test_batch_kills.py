"""kill -9 at every step of a job, of a real process over real sockets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.loopback.batch_api import OpenAiApi, served

ROOT = Path(__file__).resolve().parents[3]
WORKER = "tests.loopback.batch_worker"


def start(notes: Path, index: Path, base: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", WORKER, str(notes), str(index), base, "openai", "100"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize("step", ["upload", "create", "look", "download"])
def test_a_kill_at_a_step_costs_nothing_twice(tmp_path: Path, step: str, heard: bool) -> None:
    """`heard`: the process is killed at the next call, when it has heard the answer to this one."""
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    for number in range(20):
        (notes / f"memory/{number}.md").write_text(f"# Note {number}\n\nabout topic{number}\n", "utf-8")
    api = OpenAiApi()
    api.refuses = lambda number, text: number == 3
    workers: list[subprocess.Popen[bytes]] = []
    reached: list[str] = []

    def kill(done: str) -> None:
        if len(workers) == 1 and workers[0].returncode is None and (done == step or step in reached):
            if not heard or step in reached:
                os.kill(workers[0].pid, signal.SIGKILL)
            reached.append(done)

    api.on_step = kill
    with served(api) as base:
        workers.append(start(notes, tmp_path / "main.sqlite", base))
        workers[0].communicate(timeout=60)
        if (step, heard) != ("download", True):
            assert workers[0].returncode == -signal.SIGKILL
        workers.append(start(notes, tmp_path / "main.sqlite", base))
        out, err = workers[1].communicate(timeout=60)
    assert workers[1].returncode == 0, err.decode()
    assert json.loads(out) == {"complete": True, "warnings": [], "chunks": 20, "vectors": 20}
    assert len(api.paid) == 20
    assert max(api.paid.values()) == 1
    assert sum(api.direct.values()) == 1
    assert len(api.jobs) == 1
    assert not (tmp_path / "main.batches").exists()
