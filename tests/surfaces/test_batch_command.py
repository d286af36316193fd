"""`memlane index --batch-status`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlane.embed.batch.ledger import Job, Ledger


def run(environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "memlane", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=True, encoding="utf-8").stdout


def test_no_jobs(environment: dict[str, str], write: Callable[[str, str], Path]) -> None:
    write("memory/a.md", "tea\n")
    assert run(environment, "index", "--batch-status") == "main: no batch jobs\n"
    (agent,) = json.loads(run(environment, "index", "--batch-status", "--json"))["agents"]
    assert agent == {"agent": "main", "jobs": [], "collected": 0, "resent": 0, "warnings": []}


def test_a_job_of_a_model_that_is_not_configured(
    environment: dict[str, str], write: Callable[[str, str], Path], tmp_path: Path
) -> None:
    write("memory/a.md", "tea\n")
    began = datetime(2026, 12, 1, tzinfo=UTC)
    job = Job("memlane-1", "openai", "small\x1b[2J", "{}", 2, 16, began, began, "created", remote="batch_1")
    run(environment, "index")
    (index,) = (tmp_path / "state/memory").glob("*.sqlite")
    Ledger(index.with_suffix(".batches")).add(job, [b"0" * 16, b"1" * 16])
    first, line = run(environment, "index", "--batch-status").splitlines()
    assert first == "main: 1 batch job"
    assert line.startswith("  batch_1 at openai (small\u241b[2J): created, 2 texts, ")
    assert line.endswith(" old, never looked at; of another model than the configured one")
    assert "batch_1 at openai" in run(environment, "status")
    (agent,) = json.loads(run(environment, "status", "--json"))["agents"]
    assert agent["batches"][0]["remoteId"] == "batch_1"


@pytest.mark.parametrize("other", ["--force", "--plan"])
def test_looking_at_jobs_does_nothing_else(environment: dict[str, str], other: str) -> None:
    command = [sys.executable, "-m", "memlane", "index", "--batch-status", other]
    ended = subprocess.run(command, env=environment, capture_output=True, check=False, encoding="utf-8")
    said = f"memlane: --batch-status only looks at the batch jobs: leave out {other}\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)
