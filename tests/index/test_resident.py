"""What is kept in memory must give what the file gives: the same candidates and figures in the same order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlane.embed.base import pack
from memlane.index import resident
from memlane.index.analyze import analyze
from memlane.index.identity import text_digest
from memlane.index.sqlite import SqliteStore
from memlane.index.store import IndexedChunk, RemoveFile, ReplaceFile
from memlane.values import FileEntry, Filters

WORDS = ["tea", "router", "harbour", "coffee", "きょう", "커피를", "今日は", "ZX-9001", "the", "2026-02-09"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "main.sqlite"


@pytest.fixture
def stores(path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """One that keeps nothing in memory, because it has not been asked yet, and one that does."""
    cold, warm = SqliteStore(path), SqliteStore(path)
    yield cold, warm
    cold.close()
    warm.close()


def replaced(name: str, texts: list[str]) -> ReplaceFile:
    entry = FileEntry(f"memory/{name}.md", f"/notes/{name}.md", "memory", 10, 1, 7, evergreen=True)
    chunks = tuple(
        IndexedChunk(line, line, text, "", text_digest(text), "", " ".join(analyze(text)))
        for line, text in enumerate(texts, start=1)
    )
    return ReplaceFile(entry, str(texts), chunks)


def fill(store: SqliteStore, *changes: ReplaceFile | RemoveFile, seed: int = 1) -> None:
    numbers = random.Random(seed)
    generation = store.target_generation("layout")
    store.apply(generation, changes)
    space = store.target_space(generation, "model")
    while batch := store.unembedded(space, after=0, limit=100):
        vectors = [[numbers.gauss(0, 1) for _ in range(8)] for _ in batch]
        unit = [[value / sum(one * one for one in vector) ** 0.5 for value in vector] for vector in vectors]
        store.put_vectors(space, [(one.chunk, pack(vector)) for one, vector in zip(batch, unit, strict=True)])
    store.promote(generation, store.target_space(generation, "model"))


def warmed(store: SqliteStore, terms: list[str], limit: int = 5) -> tuple[object, ...]:
    """What a store answers that has been asked often enough to keep things in memory."""
    first = answers(store, terms, limit)
    for _ in range(2):
        assert answers(store, terms, limit) == first
    assert store._resident._postings is not None
    assert store._resident._vectors is not None or not first[2]
    return first


def answers(store: SqliteStore, terms: list[str], limit: int = 5) -> tuple[object, ...]:
    query = pack([1.0, 0, 0, 0, 0, 0, 0, 0])
    words = store.keyword_candidates(terms, limit=limit, filters=Filters())
    near = store.vector_candidates(query, limit=limit, filters=Filters())
    return (
        store.term_frequencies(terms), words, near, store.cosines(query, [one.chunk for one in words])
    )  # fmt: skip


@settings(max_examples=60)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), max_size=40),
    asked=st.lists(st.sampled_from([*WORDS, "お", "커", "nowhere"]), min_size=1, max_size=5, unique=True),
    limit=st.integers(1, 30),
)
def test_memory_answers_as_the_file_does(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], asked: list[str], limit: int
) -> None:
    path = tmp_path_factory.mktemp("index") / "main.sqlite"
    cold, warm = SqliteStore(path), SqliteStore(path)
    fill(cold, replaced("a", texts))
    terms = list(
        dict.fromkeys(term for word in asked for term in (analyze(word) if len(word) > 1 else [word]))
    )
    assert warmed(warm, terms, limit) == answers(cold, terms, limit)
    cold.close()
    warm.close()


def test_what_another_process_writes_is_seen(stores: tuple[SqliteStore, SqliteStore]) -> None:
    cold, warm = stores
    fill(cold, replaced("a", ["green tea", "black coffee"]))
    assert len(warmed(warm, ["tea"])[1]) == 1  # type: ignore[arg-type]
    fill(cold, replaced("b", ["tea with milk", "tea without"]), seed=2)
    assert warmed(warm, ["tea"]) == answers(SqliteStore(cold.path), ["tea"])
    assert len(warmed(warm, ["tea"])[1]) == 3  # type: ignore[arg-type]
    fill(cold, RemoveFile("memory/a.md", "memory"))
    assert [len(part) for part in warmed(warm, ["tea"])[1:3]] == [2, 2]  # type: ignore[arg-type]


def test_what_is_written_by_itself_is_seen(stores: tuple[SqliteStore, SqliteStore]) -> None:
    _, warm = stores
    fill(warm, replaced("a", ["green tea"]))
    for _ in range(2):
        assert warm.term_frequencies(["tea"]) == ([1], 1)
    fill(warm, replaced("b", ["tea again"]), seed=3)
    assert warm.term_frequencies(["tea"]) == ([2], 2)


def test_filters_ask_the_file(stores: tuple[SqliteStore, SqliteStore]) -> None:
    cold, warm = stores
    fill(cold, replaced("a", ["green tea"]), replaced("b", ["black tea"]))
    only = Filters(path="memory/b.md")
    assert len(warm.keyword_candidates(["tea"], limit=5, filters=only)) == 1
    assert len(warm.vector_candidates(pack([1.0] + [0.0] * 7), limit=5, filters=only)) == 1


def test_vectors_too_many_for_memory_stay_in_the_file(
    stores: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    cold, warm = stores
    fill(cold, replaced("a", ["green tea", "black coffee"]))
    monkeypatch.setattr(resident, "_MOST_BYTES", 40)
    assert warmed(warm, ["tea"]) == answers(cold, ["tea"])


def test_the_postings_longest_unused_go_first(
    stores: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    cold, warm = stores
    fill(cold, replaced("a", [f"tea number{count}" for count in range(30)]))
    monkeypatch.setattr(resident, "_MOST_POSTINGS", 20)
    for terms in (["tea"], ["number3"], ["tea", "number5"], ["number3"]):
        assert warmed(warm, terms) == answers(cold, terms)


def test_while_the_file_changes_nothing_is_read_into_memory(stores: tuple[SqliteStore, SqliteStore]) -> None:
    cold, warm = stores
    for number in range(4):
        fill(cold, replaced(f"n{number}", [f"tea {number}"]), seed=number)
        assert len(answers(warm, ["tea"])[1]) == number + 1  # type: ignore[arg-type]
    assert warm._resident._postings is warm._resident._vectors is None


def test_many_equal_vectors_are_cut_off_alike(stores: tuple[SqliteStore, SqliteStore]) -> None:
    cold, warm = stores
    generation = cold.target_generation("layout")
    cold.apply(generation, [replaced("a", [f"tea {number}" for number in range(300)])])
    space = cold.target_space(generation, "model")
    same, other = pack([1.0, 0.0]), pack([0.6, 0.8])
    batch = cold.unembedded(space, after=0, limit=300)
    cold.put_vectors(space, [(one.chunk, same if one.chunk % 3 else other) for one in batch])
    cold.promote(generation, space)
    for store in (warm, warm, warm):
        store.vector_candidates(same, limit=50, filters=Filters())
    assert warm._resident._vectors is not None
    expected = cold.vector_candidates(same, limit=50, filters=Filters())
    assert warm.vector_candidates(same, limit=50, filters=Filters()) == expected
    assert [one.chunk for one in expected] == sorted(one.chunk for one in expected)


def test_an_index_of_the_older_format_goes_on_answering(path: Path) -> None:
    store = SqliteStore(path)
    fill(store, replaced("a", ["green tea", "black coffee"]))
    expected = answers(store, ["tea"])
    store.close()
    connection = apsw.Connection(str(path))
    connection.execute(
        "DROP TABLE terms_1_places; ALTER TABLE chunks DROP COLUMN pieces; PRAGMA user_version = 1;"
        "ALTER TABLE chunks DROP COLUMN first_at; ALTER TABLE chunks DROP COLUMN last_at;"
        "ALTER TABLE files DROP COLUMN media; ALTER TABLE files DROP COLUMN offset;"
        " ALTER TABLE files DROP COLUMN lines"
    )
    connection.close()
    older = SqliteStore(path)
    assert warmed(older, ["tea"]) == expected
    assert older.pieces([1, 2]) == {1: b"", 2: b""}
    older.close()


def test_a_generation_that_an_older_version_made_is_asked_in_the_file(path: Path) -> None:
    store = SqliteStore(path)
    fill(store, replaced("a", ["green tea", "black coffee"]))
    expected = answers(store, ["tea"])
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE terms_1_places")
    connection.close()
    for _ in range(3):
        assert answers(store, ["tea"]) == expected
    assert store._resident._postings is None
    store.close()
