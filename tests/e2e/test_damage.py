"""Damage of every kind beside the notes: memory answers, mends itself, and pays for nothing twice."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from memlane import Memory, StoreError, WorkspaceError
from memlane.clock import FixedClock
from memlane.testing import HashEmbedder, RecordingObserver

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]
COUNT = 30
UNCLOSED = """
import os, sys
from memlane import Memory
from memlane.testing import HashEmbedder
memory = Memory.open(config=sys.argv[1], state_dir=sys.argv[2], environ={}, embedder=HashEmbedder())
memory.sync()
os._exit(0)
"""


@pytest.fixture
def filled(write: Write, open_memory: Open) -> Path:
    """Thirty notes, indexed and closed; gives the index file."""
    for number in range(COUNT):
        write(
            f"memory/{number}.md", f"# Note {number}\n\nnote {number} about topic{number}\n" + "filler " * 300
        )
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    memory.close()
    return memory.settings.store_path


@pytest.fixture
def unclosed(filled: Path) -> Path:
    """The same, left by a process that died: everything is still in the write-ahead logs."""
    for path in filled.parent.iterdir():
        path.unlink()
    state = filled.parent.parent
    subprocess.run([sys.executable, "-c", UNCLOSED, state / "openclaw.json", state], check=True)
    assert Path(f"{filled}-wal").stat().st_size > 100_000
    return filled


def assert_whole(memory: Memory) -> None:
    assert memory.sync().complete
    status = memory.status()
    assert not status.dirty
    assert status.warnings == ()
    assert (status.statistics.files, status.statistics.chunks) == (COUNT, status.statistics.vectors)
    for number in range(COUNT):
        assert memory.search(f"topic{number}", sync=False).hits[0].path == f"memory/{number}.md"


def spoil(path: Path, how: str, numbers: random.Random, page: int) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        at = numbers.randrange(size // page) * page
        match how:
            case "zeros":
                file.seek(at)
                file.write(bytes(page))
            case "noise":
                file.seek(at)
                file.write(numbers.randbytes(page))
            case "bits":
                for _ in range(40):
                    at = numbers.randrange(4096, size)
                    file.seek(at)
                    byte = file.read(1)[0]
                    file.seek(at)
                    file.write(bytes([byte ^ (1 << numbers.randrange(8))]))
            case "cut":
                file.truncate(numbers.randrange(size))


@pytest.mark.parametrize("how", ["zeros", "noise", "bits", "cut"])
@pytest.mark.parametrize("seed", range(3))
def test_a_spoilt_index_answers_and_is_made_whole(
    filled: Path, open_memory: Open, how: str, seed: int
) -> None:
    spoil(filled, how, random.Random(seed), 8192)
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    for number in random.Random(seed).sample(range(COUNT), 5):
        assert memory.search(f"topic{number}").hits[0].path == f"memory/{number}.md"
    later = FixedClock(memory.clock.now() + timedelta(days=2))
    memory.close()
    with Memory.open(
        state_dir=filled.parent.parent,
        environ={},
        clock=later,
        embedder=embedder,
        observer=RecordingObserver(),
    ) as tomorrow:  # what no search has touched is found by the daily check
        assert_whole(tomorrow)
    assert embedder.documents == []


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
@pytest.mark.parametrize("how", ["zeros", "noise", "cut", "missing"])
def test_a_spoilt_or_missing_log_costs_at_most_a_pass(
    unclosed: Path, open_memory: Open, suffix: str, how: str
) -> None:
    log = Path(f"{unclosed}{suffix}")
    if how == "missing":
        log.unlink()
    else:
        spoil(log, how, random.Random(1), 4096)
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    assert memory.search("topic7").hits[0].path == "memory/7.md"
    assert_whole(memory)
    assert embedder.documents == []


@pytest.mark.parametrize("how", ["zeros", "noise", "bits", "cut"])
def test_a_spoilt_cache_gives_nothing_wrong_and_costs_only_what_it_lost(
    filled: Path, open_memory: Open, how: str
) -> None:
    cache = filled.with_name("main.embeddings.sqlite")
    spoil(cache, how, random.Random(3), 32_768)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync(force=True)
    assert_whole(memory)
    vectors = vectors_of(filled)
    shutil.rmtree(filled.parent)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    assert vectors_of(filled) == vectors


def vectors_of(path: Path) -> list[bytes]:
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE) as connection:
        (space,) = connection.execute("SELECT id FROM spaces WHERE current").fetchone()
        return sorted(row[0] for row in connection.execute(f"SELECT vector FROM vectors_{space}"))


def test_a_page_in_another_ones_place_is_found_by_the_daily_check(filled: Path, open_memory: Open) -> None:
    with apsw.Connection(str(filled)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        roots = dict(
            connection.execute(
                "SELECT name, rootpage FROM sqlite_schema WHERE name IN ('chunks', 'vectors_1')"
            )
        )
    connection.close()
    one, other = ((root - 1) * 8192 for root in roots.values())
    with filled.open("r+b") as file:
        file.seek(one)
        first = file.read(8192)
        file.seek(other)
        second = file.read(8192)
        file.seek(one)
        file.write(second)
        file.seek(other)
        file.write(first)
    embedder = HashEmbedder()
    with Memory.open(
        state_dir=filled.parent.parent,
        environ={},
        clock=FixedClock(datetime(2026, 3, 1, tzinfo=UTC)),
        embedder=embedder,
        observer=RecordingObserver(),
    ) as memory:
        assert_whole(memory)
    assert embedder.documents == []


def test_an_index_of_a_newer_version_is_refused_until_a_rebuild_is_asked_for(
    filled: Path, open_memory: Open, observer: RecordingObserver
) -> None:
    with apsw.Connection(str(filled)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = filled.read_bytes()
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    with pytest.raises(StoreError, match="newer version") as caught:
        memory.search("topic7")
    assert "memlane index --force" in caught.value.hint
    assert filled.read_bytes() == before
    memory.sync(force=True)
    assert_whole(memory)
    assert embedder.documents == []
    (aside,) = filled.parent.glob(f"{filled.name}.corrupt-*[0-9]")
    assert aside.read_bytes() == before
    assert any(aside.name in warning for warning in observer.warnings)


def test_a_lock_file_left_behind_holds_nobody_up(filled: Path, write: Write, open_memory: Open) -> None:
    lock = Path(f"{filled}.lock")
    lock.write_text("4242 of a machine long gone")
    os.utime(lock, (1, 1))
    write("memory/new.md", "the lighthouse\n")
    memory = open_memory(embedder=HashEmbedder())
    assert memory.sync(wait=0.0).indexed == 1
    assert memory.search("lighthouse").hits


def test_the_clock_may_jump(filled: Path, write: Write, notes: Path) -> None:
    embedder = HashEmbedder()
    for moment in ("2031-01-01T00:00:00+00:00", "1999-12-31T23:59:00+00:00", "2026-02-10T12:00:00+00:00"):
        with Memory.open(
            state_dir=filled.parent.parent,
            environ={},
            clock=FixedClock(datetime.fromisoformat(moment)),
            embedder=embedder,
            observer=RecordingObserver(),
        ) as memory:
            memory.remember(f"the clock said {moment}")
            assert f"memory/{moment[:10]}.md" in [hit.path for hit in memory.search("clock")]
            assert memory.status().dirty is False
            assert (notes / f"memory/{moment[:10]}.md").exists()
    assert len(embedder.documents) == len(set(embedder.documents)) == 3


@pytest.mark.parametrize("ahead", [0.01, 3600.0, 10.0**9], ids=["a tick", "an hour", "thirty years"])
def test_a_note_from_the_future_is_indexed_once_and_followed(
    filled: Path, write: Write, open_memory: Open, ahead: float
) -> None:
    file = write("memory/future.md", "the lighthouse\n")
    moment = time.time() + ahead
    os.utime(file, (moment, moment))
    memory = open_memory(embedder=HashEmbedder())
    assert memory.sync().indexed == 1
    assert memory.sync().files_read == 0
    file.write_text("the harbour\n")
    assert memory.sync().indexed == 1
    assert memory.search("harbour", sync=False).hits[0].path == "memory/future.md"


def test_a_root_that_vanishes_and_returns_is_embedded_once(
    write: Write, tmp_path: Path, open_memory: Open
) -> None:
    write("memory/a.md", "green tea\n")
    disk, away = tmp_path / "disk", tmp_path / "away"
    disk.mkdir()
    for number in range(20):
        (disk / f"{number}.md").write_text(f"topic{number} on the disk\n")
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder, extraPaths=[str(disk)])
    assert memory.sync().embedded == 21
    for passes in (1, 3):  # doubted after one pass, really gone after more
        disk.rename(away)
        for _ in range(passes):
            memory.sync()
        assert memory.search("topic3 disk", sync=False).hits == ()
        assert memory.status().statistics.files == (21 if passes == 1 else 1)
        away.rename(disk)
        memory.sync()
        assert memory.search("topic3 disk", sync=False).hits[0].path == f"{disk}/3.md"
        assert memory.status().statistics.files == 21
    assert len(embedder.documents) == 21


def test_a_workspace_that_vanishes_and_returns_is_embedded_once(
    write: Write, notes: Path, tmp_path: Path, open_memory: Open
) -> None:
    for number in range(20):
        write(f"memory/{number}.md", f"topic{number}\n")
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    memory.sync()
    notes.rename(tmp_path / "away")
    for _ in range(3):
        with pytest.raises(WorkspaceError):
            memory.sync()
    notes.mkdir()  # mounted, but empty: the worst kind of gone
    memory.sync()
    assert memory.status().statistics.files == 20
    notes.rmdir()
    (tmp_path / "away").rename(notes)
    memory.sync()
    assert memory.search("topic3", sync=False).hits[0].path == "memory/3.md"
    assert len(embedder.documents) == 20


def test_a_newer_index_beside_a_foreign_file_is_what_is_moved(
    filled: Path, open_memory: Open, observer: RecordingObserver
) -> None:
    beside = filled.with_name("main.memlane.sqlite")
    filled.rename(beside)
    for path, statement in ((beside, "PRAGMA user_version = 99"), (filled, "CREATE TABLE theirs (x)")):
        with apsw.Connection(str(path)) as connection:
            connection.execute(statement)
        connection.close()
    before = filled.read_bytes()
    memory = open_memory(embedder=HashEmbedder())
    memory.sync(force=True)
    assert_whole(memory)
    assert filled.read_bytes() == before
    assert list(filled.parent.glob("main.memlane.sqlite.corrupt-*"))
    assert not list(filled.parent.glob("main.sqlite.corrupt-*"))


def test_a_cache_that_cannot_be_mended_now_stays_for_later(filled: Path, open_memory: Open) -> None:
    cache = filled.with_name("main.embeddings.sqlite")
    with apsw.Connection(str(cache)) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'embeddings'").get
    connection.close()
    with cache.open("r+b") as file:
        file.seek((page - 1) * 32_768)
        file.write(bytes(32_768))
    spoilt = cache.read_bytes()
    for path in filled.parent.glob("main.sqlite*"):
        path.unlink()
    blocker = cache.with_name(f"{cache.name}.new")
    blocker.mkdir()
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    assert memory.sync().complete
    assert cache.read_bytes() == spoilt
    blocker.rmdir()
    memory.sync(force=True)
    assert memory.status().cache_entries == len(set(embedder.documents)) > COUNT
