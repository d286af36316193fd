"""What the doctor finds, says and mends."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import filelock
import pytest

from memlane import AsyncMemory, DoctorReport, Finding, Memory
from memlane.clock import FixedClock
from memlane.doctor.surroundings import check_watching
from memlane.embed.base import NoVector, Vector
from memlane.testing import HashEmbedder

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


def found(report: DoctorReport, check: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.check == check]


def worst(report: DoctorReport, check: str) -> str:
    return max((one.severity for one in found(report, check)), key=["fine", "advice", "broken"].index)


def said(report: DoctorReport, check: str) -> str:
    return "\n".join(f"{one.message} → {one.remedy}" for one in found(report, check))


@pytest.fixture
def indexed(write: Write, open_memory: Open) -> Path:
    """Forty notes, indexed with a paid embedder and closed; gives the index file."""
    for number in range(40):
        write(f"memory/{number}.md", f"note {number} about topic{number}\n" + "filler words " * 40)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    path = Path(memory.status().store_path)
    memory.close()
    return path


def ruin(path: Path, statement: str) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.execute(statement)
    connection.close()


def test_a_sound_memory_is_fine_everywhere(indexed: Path, open_memory: Open) -> None:
    report = open_memory(embedder=HashEmbedder()).doctor()
    assert report.broken == ()
    assert {one.check for one in report.findings if one.severity == "fine"} >= {
        "configuration",
        "workspace",
        "storage",
        "writers",
        "cache",
        "index",
        "provider",
        "time",
    }
    assert "40 files, 40 chunks, 40 vectors" in said(report, "index")


def test_looking_makes_no_index(write: Write, open_memory: Open, tmp_path: Path) -> None:
    write("memory/a.md", "tea\n")
    report = open_memory().doctor()
    assert "nothing is indexed yet → memlane index" in said(report, "index")
    assert not (tmp_path / "state/memory").exists()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM vectors_1 WHERE chunk < 4", "3 chunks have no vector"),
        ("INSERT INTO vectors_1 VALUES (999, zeroblob(256), NULL)", "1 vectors belong to no chunk"),
        ("UPDATE vectors_1 SET vector = x'00ff' WHERE chunk = 1", "do not have 64 dimensions"),
        ("DELETE FROM chunks WHERE id = 7", "full-text rows belong to no chunk"),
        ("DELETE FROM terms_1 WHERE rowid = 7", "1 chunks cannot be found by their words"),
        ("UPDATE chunks SET file = 999 WHERE id = 7", "1 chunks belong to no file"),
        ("UPDATE chunks SET text = 'invented' WHERE id = 7", "1 chunks do not hold the text"),
        ("DROP TABLE vectors_1", "vectors_1 is missing"),
        ("CREATE TABLE vectors_77 (x)", "vectors_77 belongs to nothing"),
        ("UPDATE files SET generation = 9 WHERE id = 3", "1 files belong to no generation"),
    ],
)
def test_tables_that_do_not_agree_are_found_and_mended_without_paying_again(
    indexed: Path, open_memory: Open, statement: str, message: str
) -> None:
    ruin(indexed, statement)
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    before = memory.doctor()
    assert message in said(before, "index")
    assert worst(before, "index") == "broken"
    after = memory.doctor(fix=True)
    assert worst(after, "index") == "fine"
    assert "built the index again" in "".join(after.mended)
    assert memory.search("topic17", sync=False).hits[0].path == "memory/17.md"
    assert embedder.documents == []


def test_damaged_pages_are_found_and_mended(indexed: Path, open_memory: Open) -> None:
    with indexed.open("r+b") as file:
        file.seek(6 * 8192)
        file.write(b"\0" * 8192)
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    assert worst(memory.doctor(), "index") == "broken"
    report = memory.doctor(fix=True)
    assert report.broken == ()
    assert memory.status().statistics.vectors == 40
    assert embedder.documents == []


def test_what_changed_since_is_advice_and_brought_up_to_date(
    indexed: Path, write: Write, open_memory: Open
) -> None:
    write("memory/new.md", "the lighthouse\n")
    memory = open_memory(embedder=HashEmbedder())
    assert "1 files differ" in said(memory.doctor(), "index")
    report = memory.doctor(fix=True)
    assert worst(report, "index") == "fine"
    assert memory.search("lighthouse", sync=False).hits


def test_a_half_built_generation_is_a_leftover(indexed: Path, open_memory: Open) -> None:
    ruin(
        indexed,
        "INSERT INTO generations (layout, current, complete) VALUES ('x', 0, 0);"
        "CREATE VIRTUAL TABLE terms_2 USING fts5(heading, body, content='', contentless_delete=1)",
    )
    memory = open_memory(embedder=HashEmbedder())
    assert "generation 2 is unfinished" in said(memory.doctor(), "index")
    assert worst(memory.doctor(fix=True), "index") == "fine"


def test_a_newer_index_is_left_alone_unless_a_rebuild_is_asked_for(indexed: Path, open_memory: Open) -> None:
    ruin(indexed, "PRAGMA user_version = 99")
    memory = open_memory(embedder=HashEmbedder())
    report = memory.doctor(fix=True)
    assert "newer version of Memlane" in said(report, "index")
    assert "memlane index --force" in said(report, "index")
    assert memory.sync(force=True).indexed == 40
    assert memory.search("topic3").hits[0].path == "memory/3.md"
    assert len(list(indexed.parent.glob(f"{indexed.name}.corrupt-*"))) == 1


def test_another_programs_database_is_named_and_left_alone(
    write: Write, open_memory: Open, tmp_path: Path
) -> None:
    write("memory/a.md", "tea\n")
    foreign = tmp_path / "state/memory/main.sqlite"
    foreign.parent.mkdir(parents=True)
    ruin(foreign, "CREATE TABLE theirs (x)")
    before = foreign.read_bytes()
    memory = open_memory()
    memory.sync()
    report = memory.doctor(fix=True)
    assert "another program's" in said(report, "index")
    assert "1 files, 1 chunks" in said(report, "index")
    assert foreign.read_bytes() == before


def test_a_damaged_cache_keeps_what_can_be_read(indexed: Path, open_memory: Open) -> None:
    cache = indexed.with_name("main.embeddings.sqlite")
    ruin(cache, "PRAGMA wal_checkpoint(TRUNCATE)")
    with apsw.Connection(str(cache)) as connection:
        leaf = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'least_recently_used'").get
    connection.close()
    with cache.open("r+b") as file:
        file.seek((leaf - 1) * 32_768)
        file.write(b"\0" * 32_768)
    memory = open_memory(embedder=HashEmbedder())
    assert worst(memory.doctor(), "cache") == "broken"
    report = memory.doctor(fix=True)
    assert "40 embeddings of the damaged one" in "".join(report.mended)
    assert "40 embeddings" in said(report, "cache")
    assert worst(report, "cache") == "fine"


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_files_that_others_can_read_are_closed(indexed: Path, open_memory: Open) -> None:
    indexed.chmod(0o644)
    indexed.parent.chmod(0o755)
    memory = open_memory(embedder=HashEmbedder())
    report = memory.doctor()
    assert f"{indexed} can be read or changed by others (mode 0644)" in said(report, "storage")
    assert memory.doctor(fix=True).broken == ()
    assert stat.S_IMODE(indexed.stat().st_mode) == 0o600
    assert stat.S_IMODE(indexed.parent.stat().st_mode) == 0o700


def test_notes_that_cannot_be_indexed_are_named_and_never_touched(
    notes: Path, write: Write, open_memory: Open
) -> None:
    write("memory/good.md", "tea\n")
    (notes / "memory/bad.md").write_bytes(b"caf\xe9\n")
    (notes / "memory/link.md").symlink_to(notes / "memory/good.md")
    report = open_memory(extraPaths=["/nowhere/notes"]).doctor(fix=True)
    assert "memory/bad.md: invalid UTF-8 at byte 3 → save the file as UTF-8" in said(report, "workspace")
    assert "memory/link.md is a symbolic link" in said(report, "workspace")
    assert "/nowhere/notes is not there" in said(report, "workspace")
    assert (notes / "memory/bad.md").read_bytes() == b"caf\xe9\n"


def test_a_missing_workspace_stops_no_other_check(tmp_path: Path) -> None:
    with Memory.open(workspace=tmp_path / "nowhere", state_dir=tmp_path / "state", environ={}) as memory:
        report = memory.doctor()
    assert "memlane init" in said(report, "workspace")
    assert worst(report, "storage") == "fine"
    assert not (tmp_path / "state").exists()


class Silent(HashEmbedder):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.gone = threading.Event()

    def embed_query(self, text: str) -> Vector | NoVector:
        self.gone.wait(60)
        raise ConnectionError("gone")


def test_a_provider_that_never_answers_is_given_up(
    write: Write, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memlane.doctor import Subject, examine

    write("memory/a.md", "tea\n")
    embedder = Silent()
    memory = open_memory(embedder=embedder)
    subject = Subject(
        memory.settings, memory.workspace, memory._choose_provider, memory.sync, memory.clock, seconds=0.3
    )
    try:
        assert "took longer than" in said(examine(subject), "provider")
    finally:
        embedder.gone.set()


def test_a_provider_that_cannot_be_used_is_broken(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    assert worst(open_memory(provider="openai").doctor(), "provider") == "broken"
    assert worst(open_memory(provider="none").doctor(), "provider") == "advice"


def test_unknown_keys_and_a_disabled_search_are_advice(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    report = open_memory(enabled=False, querry={}).doctor()
    assert "querry" in said(report, "configuration")
    assert "memory search is disabled" in said(report, "configuration")
    assert report.broken == ()
    assert found(report, "index") == []


def test_another_writer_is_named(indexed: Path, open_memory: Open) -> None:
    with filelock.FileLock(f"{indexed}.lock"):
        assert "another process is writing" in said(open_memory(embedder=HashEmbedder()).doctor(), "writers")
    assert worst(open_memory(embedder=HashEmbedder()).doctor(), "writers") == "fine"


def test_a_clock_that_was_set_back_is_noticed(
    indexed: Path, write: Write, notes: Path, tmp_path: Path
) -> None:
    early = FixedClock(datetime(2001, 1, 1, tzinfo=UTC))
    future = write("memory/future.md", "tea\n")
    later = (datetime.now(UTC) + timedelta(days=400)).timestamp()
    os.utime(future, (later, later))
    with Memory.open(
        state_dir=tmp_path / "state", environ={}, clock=early, embedder=HashEmbedder()
    ) as memory:
        report = memory.doctor()
    assert "the clock says 2001-01-01" in said(report, "time")
    assert "still to come" in said(report, "time")
    assert "changed later than now" in said(report, "time")


def test_too_few_watches_are_advice(write: Write, open_memory: Open, tmp_path: Path) -> None:
    from memlane.doctor import Subject

    for number in range(30):
        write(f"memory/{number}/a.md", "tea\n")
    memory = open_memory()
    subject = Subject(memory.settings, memory.workspace, memory._choose_provider, memory.sync, memory.clock)
    limits = tmp_path / "inotify"
    limits.mkdir()
    (limits / "max_user_watches").write_text("20\n")
    (finding,) = check_watching(subject, limits)
    assert finding.severity == "advice"
    assert "32 folders to watch, 20 watches" in finding.message
    (limits / "max_user_watches").write_text("20000\n")
    (finding,) = check_watching(subject, limits)
    assert finding.severity == "fine"


def test_the_asyncio_twin_examines_too(write: Write, notes: Path, tmp_path: Path) -> None:
    write("memory/a.md", "tea\n")

    async def work() -> DoctorReport:
        async with AsyncMemory.open(workspace=notes, state_dir=tmp_path / "state", environ={}) as memory:
            return await memory.doctor(fix=True)

    assert asyncio.run(work()).broken == ()
