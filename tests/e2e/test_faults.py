"""Every write path with a disk that fails at any of its steps: a clear error, and nothing lost."""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import date
from pathlib import Path

import pytest

from file_faults import faulty_calls, faulty_sqlite, open_descriptors
from memlane import MemlaneError, Memory, StoreError
from memlane.disk import create_private, move_aside, writer_lock
from memlane.embed.base import pack
from memlane.embed.sqlite_cache import SqliteCache
from memlane.index.sqlite import SqliteStore
from memlane.testing import HashEmbedder
from memlane.workspace import create_workspace

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]
NUMBERS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE]
NAMES = ["ENOSPC", "EIO", "EACCES", "EMFILE"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="descriptors are POSIX's")


@pytest.mark.parametrize(("kind", "lasting"), [("full", True), ("broken", False), ("opening", False)])
def test_an_index_that_fails_at_any_write_goes_on_where_it_was(
    write: Write, open_memory: Open, tmp_path: Path, kind: str, lasting: bool
) -> None:
    for number in range(8):
        write(f"memory/{number}.md", f"# Note {number}\n\ntopic{number} " + "words " * 50 + "\n")
    embedder = HashEmbedder()
    embedder.max_batch_items = 3
    first = open_memory(embedder=embedder)
    first.sync()
    first.close()
    after = struck = 0
    while True:
        write(f"memory/{after % 8}.md", f"# Note {after % 8}\n\ntopic{after % 8} round{after}\n")
        memory = open_memory(embedder=embedder)
        with faulty_sqlite(kind, after, lasting=lasting) as fault:
            with suppress(MemlaneError):
                memory.sync(force=after % 2 == 0)
            with suppress(MemlaneError):  # what was indexed before answers, or it is said why not
                assert memory.search("topic7").hits[0].path == "memory/7.md"
            memory.close()
        again = open_memory(embedder=embedder)
        assert again.sync().complete
        status = again.status()
        assert not status.dirty
        assert (status.statistics.files, status.statistics.vectors) == (8, status.statistics.chunks)
        assert again.search(f"round{after}", sync=False).hits[0].path == f"memory/{after % 8}.md"
        again.close()
        with closing(SqliteStore(first.settings.store_path)) as store:
            assert store.defects() == []
        if not fault.struck:
            break
        struck += 1
        after += 1 if kind == "opening" else 3
    assert struck > 3
    assert list((tmp_path / "state/memory").glob("*.corrupt-*")) == []


@pytest.mark.parametrize("kind", ["full", "broken"])
def test_a_cache_that_cannot_be_written_costs_no_pass(write: Write, open_memory: Open, kind: str) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    cache = memory._backend._cache  # type: ignore[attr-defined]
    for after in range(12):
        with (
            faulty_sqlite(kind, after, lasting=True),
            closing(SqliteCache(cache.path, max_entries=9, max_bytes=10**9)) as other,
            suppress(StoreError),
        ):
            other.put({"model": "x"}, [(b"digest %d" % after, pack([1.0, 0.0]))])
    assert cache.problems() == ()
    assert len(cache.get(HashEmbedder().identity, [])) == 0
    assert memory.sync(force=True).embedded == 0


def exercise(
    monkeypatch: pytest.MonkeyPatch, number: int, work: Callable[[], object], check: Callable[[bool], None]
) -> Counter[str]:
    """Fail at the first, the second, … call until none is left to fail; `check` is told whether it failed."""
    outcome: Counter[str] = Counter()
    for after in range(200):
        before = open_descriptors()
        error: Exception | None = None
        with faulty_calls(monkeypatch, number, after) as fault:
            try:
                work()
            except Exception as caught:
                error = caught
        assert open_descriptors() == before
        assert error is None or isinstance(error, MemlaneError), repr(error)
        if error is not None:
            assert str(error).startswith("cannot ")
            assert isinstance(error, MemlaneError)
            assert error.hint
        check(error is not None)
        outcome["failed" if error else "done"] += 1
        if not fault.struck:
            return outcome
    raise AssertionError("there is no end to the calls")


@pytest.mark.parametrize("number", NUMBERS, ids=NAMES)
@pytest.mark.parametrize("durable", [False, True])
def test_remembering_keeps_the_note_whole(
    notes: Path, write: Write, open_memory: Open, monkeypatch: pytest.MonkeyPatch, number: int, durable: bool
) -> None:
    write("MEMORY.md", "# Memory\n\n## Drinks\n\n- water\n\n## Animals\n\n- a cat\n")
    memory = open_memory()
    file = notes / ("MEMORY.md" if durable else "memory/2026-02-10.md")
    memory.remember("the first", durable=durable, heading="Drinks" if durable else None)
    count = 0
    before = file.read_bytes()

    def work() -> None:
        nonlocal count
        count += 1
        memory.remember(f"entry {count}", durable=durable, heading="Drinks" if durable else None)

    def check(failed: bool) -> None:
        nonlocal before
        now = file.read_bytes()
        if failed:
            assert now == before
        else:
            assert now.count(b"- 12:00 entry %d\n" % count) + now.count(b"- entry %d\n" % count) == 1
            assert len(now) > len(before)
        before = now
        assert {path.name for path in notes.iterdir()} <= {"MEMORY.md", "memory", ".memlane.lock"}

    outcome = exercise(monkeypatch, number, work, check)
    assert outcome["failed"] > 3


@pytest.mark.parametrize("number", NUMBERS, ids=NAMES)
def test_a_new_log_is_made_whole_or_not_at_all(
    notes: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    memory = open_memory()
    log = notes / "memory/2026-02-10.md"

    def check(failed: bool) -> None:
        assert log.exists() is not failed
        if not failed:
            assert log.read_text() == "# 2026-02-10\n\n- 12:00 green tea\n"
            log.unlink()

    assert exercise(monkeypatch, number, lambda: memory.remember("green tea"), check)["failed"] > 3


@pytest.mark.parametrize("number", NUMBERS, ids=NAMES)
def test_a_workspace_is_begun_and_the_next_call_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    rounds = iter(range(1000))

    def work() -> None:
        create_workspace(tmp_path / f"new-{next(rounds)}", today=date(2026, 2, 10))

    assert exercise(monkeypatch, number, work, lambda failed: None)["failed"] > 3
    for folder in tmp_path.glob("new-*"):
        create_workspace(folder, today=date(2026, 2, 10))
        assert (folder / "MEMORY.md").read_text() == "# Memory\n\n"
        assert (folder / "memory/2026-02-10.md").read_text() == "# 2026-02-10\n\n"


@pytest.mark.parametrize("number", NUMBERS, ids=NAMES)
def test_files_of_our_own_fail_clearly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    rounds = iter(range(1000))

    def work() -> None:
        path = tmp_path / f"{next(rounds)}/deep/main.sqlite"
        create_private(path)
        with writer_lock(path, timeout=0):
            path.write_bytes(b"damaged")
            assert move_aside(path).read_bytes() == b"damaged"

    assert exercise(monkeypatch, number, work, lambda failed: None)["failed"] > 3


@pytest.mark.parametrize("number", NUMBERS, ids=NAMES)
def test_an_index_that_cannot_be_begun_says_why(
    write: Write, open_memory: Open, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory()
    with (
        faulty_calls(monkeypatch, number, 0, calls=("open",), lasting=True),
        pytest.raises(StoreError) as caught,
    ):
        memory.search("tea")
    assert os.strerror(number) in str(caught.value)
    assert caught.value.hint
    assert memory.search("tea").hits
