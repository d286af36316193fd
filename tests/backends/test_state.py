"""What a status tells, and that no part of it is waited for too long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memlane import Memory
from memlane.backends import builtin
from memlane.embed.base import NoVector, Vector
from memlane.surfaces.render import status_text
from memlane.testing import HashEmbedder

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


def test_it_tells_what_is_indexed_from_where_and_how_fresh(
    write: Write, tmp_path: Path, open_memory: Open
) -> None:
    write("memory/a.md", "green tea\n")
    write("memory/b.md", "black coffee\n")
    memory = open_memory(embedder=HashEmbedder(), extraPaths=[str(tmp_path / "more")])
    before = memory.status()
    assert (before.dirty, before.pending, before.complete, before.last_sync) == (True, 2, False, None)
    memory.sync()
    status = memory.status(deep=True)
    assert (status.dirty, status.pending, status.complete) == (False, 0, True)
    assert (status.notes, status.note_bytes, status.seconds_since_sync) == (2, 23, 0)
    assert status.extra_paths == status.missing_roots == (str(tmp_path / "more"),)
    assert status.cache_entries == 2
    assert status.warnings == ()
    text = status_text(status)
    assert "notes (2 notes, 23 B)" in text
    assert "Files         2 memory" in text
    assert "(just now)" in text
    assert "Up to date    yes" in text
    assert "not there yet: " in text


def test_vectors_that_are_missing_are_not_up_to_date(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    memory.close()
    other = open_memory(embedder=HashEmbedder(model="others"))
    status = other.status()
    assert (status.dirty, status.pending) == (True, 0)
    assert "vectors are missing" in status_text(status)
    other.sync()
    assert not other.status().dirty


class Slow(HashEmbedder):
    """Answers no query until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def embed_query(self, text: str) -> Vector | NoVector:
        self.go.wait(60)
        return super().embed_query(text)


def test_a_part_that_takes_too_long_is_left_out(
    write: Write, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("memory/a.md", "green tea\n")
    embedder = Slow()
    memory = open_memory(embedder=embedder)
    memory.sync()
    monkeypatch.setattr(builtin, "_PROBE_SECONDS", 0.5)
    try:
        status = memory.status(deep=True)
    finally:
        embedder.go.set()
    assert status.statistics.files == 1
    assert [warning for warning in status.warnings if "asking hash for a vector took longer" in warning]


def test_a_damaged_cache_is_mended_and_a_foreign_one_is_a_warning(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    memory.close()
    cache = memory.settings.store_path.with_name("main.embeddings.sqlite")
    cache.write_bytes(b"no database at all" * 100)
    assert open_memory(embedder=HashEmbedder()).status().warnings == ()
    with apsw.Connection(str(cache)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    (warning,) = open_memory(embedder=HashEmbedder()).status().warnings
    assert "not an embedding cache of this version" in warning


def test_counts_that_do_not_agree_are_a_warning(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    with apsw.Connection(str(memory.settings.store_path)) as connection:
        connection.execute("DELETE FROM vectors_1")
    connection.close()
    assert "memlane doctor" in memory.status().warnings[0]
