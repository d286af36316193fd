from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memlane.embed.base import pack
from memlane.embed.sqlite_cache import SqliteCache
from memlane.errors import StoreBusy, StoreError

SPACE = {"provider": "hash", "model": "words", "dimensions": 2}
OTHER = {"provider": "hash", "model": "others", "dimensions": 2}
ONE, TWO = pack([1.0, 0.0]), pack([0.0, 1.0])


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SqliteCache]:
    opened = SqliteCache(tmp_path / "deep" / "main.embeddings.sqlite", max_entries=3, max_bytes=10**9)
    yield opened
    opened.close()


def test_what_was_put_is_got_and_nothing_else(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE), (b"b", TWO)])
    assert cache.get(SPACE, [b"a", b"b", b"c"]) == {b"a": ONE, b"b": TWO}
    assert cache.get(OTHER, [b"a"]) == {}


def test_asking_creates_no_file(cache: SqliteCache) -> None:
    assert cache.get(SPACE, [b"a"]) == {}
    assert cache.size() == (0, 0)
    assert not cache.path.exists()


def test_the_size_of_a_file_that_was_taken_away_is_refused_by_name(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE)])
    cache.path.unlink()
    with pytest.raises(StoreError, match=r"cannot read the embedding cache .*main\.embeddings\.sqlite"):
        cache.size()


def test_it_is_private(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE)])
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.path.parent.stat().st_mode) == 0o700


def test_the_least_recently_used_go_first(cache: SqliteCache) -> None:
    for key in (b"a", b"b", b"c"):
        cache.put(SPACE, [(key, ONE)])
    cache.get(SPACE, [b"a"])
    cache.put(SPACE, [(b"d", TWO)])
    cache.trim(set)
    assert set(cache.get(SPACE, [b"a", b"b", b"c", b"d"])) == {b"a", b"c", b"d"}


def test_texts_that_are_no_longer_in_use_go_before_the_least_recently_used(cache: SqliteCache) -> None:
    for key in (b"a", b"b", b"c", b"d", b"e"):
        cache.put(SPACE, [(key, ONE)])
    cache.trim(lambda: {b"a", b"b", b"d"})
    assert set(cache.get(SPACE, [b"a", b"b", b"c", b"d", b"e"])) == {b"a", b"b", b"d"}
    cache.put(OTHER, [(b"a", ONE)])
    cache.trim(lambda: {b"a", b"b", b"d"})
    # What another model made of a text in use is in use: going back to it costs nothing.
    assert (set(cache.get(SPACE, [b"a", b"b", b"d"])), set(cache.get(OTHER, [b"a"]))) == (
        {b"b", b"d"},
        {b"a"},
    )


def test_nobody_is_asked_what_is_in_use_while_all_fits(cache: SqliteCache) -> None:
    def fail() -> set[bytes]:
        raise AssertionError("asked")

    cache.put(SPACE, [(b"a", ONE)])
    cache.trim(fail)


def test_the_bytes_are_limited_too_and_the_file_becomes_smaller(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "large.sqlite", max_entries=20_000, max_bytes=2_000_000)
    vector = pack([0.5] * 1536)
    keys = [index.to_bytes(16, "big") for index in range(1000)]
    for start in range(0, 1000, 100):
        cache.put(SPACE, [(key, vector) for key in keys[start : start + 100]])
    cache.trim(set)
    entries, size = cache.size()
    assert 270 < entries < 310
    assert set(cache.get(SPACE, keys)) == set(keys[-entries:])
    assert size < 2_500_000
    cache.trim(set)
    assert cache.size()[0] == entries
    cache.close()


def test_a_look_is_no_use(cache: SqliteCache) -> None:
    for key in (b"a", b"b", b"c"):
        cache.put(SPACE, [(key, ONE)])
    assert cache.known(SPACE, [b"a", b"x"]) == {b"a"}
    assert cache.known(OTHER, [b"a"]) == set()
    cache.put(SPACE, [(b"d", ONE)])
    cache.trim(set)
    assert cache.known(SPACE, [b"a", b"b", b"c", b"d"]) == {b"b", b"c", b"d"}


def test_vectors_of_another_length_are_forgotten(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE), (b"b", pack([1.0, 0.0, 0.0]))])
    cache.put(OTHER, [(b"a", ONE)])
    cache.forget_others(SPACE, 3)
    assert set(cache.get(SPACE, [b"a", b"b"])) == {b"b"}
    assert set(cache.get(OTHER, [b"a"])) == {b"a"}
    assert cache.size()[0] == 2


def test_it_survives_closing(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE)])
    cache.close()
    assert SqliteCache(cache.path, max_entries=3, max_bytes=10**9).get(SPACE, [b"a"]) == {b"a": ONE}


@pytest.mark.parametrize("damage", [b"\x00" * 4096, b"not a database at all" * 300])
def test_a_damaged_file_is_set_aside_and_filled_again(cache: SqliteCache, damage: bytes) -> None:
    cache.put(SPACE, [(b"a", ONE)])
    cache.close()
    cache.path.write_bytes(damage)
    assert cache.get(SPACE, [b"a"]) == {}
    cache.put(SPACE, [(b"a", ONE)])
    assert cache.get(SPACE, [b"a"]) == {b"a": ONE}
    assert [
        file.read_bytes() for file in cache.path.parent.glob("*.corrupt-*") if file.stat().st_size > 100
    ] == [damage]


def test_ten_thousand_large_vectors_stay_under_seventy_megabytes(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "large.sqlite", max_entries=20_000, max_bytes=10**9)
    vector = pack([0.5] * 1536)
    cache.put(SPACE, ((index.to_bytes(16, "big"), vector) for index in range(10_000)))
    cache.close()
    assert cache.path.stat().st_size < 70_000_000


def test_a_vector_that_changed_on_disk_is_not_given(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE), (b"b", TWO)])
    cache.close()
    with apsw.Connection(str(cache.path)) as connection:
        connection.execute("UPDATE embeddings SET vector = ? WHERE digest = ?", (pack([-1.0, 0.0]), b"a"))
    connection.close()
    assert cache.get(SPACE, [b"a", b"b"]) == {b"b": TWO}
    cache.put(SPACE, [(b"a", ONE)])
    assert cache.get(SPACE, [b"a"]) == {b"a": ONE}


def test_a_cache_of_the_first_version_is_taken_over(cache: SqliteCache) -> None:
    cache.put(SPACE, [(b"a", ONE)])
    cache.close()
    with apsw.Connection(str(cache.path)) as connection:
        connection.execute("ALTER TABLE embeddings DROP COLUMN sum; PRAGMA user_version = 1")
    connection.close()
    assert cache.get(SPACE, [b"a"]) == {b"a": ONE}
    cache.put(SPACE, [(b"b", TWO)])
    assert cache.get(SPACE, [b"a", b"b"]) == {b"a": ONE, b"b": TWO}


def test_what_can_be_read_of_a_damaged_file_is_taken_over(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "main.embeddings.sqlite", max_entries=10_000, max_bytes=10**9)
    vectors = {number.to_bytes(16, "big"): pack([1.0, *[0.0] * 383]) for number in range(1000)}
    cache.put(SPACE, vectors.items())
    cache.close()
    with cache.path.open("r+b") as file:
        file.seek(20 * 32_768)
        file.write(b"\x00" * 32_768)
    known = cache.get(SPACE, list(vectors))
    assert 900 < len(known) < 1000
    assert all(vectors[digest] == vector for digest, vector in known.items())
    assert cache.size()[0] == len(known)
    assert len(list(tmp_path.glob("*.corrupt-*"))) == 1


def test_another_programs_file_is_left_alone(cache: SqliteCache) -> None:
    cache.path.parent.mkdir()
    with apsw.Connection(str(cache.path)) as connection:
        connection.execute("CREATE TABLE theirs (x); PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(StoreError, match="not an embedding cache"):
        cache.put(SPACE, [(b"a", ONE)])
    with apsw.Connection(str(cache.path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema").get == 1
    connection.close()


def test_what_another_reader_still_holds_is_not_said_to_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memlane.embed import log_file

    monkeypatch.setattr(log_file, "_PATIENCE", 0.0)
    cache = SqliteCache(tmp_path / "cache.sqlite", max_entries=10, max_bytes=10**6)
    cache.put({"model": "x"}, [(b"a" * 16, pack([1.0, 0.0]))])
    reader = apsw.Connection(str(cache.path))
    reader.execute("BEGIN; SELECT count(*) FROM embeddings").fetchall()
    connection = cache._open()
    connection.set_busy_timeout(50)
    with pytest.raises(StoreBusy, match="goes on reading"):
        cache.keep_only([])
    reader.execute("COMMIT")
    assert cache.keep_only([]) == 0
    reader.close()
    cache.close()
