"""What the doctor says of what cannot be made again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memlane import Finding, Memory
from memlane.embed.batch.ledger import Job, Ledger
from memlane.testing import HashEmbedder

NOW = datetime(2026, 2, 10, tzinfo=UTC)


@pytest.fixture
def memory(write: Callable[[str, str], Path], open_memory: Callable[..., Memory]) -> Memory:
    write("memory/a.md", "tea\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    return memory


@pytest.fixture
def ledger(memory: Memory) -> Ledger:
    ledger = Ledger(Path(memory.status().store_path).with_suffix(".batches"))
    ledger.add(Job("memlane-1", "openai", "small", "{}", 1, 4, NOW, NOW + timedelta(hours=24)), {b"abcd"})
    return ledger


def found(memory: Memory, check: str) -> list[Finding]:
    return [finding for finding in memory.doctor().findings if finding.check == check]


def test_where_there_is_nothing_of_the_kind_nothing_is_said(memory: Memory) -> None:
    assert found(memory, "forgotten") == found(memory, "batches") == []


def test_what_is_forgotten_is_counted(memory: Memory) -> None:
    memory.forget(phrase="coffee", dry_run=False)
    (finding,) = found(memory, "forgotten")
    assert finding.severity == "fine"
    assert finding.message.endswith("main.forgotten.json: 1 forgotten")


def test_tombstones_that_cannot_be_read_are_broken(memory: Memory, tmp_path: Path) -> None:
    tombstones = tmp_path / "state/memory/main.forgotten.json"
    tombstones.write_text("{")
    (finding,) = found(memory, "forgotten")
    assert finding.severity == "broken"
    assert finding.message.startswith(f"{tombstones} cannot be used: ")
    assert "mend it, or delete it" in finding.remedy


def test_sound_batch_jobs_are_counted(memory: Memory, ledger: Ledger) -> None:
    (finding,) = found(memory, "batches")
    assert (finding.severity, finding.message) == ("fine", f"{ledger.folder}: 1 under way")


def test_a_damaged_record_of_a_batch_job_is_broken_and_then_set_aside(memory: Memory, ledger: Ledger) -> None:
    record = ledger.folder / "memlane-1.json"
    record.write_text("{")
    broken, _ = found(memory, "batches")
    assert (broken.severity, broken.message) == ("broken", f"{record} is no record of a batch job")
    assert "see at the provider" in broken.remedy
    assert record.exists()
    ledger.sweep()
    aside, _ = found(memory, "batches")
    assert (aside.severity, aside.message) == ("advice", f"damaged records were set aside: {record}.damaged")


def test_a_batch_job_whose_texts_are_lost_is_broken(memory: Memory, ledger: Ledger) -> None:
    (ledger.folder / "memlane-1.digests").unlink()
    (finding,) = found(memory, "batches")
    assert finding.severity == "broken"
    assert "memlane-1.digests" in finding.message
