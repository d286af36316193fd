"""The zero of a model's scale, where nobody knows it: measured on what is stored."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memlane import Memory
from memlane.embed.base import Input, NoVector, Vector, pack, unpack
from memlane.index.unrelated import unrelated_cosine
from memlane.testing import HashEmbedder

_SHARE = 0.75


class Crowded(HashEmbedder):
    """A model whose vectors all point about the same way: unrelated texts have a cosine of 0.75."""

    unrelated_cosine: float | None = None  # type: ignore[assignment]

    def embed_query(self, text: str) -> Vector | NoVector:
        return crowded(super().embed_query(text))

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        return [crowded(vector) for vector in super().embed_documents(inputs)]


def crowded(vector: Vector | NoVector) -> Vector | NoVector:
    if isinstance(vector, NoVector):
        return vector
    values = unpack(vector)
    length = math.hypot(*values)
    return pack([math.sqrt(_SHARE), *(math.sqrt(1 - _SHARE) * value / length for value in values)])


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "state").mkdir()
    for number in range(20):
        (tmp_path / f"notes/memory/{number}.md").write_text(f"word{number} other{number} third{number}\n")
    opened = Memory.open(
        workspace=tmp_path / "notes",
        state_dir=tmp_path / "state",
        environ={},
        embedder=Crowded(dimensions=512),
        memory_search={"query": {"hybrid": {"enabled": False}}},
    )
    yield opened
    opened.close()


def test_it_is_the_lower_quartile_of_all_pairs() -> None:
    vectors = [pack([1.0, 0.0]), pack([0.0, 1.0]), pack([1.0, 0.0]), pack([math.sqrt(0.5), math.sqrt(0.5)])]
    assert unrelated_cosine(vectors) == 0.0  # the cosines are 0, 0, 0.71, 0.71, 0.71, 1
    assert unrelated_cosine([pack([1.0, 0.0])] * 3) == 1.0
    assert unrelated_cosine([pack([1.0, 0.0]), pack([-1.0, 0.0])]) == 0.0  # never below


def test_a_query_that_nothing_answers_finds_nothing_although_every_cosine_is_high(memory: Memory) -> None:
    memory.sync()
    assert memory.search("word7 other7 third7").hits[0].path == "memory/7.md"
    nothing = memory.search("entirely different matter")
    assert not nothing
    assert nothing.why is not None


def test_it_is_measured_again_when_the_index_has_doubled(memory: Memory, tmp_path: Path) -> None:
    store = memory._backend._file.store()  # type: ignore[attr-defined]
    memory.sync()
    first = store.note("unrelated_cosine")
    assert f'"cosine": {_SHARE}' in first
    (tmp_path / "notes/memory/more.md").write_text("one more\n")
    memory.sync()
    assert store.note("unrelated_cosine") == first
    for number in range(30, 60):
        (tmp_path / f"notes/memory/{number}.md").write_text(f"word{number} other{number}\n")
    memory.sync()
    assert store.note("unrelated_cosine") != first
