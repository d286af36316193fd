from __future__ import annotations

import math
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from memlane.embed.base import NoVector, pack
from memlane.errors import StoreCorrupt, StoreError
from memlane.index.analyze import analyze, query_terms
from memlane.index.database import ForeignDatabase
from memlane.index.identity import text_digest
from memlane.index.schema import APPLICATION_ID, TABLES
from memlane.index.sqlite import SqliteStore
from memlane.index.store import FailFile, Generation, IndexedChunk, RefreshFile, RemoveFile, ReplaceFile
from memlane.values import FileEntry, Filters


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "main.sqlite"


@pytest.fixture(params=[True, False], ids=["sqlite-vec", "in-process"])
def store(path: Path, request: pytest.FixtureRequest) -> Iterator[SqliteStore]:
    opened = SqliteStore(path, vector_extension=request.param)
    yield opened
    opened.close()


def entry(path: str, *, day: date | None = None, curated: bool = False) -> FileEntry:
    return FileEntry(
        path, f"/notes/{path}", "memory", 10, 1, 7, day=day, curated=curated, evergreen=day is None
    )


def chunk(text: str, line: int = 1) -> IndexedChunk:
    return IndexedChunk(line, line, text, "", text_digest(text), "", " ".join(analyze(text)))


def put(store: SqliteStore, generation: Generation, path: str, *texts: str, **options: object) -> None:
    chunks = tuple(chunk(text, line) for line, text in enumerate(texts, start=1))
    store.apply(generation, [ReplaceFile(entry(path, **options), f"digest of {texts}", chunks)])  # type: ignore[arg-type]


def found(store: SqliteStore, query: str, **filters: object) -> list[str]:
    candidates = store.keyword_candidates(query_terms(query), limit=10, filters=Filters(**filters))  # type: ignore[arg-type]
    passages = store.passages([candidate.chunk for candidate in candidates])
    return [passages[candidate.chunk].path for candidate in candidates]


def embed(store: SqliteStore, generation: Generation, identity: str, **vectors: list[float]) -> None:
    space = store.target_space(generation, identity)
    missing = store.unembedded(space, after=0, limit=100)
    store.put_vectors(space, [(one.chunk, pack(vectors[one.text])) for one in missing])
    store.promote(generation, store.target_space(generation, identity))


def nearest(store: SqliteStore, *query: float, **filters: object) -> list[tuple[str, float]]:
    candidates = store.vector_candidates(pack(list(query)), limit=10, filters=Filters(**filters))  # type: ignore[arg-type]
    passages = store.passages([candidate.chunk for candidate in candidates])
    return [(passages[one.chunk].text, round(one.cosine, 3)) for one in candidates]


def test_a_fresh_store_answers_nothing(store: SqliteStore) -> None:
    assert store.current_generation() is None
    assert found(store, "tea") == []
    assert nearest(store, 1.0, 0.0) == []
    assert store.statistics().chunks == 0


def test_files_are_private(store: SqliteStore, path: Path) -> None:
    put(store, store.target_generation("one"), "a.md", "green tea")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_keyword_search_says_which_terms_matched(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "green tea and a cup")
    put(store, generation, "b.md", "green apples")
    terms = query_terms("green tea kettle")
    first, second = store.keyword_candidates(terms, limit=10, filters=Filters())
    assert (first.matched, second.matched) == ((0, 1), (0,))
    assert first.bm25 > second.bm25 > 0
    counts, total = store.term_frequencies(terms)
    assert (counts, total) == ([2, 1, 0], 2)


def test_filters_apply_inside_both_legs(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "MEMORY.md", "tea one", curated=True)
    put(store, generation, "memory/2026-01-05.md", "tea two", day=date(2026, 1, 5))
    put(store, generation, "memory/2026-02-05.md", "tea three", day=date(2026, 2, 5))
    embed(store, generation, "x", **{"tea one": [1.0, 0.0], "tea two": [0.9, 0.1], "tea three": [0.8, 0.2]})
    for filters, paths in [
        ({"since": date(2026, 2, 1)}, {"memory/2026-02-05.md"}),
        ({"until": date(2026, 1, 5)}, {"memory/2026-01-05.md"}),
        ({"path": "memory/*"}, {"memory/2026-01-05.md", "memory/2026-02-05.md"}),
        ({"curated": False}, {"memory/2026-01-05.md", "memory/2026-02-05.md"}),
        ({"source": "sessions"}, set()),
    ]:
        assert set(found(store, "tea", **filters)) == paths
        assert len(nearest(store, 1.0, 0.0, **filters)) == len(paths)


def test_replacing_a_file_leaves_nothing_of_the_old_one(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "green tea", "black coffee")
    put(store, generation, "a.md", "green tea")
    assert found(store, "coffee") == []
    assert found(store, "tea") == ["a.md"]
    assert store.statistics().chunks == 1


def test_unchanged_chunks_keep_their_vectors(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea", "coffee")
    embed(store, generation, "x", tea=[1.0, 0.0], coffee=[0.0, 1.0])
    put(store, generation, "a.md", "cocoa", "tea")
    space = store.target_space(generation, "x")
    assert [one.text for one in store.unembedded(space, after=0, limit=9)] == ["cocoa"]
    assert nearest(store, 1.0, 0.0) == [("tea", 1.0)]


def test_removed_and_failed_files_go_from_every_table(store: SqliteStore, path: Path) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    put(store, generation, "b.md", "coffee")
    embed(store, generation, "x", tea=[1.0, 0.0], coffee=[0.0, 1.0])
    store.apply(generation, [RemoveFile("a.md", "memory"), FailFile(entry("b.md"), "NUL at byte 1")])
    assert found(store, "tea coffee") == []
    assert nearest(store, 1.0, 1.0) == []
    statistics = store.statistics()
    assert (statistics.files, statistics.chunks, statistics.vectors) == (0, 0, 0)
    assert [(one.path, one.reason) for one in statistics.failed] == [("b.md", "NUL at byte 1")]
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as raw:
        assert raw.execute("SELECT count(*) FROM terms_1_words").get == 0


def test_a_refreshed_file_keeps_its_chunks(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    store.apply(generation, [RefreshFile(replace(entry("a.md"), mtime_ns=99), "digest of ('tea',)")])
    assert found(store, "tea") == ["a.md"]
    assert store.indexed_files(generation)["memory", "a.md"].mtime_ns == 99


def test_vectors_are_ordered_by_cosine_and_bad_ones_are_never_returned(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "east", "north-east", "north", "west", "refused")
    space = store.target_space(generation, "x")
    directions = {"east": [1.0, 0.0], "north-east": [0.6, 0.8], "north": [0.0, 1.0], "west": [-1.0, 0.0]}
    store.put_vectors(
        space,
        [
            (
                one.chunk,
                pack(directions[one.text]) if one.text in directions else NoVector("the vector is zero"),
            )
            for one in store.unembedded(space, after=0, limit=9)
        ],
    )
    assert nearest(store, 1.0, 0.0) == [("east", 1.0), ("north-east", 0.6), ("north", 0.0), ("west", -1.0)]
    assert store.statistics().without_vector == 1
    assert store.unembedded_count(space) == 0


def test_a_query_of_another_length_finds_nothing(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    embed(store, generation, "x", tea=[1.0, 0.0])
    assert nearest(store, 1.0, 0.0, 0.0) == []
    assert store.cosines(pack([1.0, 0.0, 0.0]), [1]) == {}


def test_both_engines_give_the_same_order(tmp_path: Path) -> None:
    numbers = random.Random(7)

    def direction() -> list[float]:
        values = [numbers.gauss(0, 1) for _ in range(48)]
        return [value / math.hypot(*values) for value in values]

    vectors = {f"chunk {number}": direction() for number in range(600)}
    query = pack(direction())
    answers = {}
    for extension in (True, False):
        store = SqliteStore(tmp_path / f"{extension}.sqlite", vector_extension=extension)
        generation = store.target_generation("one")
        put(store, generation, "a.md", *vectors)
        space = store.target_space(generation, "x")
        missing = store.unembedded(space, after=0, limit=1000)
        store.put_vectors(space, [(one.chunk, pack(vectors[one.text])) for one in missing])
        answers[store.vector_engine] = store.vector_candidates(query, limit=50, filters=Filters())
        store.close()
    assert answers["sqlite-vec"] == answers["in-process"]
    assert len(answers["sqlite-vec"]) == 50


# ---- generations and spaces ----------------------------------------------------------------------------


def test_a_new_layout_is_built_beside_the_one_that_answers(store: SqliteStore) -> None:
    old = store.target_generation("old")
    put(store, old, "a.md", "green tea")
    embed(store, old, "x", **{"green tea": [1.0, 0.0]})
    new = store.target_generation("new")
    put(store, new, "a.md", "tea")
    assert store.statistics().chunks == 1
    assert found(store, "green") == ["a.md"]
    assert nearest(store, 1.0, 0.0) == [("green tea", 1.0)]
    embed(store, new, "x", tea=[0.0, 1.0])
    assert found(store, "green") == []
    assert nearest(store, 0.0, 1.0) == [("tea", 1.0)]
    assert store.target_generation("new").id == new.id


def test_a_half_built_layout_is_gone_on_with_or_dropped(store: SqliteStore) -> None:
    store.promote(store.target_generation("old"), None)
    half = store.target_generation("half")
    put(store, half, "a.md", "tea")
    assert store.target_generation("half").id == half.id
    third = store.target_generation("third")
    assert third.id != half.id
    assert store.indexed_files(third) == {}
    current = store.current_generation()
    assert current is not None
    assert current.layout == "old"


def test_a_new_model_is_filled_beside_the_one_that_answers(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    embed(store, generation, "small", tea=[1.0, 0.0])
    larger = store.target_space(generation, "large")
    assert not larger.current
    assert nearest(store, 1.0, 0.0) == [("tea", 1.0)]
    embed(store, generation, "large", tea=[0.0, 0.0, 1.0])
    assert nearest(store, 0.0, 0.0, 1.0) == [("tea", 1.0)]
    assert nearest(store, 1.0, 0.0) == []
    assert found(store, "tea") == ["a.md"]


def test_vectors_of_the_same_model_are_found_again_by_text(store: SqliteStore) -> None:
    old = store.target_generation("old")
    put(store, old, "a.md", "tea")
    embed(store, old, "x", tea=[1.0, 0.0])
    new = store.target_generation("new")
    put(store, new, "a.md", "tea", "coffee")
    store.target_space(new, "x")
    assert store.known_vectors("x", [text_digest("tea"), text_digest("coffee")]) == {
        text_digest("tea"): pack([1.0, 0.0])
    }


def test_promoting_what_is_promoted_writes_nothing(store: SqliteStore, path: Path) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    embed(store, generation, "x", tea=[1.0, 0.0])
    log = Path(f"{path}-wal")
    before = log.stat().st_size
    store.promote(generation, store.target_space(generation, "x"))
    assert log.stat().st_size == before


def test_vectors_of_chunks_that_are_gone_are_passed_over(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    space = store.target_space(generation, "x")
    (missing,) = store.unembedded(space, after=0, limit=9)
    store.apply(generation, [RemoveFile("a.md", "memory")])
    store.put_vectors(space, [(missing.chunk, pack([1.0, 0.0]))])
    assert store.statistics().vectors == 0


# ---- opening ---------------------------------------------------------------------------------------------


def test_threads_have_connections_of_their_own(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    answers: list[list[str]] = []
    threads = [threading.Thread(target=lambda: answers.append(found(store, "tea"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [["a.md"]] * 4


def test_a_foreign_database_is_left_untouched(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with apsw.Connection(str(path)) as other:
        other.execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
    before = path.read_bytes()
    with pytest.raises(ForeignDatabase, match="left untouched"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "content", [b"a text file that somebody keeps here", b"SQLite format 3\x00" + b"x" * 90]
)
def test_a_file_that_is_no_database_is_left_untouched(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(ForeignDatabase):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_wiped_first_page_is_damage(path: Path) -> None:
    SqliteStore(path).close()
    with path.open("r+b") as file:
        file.write(b"\x00" * 4096)
    with pytest.raises(StoreCorrupt, match="first page is empty"):
        SqliteStore(path)


def test_a_newer_format_is_refused_with_what_to_do(path: Path) -> None:
    SqliteStore(path).close()
    with apsw.Connection(str(path)) as raw:
        raw.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer version of Memlane") as caught:
        SqliteStore(path)
    assert "upgrade" in caught.value.hint


def test_an_unfinished_pass_is_checked_at_the_next_open(path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from memlane.index.sqlite import SqliteStore;"
        "s = SqliteStore(Path(sys.argv[1])); s.put_note('x', 'y'); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    store = SqliteStore(path)
    assert store.note("x") == "y"
    assert store.note("unsettled") is None
    store.close()


def test_settled_passes_leave_no_mark(path: Path) -> None:
    store = SqliteStore(path)
    store.put_note("x", "y")
    assert store.note("unsettled") == "1"
    store.settle()
    assert store.note("unsettled") is None
    store.close()


def test_a_full_disk_is_a_clear_error_and_loses_nothing(store: SqliteStore) -> None:
    generation = store.target_generation("one")
    put(store, generation, "a.md", "tea")
    with store._database._borrowed() as connection:
        connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StoreError, match="no space left"):
        put(store, generation, "b.md", *(f"coffee {number} " * 200 for number in range(200)))
    assert found(store, "tea") == ["a.md"]
    assert store.statistics().files == 1


def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.current_generation()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        SqliteStore(tmp_path / "file" / "main.sqlite")


def test_an_index_whose_beginning_was_cut_off_by_a_kill_is_begun_again(path: Path, tmp_path: Path) -> None:
    being_made = tmp_path / "being-made.sqlite"
    connection = apsw.Connection(str(being_made))
    connection.execute(f"BEGIN IMMEDIATE; {TABLES}; PRAGMA application_id = {APPLICATION_ID}")
    connection.cache_flush()
    path.parent.mkdir()
    Path(f"{path}-journal").write_bytes(Path(f"{being_made}-journal").read_bytes())
    connection.execute("COMMIT")
    connection.close()
    path.write_bytes(being_made.read_bytes())  # all is written, and the journal takes it back
    store = SqliteStore(path)
    try:
        assert store.current_generation() is None
        assert store.target_generation("layout").id == 1
    finally:
        store.close()
