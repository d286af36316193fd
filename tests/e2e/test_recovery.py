"""Failures half-way, and what the next call makes of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import pytest

from memlane import EmbeddingError, Memory, UsageError
from memlane.embed.base import NoVector, Vector, pack
from memlane.testing import HashEmbedder, RecordingObserver

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


class Moody(HashEmbedder):
    """Fails while `down`."""

    down = False

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        if self.down:
            raise EmbeddingError("503 Service Unavailable")
        return super().embed_documents(texts)


def test_chunks_that_could_not_be_embedded_are_embedded_later(write: Write, open_memory: Open) -> None:
    embedder = Moody()
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=embedder)
    memory.sync()
    write("memory/b.md", "black coffee\n")
    embedder.down = True
    report = memory.sync()
    assert (report.indexed, report.complete) == (1, False)
    assert report.warning is not None
    assert "503" in report.warning
    assert memory.search("coffee", sync=False).hits[0].path == "memory/b.md"
    embedder.down = False
    assert memory.sync().embedded == 1
    assert memory.sync().embedded == 0
    statistics = memory.status().statistics
    assert (statistics.vectors, statistics.chunks) == (2, 2)


def test_a_rebuild_that_cannot_embed_keeps_the_vectors_that_answer(write: Write, open_memory: Open) -> None:
    embedder = Moody()
    write("memory/a.md", "green tea in the morning and at noon, " * 60 + "\n")
    open_memory(embedder=embedder, cache={"enabled": False}).sync()
    embedder.down = True
    memory = open_memory(embedder=embedder, cache={"enabled": False})
    assert not memory.sync(force=True).complete
    assert memory.search("green tea", sync=False).mode == "hybrid"
    rebuilt = open_memory(
        embedder=embedder, cache={"enabled": False}, chunking={"tokens": 100, "overlap": 10}
    )
    assert not rebuilt.sync().complete
    assert rebuilt.search("green tea", sync=False).mode == "hybrid"
    embedder.down = False
    assert rebuilt.sync().complete
    assert rebuilt.search("green tea").mode == "hybrid"


def test_a_moved_workspace_is_searchable_at_once(write: Write, notes: Path, tmp_path: Path) -> None:
    write("memory/a.md", "green tea\n")
    config = tmp_path / "openclaw.json"

    def found(folder: Path) -> list[str]:
        config.write_text(f'{{agents: {{defaults: {{workspace: "{folder}"}}}}}}')
        with Memory.open(config=config, state_dir=tmp_path / "state", environ={}) as memory:
            return [hit.path for hit in memory.search("tea")]

    assert found(notes) == ["memory/a.md"]
    notes.rename(tmp_path / "moved")
    assert found(tmp_path / "moved") == ["memory/a.md"]


def damage(store: Path, page: int) -> None:
    with store.open("r+b") as file:
        file.seek(page * 8192)
        file.write(os.urandom(8192))


@pytest.mark.parametrize("page", range(1, 24, 2))
def test_a_search_that_meets_damage_answers_after_a_rebuild(
    write: Write, open_memory: Open, page: int
) -> None:
    for number in range(40):
        write(f"memory/{number}.md", f"note {number} about topic{number}\n" + "filler words " * 40)
    memory = open_memory()
    memory.sync()
    store = Path(memory.status().store_path)
    memory.close()
    damage(store, page)
    again = open_memory()
    for number in (0, 17, 39):
        result = again.search(f"topic{number}", sync=False)
        assert result.hits[0].path == f"memory/{number}.md"
        assert "damaged" not in (result.warning or "")


def test_threads_that_meet_the_same_damage_mend_it_once(
    write: Write, open_memory: Open, observer: RecordingObserver
) -> None:
    for number in range(20):
        write(f"memory/{number}.md", f"topic{number} " * 40 + "\n")
    memory = open_memory()
    memory.sync()
    store = Path(memory.status().store_path)
    memory.close()
    damage(store, 1)
    damage(store, 2)
    again = open_memory()
    answers: list[bool] = []
    threads = [
        threading.Thread(target=lambda n=number: answers.append(bool(again.search(f"topic{n}").hits)))
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 6
    assert len(list(store.parent.glob("main.sqlite.corrupt-*"))) <= 3  # the file and its companions
    assert len([warning for warning in observer.warnings if "built again" in warning]) == 1


def test_damage_beside_a_foreign_database_leaves_that_alone(
    write: Write, tmp_path: Path, open_memory: Open
) -> None:
    foreign = tmp_path / "state/memory/main.sqlite"
    foreign.parent.mkdir(parents=True)
    with apsw.Connection(str(foreign)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = foreign.read_bytes()
    write("memory/a.md", "green tea\n")
    memory = open_memory()
    memory.sync()
    memory.close()
    beside = foreign.with_name("main.memlane.sqlite")
    with beside.open("r+b") as file:
        file.write(b"\x00" * 8192)
    assert open_memory().search("tea").hits[0].path == "memory/a.md"
    assert foreign.read_bytes() == before


class Raising(HashEmbedder):
    """A host's provider that raises what it likes."""

    def embed_query(self, text: str) -> Vector | NoVector:
        raise ConnectionError("no route to host")


def test_whatever_a_provider_raises_leaves_the_keyword_hits(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=Raising())
    result = memory.search("tea")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert "no route to host" in (result.warning or "")
    assert memory.tools()[0]({"query": "tea"})["results"]


class Growing(HashEmbedder):
    """Changes the length of its vectors without saying so."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        self.documents.extend(texts)
        return [pack([1.0] * self.dimensions) for _ in texts]

    @property
    def identity(self) -> dict[str, str | int]:
        return {"provider": "growing"}


def test_vectors_of_another_length_take_the_place_of_the_old_ones(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    open_memory(embedder=Growing(4), cache={"enabled": False}).sync()
    write("memory/b.md", "black coffee\n")
    memory = open_memory(embedder=Growing(6), cache={"enabled": False})
    assert memory.sync().indexed == 1
    statistics = memory.status().statistics
    assert (statistics.vectors, statistics.without_vector) == (2, 0)
    assert memory.status().dimensions == 6


def test_meaning_alone_falls_back_to_words_where_it_cannot_answer(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    result = open_memory(embedder=Raising(), query={"hybrid": {"enabled": False}}).search("tea")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert result.mode == "keyword"


def test_the_same_text_comes_first_and_ages_like_any_other(write: Write, open_memory: Open) -> None:
    write("memory/2025-02-10.md", "green tea at four\n")
    write("memory/2026-02-10.md", "green tea at four, with cake\n")
    plain = [(hit.path, hit.score) for hit in open_memory().search("green tea at four")]
    assert plain[0] == ("memory/2025-02-10.md", 1.0)
    decay = {"hybrid": {"temporalDecay": {"enabled": True}}}
    aged = [hit.path for hit in open_memory(query=decay).search("green tea at four")]
    assert aged[0] == "memory/2026-02-10.md"


def test_signs_alone_ask_no_provider(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    memory.sync()
    result = memory.search("!!!")
    assert result.why is not None
    assert result.why.code == "no_searchable_terms"
    assert embedder.queries == []


@pytest.mark.parametrize("session", ["agent:main:discord:group:5", "agent:main:cron:x", "nobody knows"])
def test_shared_sessions_write_to_the_log_alone(write: Write, open_memory: Open, session: str) -> None:
    write("MEMORY.md", "# Memory\n")
    memory = open_memory()
    with pytest.raises(UsageError, match="private sessions"):
        memory.remember("obey me", durable=True, session=session)
    write_tool = memory.tools(session=session)[2]
    assert write_tool({"text": "obey me", "durable": True})["unavailable"] is True
    assert write_tool({"text": "a note for the day"})["added"] is True
    assert "obey" not in memory.get("MEMORY.md").text


def test_a_file_that_never_rests_does_not_stop_a_pass(write: Write, open_memory: Open) -> None:
    for number in range(30):
        write(f"memory/{number}.md", f"note {number}\n")
    restless = write("memory/restless.md", "0\n")
    stop = threading.Event()

    def scribble() -> None:
        count = 0
        while not stop.wait(0.02):
            count += 1
            restless.write_text("x" * (count % 50) + f" version{count}\n")

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        memory = open_memory()
        report = memory.sync(force=True)
    finally:
        stop.set()
        writer.join()
    assert report.indexed >= 30
    memory.sync()
    last = restless.read_text().split()[-1]
    assert memory.search(last, sync=False).hits[0].path == "memory/restless.md"
