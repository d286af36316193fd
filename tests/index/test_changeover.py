"""A slow model whose vectors are made while a fast one answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memlane import Memory
from memlane.background import VECTORS
from memlane.config import AgentSettings
from memlane.embed import select
from memlane.embed.base import CheckedEmbedder, NoVector, Vector
from memlane.embed.select import Choice
from memlane.errors import EmbeddingError
from memlane.index.changeover import FEW
from memlane.testing import HashEmbedder, RecordingObserver
from memlane.values import Building, Pass

Write = Callable[[str, str], Path]


class Slow(HashEmbedder):
    """A model worth caching that breaks down after some batches, if told so."""

    id = "bundled"
    max_batch_items = 8

    def __init__(self) -> None:
        super().__init__(48, model="slow")
        self.batches_left = 1000

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        if not self.batches_left:
            raise EmbeddingError("the slow model broke down")
        self.batches_left -= 1
        return super().embed_documents(texts)


class Fast(HashEmbedder):
    """A model that costs nothing, whose vectors are as long as the other's."""

    id = "bundled"
    worth_caching = False

    def __init__(self) -> None:
        super().__init__(48, model="fast")


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def fast() -> Fast:
    return Fast()


@pytest.fixture
def open_both(
    slow: Slow, fast: Fast, open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Memory]:
    """Opens the memory with the slow model configured and the fast one standing in."""

    def choose(settings: AgentSettings, **_: object) -> Choice:
        provider, model = settings.memory_search.provider, settings.memory_search.model
        if provider == "none":
            return Choice(None, ())
        if model == "static":
            return Choice(CheckedEmbedder(fast), ("fast",))
        return Choice(CheckedEmbedder(slow), ("slow",), standing_in=CheckedEmbedder(fast))

    monkeypatch.setattr(select, "choose_provider", choose)
    return open_memory


def fill(write: Write, count: int, *, prefix: str = "n") -> None:
    for number in range(count):
        write(f"memory/{prefix}{number}.md", f"note {prefix}{number} on tea\n")


MANY = 3 * FEW


def test_the_fast_model_answers_until_the_other_is_complete(
    open_both: Callable[..., Memory], write: Write, slow: Slow, fast: Fast
) -> None:
    fill(write, MANY)
    memory = open_both()
    result = memory.search("n3 tea")
    assert (result.model, result.mode, result.partial) == ("fast", "hybrid", False)
    assert result.building == Building("slow", 0, MANY)
    assert str(result.building) == f"slow: 0 of {MANY} chunks"
    assert slow.documents == slow.queries == []

    status = memory.status()
    assert (status.model, status.building, status.dirty) == ("fast", Building("slow", 0, MANY), False)

    report = memory.sync()
    assert (report.embedded, report.complete) == (MANY, True)
    result = memory.search("n3 tea")
    assert (result.model, result.building) == ("slow", None)
    assert slow.queries == ["n3 tea"]
    assert len(fast.documents) == MANY
    assert memory.status().building is None
    assert memory.sync().embedded == 0


def test_a_small_folder_is_embedded_by_the_slow_model_at_once(
    open_both: Callable[..., Memory], write: Write, fast: Fast
) -> None:
    fill(write, FEW)
    assert open_both().search("tea").model == "slow"
    assert fast.documents == []


def test_a_few_new_notes_are_embedded_by_a_search(
    open_both: Callable[..., Memory], write: Write, fast: Fast
) -> None:
    fill(write, MANY)
    memory = open_both()
    memory.sync()
    made = len(fast.documents)
    fill(write, 3, prefix="new")
    result = open_both().search("new1")
    assert (result.model, result.building) == ("slow", None)
    assert result.hits[0].path == "memory/new1.md"
    assert len(fast.documents) == made


def test_new_notes_wait_by_keyword_while_they_are_a_small_part(
    open_both: Callable[..., Memory], write: Write, slow: Slow, fast: Fast
) -> None:
    fill(write, 8 * FEW)
    open_both().sync()
    made, known = len(fast.documents), len(slow.documents)
    fill(write, FEW + 1, prefix="new")
    for _ in range(2):
        result = open_both().search("new1 tea")
        assert result.model == "slow"
        assert result.building == Building("slow", 8 * FEW, 9 * FEW + 1)
        assert "memory/new1.md" in [hit.path for hit in result]
    assert (len(fast.documents), len(slow.documents)) == (made, known)
    memory = open_both()
    assert memory.sync().embedded == FEW + 1
    assert memory.search("new1 tea").building is None


def test_the_fast_model_stands_in_again_when_much_is_new(
    open_both: Callable[..., Memory], write: Write, slow: Slow
) -> None:
    fill(write, FEW + 1)
    open_both().sync()
    fill(write, MANY, prefix="new")
    result = open_both().search("new1 tea")
    assert (result.model, result.building) == ("fast", Building("slow", FEW + 1, FEW + 1 + MANY))
    known = len(slow.documents)
    assert open_both().sync().embedded == MANY
    assert len(slow.documents) == known + MANY
    assert open_both().search("new1 tea").model == "slow"


def test_a_fill_that_breaks_off_goes_on_where_it_was(
    open_both: Callable[..., Memory], write: Write, slow: Slow
) -> None:
    fill(write, MANY)
    slow.batches_left = 2
    memory = open_both(cache={"enabled": False})
    report = memory.sync()
    assert not report.complete
    assert str(report.warning).startswith("the slow model broke down (tried again from ")
    result = memory.search("tea")
    assert (result.model, result.building) == ("fast", Building("slow", 16, MANY))
    slow.batches_left = 1000
    assert open_both(cache={"enabled": False}).sync().embedded == MANY - 16


def test_a_model_that_fails_at_once_leaves_the_fast_one(
    open_both: Callable[..., Memory], write: Write, slow: Slow
) -> None:
    fill(write, 2)
    slow.batches_left = 0
    result = open_both().search("tea")
    assert (result.model, result.mode) == ("fast", "hybrid")
    assert result.building == Building("slow", 0, 2)


def test_a_rebuilt_index_takes_its_vectors_from_the_cache(
    open_both: Callable[..., Memory], write: Write, slow: Slow, tmp_path: Path
) -> None:
    fill(write, MANY)
    open_both().sync()
    open_both().close()
    (tmp_path / "state/memory/main.sqlite").unlink()
    result = open_both().search("tea")
    assert (result.model, result.building) == ("slow", None)
    assert open_both().sync(force=True).complete
    assert len(slow.documents) == MANY


def test_changing_the_chunking_keeps_an_answer_by_meaning(
    open_both: Callable[..., Memory], write: Write
) -> None:
    for number in range(MANY):
        write(f"memory/n{number}.md", "\n".join(f"line {line} of {number} on tea" for line in range(40)))
    open_both().sync()
    memory = open_both(chunking={"tokens": 64, "overlap": 0})
    result = memory.search("line 7 of 3")
    assert (result.model, result.mode) == ("fast", "hybrid")
    assert result.building is not None
    memory.sync()
    assert memory.search("line 7 of 3").model == "slow"


def test_going_back_to_the_fast_model_drops_the_others_vectors(
    open_both: Callable[..., Memory], write: Write, slow: Slow
) -> None:
    fill(write, MANY)
    open_both().sync()
    result = open_both(model="static").search("tea")
    assert (result.model, result.building) == ("fast", None)
    assert open_both(provider="none").search("tea").mode == "keyword"
    result = open_both().search("tea")
    assert (result.model, result.building) == ("slow", None)
    assert len(slow.documents) == MANY


def test_progress_counts_both_models(
    open_both: Callable[..., Memory], write: Write, observer: RecordingObserver
) -> None:
    fill(write, MANY)
    open_both().sync()
    embedding = [(done, total) for stage, done, total in observer.stages if stage == "embed"]
    assert embedding[0] == (MANY, MANY)
    assert embedding[1:] == [(8 * batch, MANY) for batch in range(1, MANY // 8 + 1)]


def test_a_query_meets_vectors_of_its_own_model_when_they_take_over(
    open_both: Callable[..., Memory], write: Write, slow: Slow, fast: Fast
) -> None:
    fill(write, MANY)
    memory, other = open_both(), open_both()
    memory.search("tea")
    embed = fast.embed_query

    def take_over_meanwhile(text: str) -> Vector | NoVector:
        vector = embed(text)
        other.sync()
        return vector

    fast.embed_query = take_over_meanwhile  # type: ignore[method-assign]
    result = memory.search("n3 tea", sync=False)
    assert (result.model, result.building) == ("slow", None)
    assert result.hits[0].path == "memory/n3.md"
    assert slow.queries == ["n3 tea"]


def test_in_a_process_that_lives_on_the_slow_model_takes_over_behind_the_fast_one(
    open_both: Callable[..., Memory], write: Write, slow: Slow
) -> None:
    fill(write, MANY)
    memory = open_both()
    passes: list[Pass] = []
    over = threading.Event()

    def listen(done: Pass) -> None:
        passes.append(done)
        if done.reasons == (VECTORS,):
            over.set()

    memory.start(listen, watch=False)
    assert over.wait(20)
    assert [done.report.left for done in passes if done.report] == [MANY, 0]
    assert len(slow.documents) == len(set(slow.documents)) == MANY
    result = memory.search("n3 tea")
    assert (result.model, result.building) == ("slow", None)


def test_a_slow_model_that_fails_is_left_alone_for_a_while(
    open_both: Callable[..., Memory], write: Write, slow: Slow
) -> None:
    fill(write, MANY)
    slow.batches_left = 0
    memory = open_both()
    passes: list[Pass] = []
    again = threading.Event()

    def listen(done: Pass) -> None:
        passes.append(done)
        if "retry" in done.reasons:
            again.set()

    memory.start(listen, watch=False)
    assert again.wait(20)
    assert sum(done.reasons == (VECTORS,) for done in passes) == 1
    assert memory.search("n3 tea").model == "fast"
