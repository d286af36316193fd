"""A server that begins to answer vectors of another length under the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.flights import Remote

from memlane import Memory
from memlane.embed.base import NoVector, Vector
from memlane.testing import HashEmbedder

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


class Server(Remote):
    """Says nothing of the length of its vectors."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        return {"provider": self.id, "model": self.model}


@pytest.fixture
def server() -> Server:
    return Server(4)


def fill(write: Write, count: int) -> None:
    for number in range(count):
        write(f"memory/n{number}.md", f"note n{number} on tea\n")


@pytest.mark.parametrize("same_process", [True, False])
def test_search_says_so_and_the_next_pass_makes_them_anew(
    write: Write, open_memory: Open, server: Server, same_process: bool
) -> None:
    fill(write, 5)
    memory = open_memory(embedder=server)
    memory.sync()
    server.dimensions = 6
    memory = memory if same_process else open_memory(embedder=server)
    result = memory.search("n3 tea")
    assert (result.mode, result.hits[0].path) == ("keyword", "memory/n3.md")
    assert result.warning == (
        "remote (words) answers 6 dimensions, the index has 4; memlane index makes new vectors"
    )
    asked = len(server.documents)
    report = memory.sync()
    assert (report.complete, report.embedded, report.from_cache) == (True, 5, 0)
    assert len(server.documents) == asked + 5
    result = memory.search("n3 tea")
    assert (result.mode, result.warning) == ("hybrid", None)
    status = memory.status()
    assert (status.dimensions, status.statistics.vectors, status.statistics.without_vector) == (6, 5, 0)
    assert memory.sync().embedded == 0
    # A rebuild takes the new ones from the cache, and none of the old.
    assert memory.sync(force=True).from_cache == 5


def test_a_pass_that_meets_it_first_makes_all_anew(write: Write, open_memory: Open, server: Server) -> None:
    fill(write, 40)
    open_memory(embedder=server).sync()
    server.dimensions = 6
    write("memory/new.md", "a new note on rooibos\n")
    memory = open_memory(embedder=server)
    memory.sync()
    status = memory.status()
    assert (status.dimensions, status.statistics.vectors, status.statistics.without_vector) == (6, 41, 0)
    assert memory.search("rooibos", sync=False).mode == "hybrid"


def test_one_odd_vector_changes_nothing(write: Write, open_memory: Open, server: Server) -> None:
    fill(write, 5)
    memory = open_memory(embedder=server)
    memory.sync()
    write("memory/odd.md", "odd\n")
    embed = server.embed_documents
    server.embed_documents = lambda inputs: HashEmbedder(6).embed_documents(inputs)  # type: ignore[method-assign]
    assert memory.sync().without_vector == 1
    server.embed_documents = embed  # type: ignore[method-assign]
    status = memory.status()
    assert (status.dimensions, status.statistics.vectors, status.statistics.without_vector) == (4, 5, 1)
    assert memory.search("odd").hits[0].path == "memory/odd.md"
    assert len(server.documents) == 5


def test_an_odd_answer_to_a_query_is_forgotten(write: Write, open_memory: Open, server: Server) -> None:
    fill(write, 5)
    memory = open_memory(embedder=server)
    memory.sync()
    embed = server.embed_query

    def odd(text: str) -> Vector | NoVector:
        server.embed_query = embed  # type: ignore[method-assign]
        return HashEmbedder(6).embed_query(text)

    server.embed_query = odd  # type: ignore[method-assign]
    assert memory.search("tea").mode == "keyword"
    assert memory.sync().embedded == 0
    assert memory.search("tea").mode == "hybrid"
    assert len(server.documents) == 5


def test_another_model_with_vectors_as_long_is_another_model(write: Write, open_memory: Open) -> None:
    fill(write, 5)
    open_memory(embedder=Remote(8, model="one")).sync()
    memory = open_memory(embedder=Remote(8, model="two"))
    result = memory.search("n3 tea", sync=False)
    assert (result.mode, result.hits[0].path) == ("keyword", "memory/n3.md")
    assert "made by another model" in str(result.warning)
    memory.sync()
    assert memory.search("n3 tea").mode == "hybrid"
