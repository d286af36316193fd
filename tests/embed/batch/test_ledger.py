"""The record of jobs, where it cannot be read."""

from __future__ import annotations

import errno
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memlane.embed.batch.ledger import Job, Ledger
from memlane.errors import StoreError

NOW = datetime(2026, 2, 10, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "main.batches")
    made.add(Job("memlane-1", "openai", "small", "{}", 1, 4, NOW, NOW + timedelta(hours=24)), {b"abcd"})
    return made


def test_a_record_that_cannot_be_read_now_is_not_given_up(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        with pytest.raises(StoreError, match=r"memlane-1\.json: Too many open files"):
            ledger.sweep()
    (job,) = ledger.jobs()
    assert ledger.digests(job) == {b"abcd"}


def test_a_damaged_record_is_set_aside(ledger: Ledger) -> None:
    (ledger.folder / "memlane-1.json").write_bytes(b"{")
    assert ledger.jobs() == []
    assert ledger.sweep() == ["memlane-1.json"]
    assert [path.name for path in ledger.folder.iterdir()] == ["memlane-1.json.damaged"]


def test_only_texts_that_stay_are_known(ledger: Ledger) -> None:
    second = Job("memlane-2", "openai", "small", "{}", 2, 4, NOW, NOW + timedelta(hours=24))
    ledger.add(second, {b"efgh", b"ijkl"})
    ledger.keep_only({b"ijkl", b"mnop"})
    assert ledger.jobs() == [second]
    assert ledger.digests(second) == {b"ijkl"}
    assert sorted(path.suffix for path in ledger.folder.iterdir()) == [".digests", ".json"]
    ledger.keep_only(set())
    assert not ledger.folder.exists()
