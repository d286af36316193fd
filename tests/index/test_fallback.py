"""The configured fallback: a vector space of its own, and the way back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from tests.conftest import NOON
from tests.flights import Moving, Remote

from memlane import Memory
from memlane.background import VECTORS
from memlane.embed import select
from memlane.embed.base import CheckedEmbedder
from memlane.embed.select import Choice
from memlane.errors import EmbeddingError, QuotaExhausted
from memlane.index.changeover import FEW
from memlane.testing import HashEmbedder, RecordingObserver
from memlane.tools import search_json, value_json
from memlane.values import Building, Fallback, Pass

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]
DOWN = EmbeddingError("no route to the first")
MINUTE = {"minutes": 1, "seconds": 1}


class Other(Remote):
    """The fallback, whose vectors are as long as the first's."""

    id = "other"


@pytest.fixture
def first() -> Remote:
    return Remote(model="first")


@pytest.fixture
def other() -> Other:
    return Other(model="second")


@pytest.fixture
def moving() -> Moving:
    return Moving(NOON)


@pytest.fixture
def open_both(
    first: Remote,
    other: Other,
    moving: Moving,
    notes: Path,
    tmp_path: Path,
    observer: RecordingObserver,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Open]:
    """Opens the memory as another process would, with the fallback configured unless told otherwise."""
    opened: list[Memory] = []

    def open_one(
        *, fallback: bool = True, standing_in: HashEmbedder | None = None, **options: object
    ) -> Memory:
        choice = Choice(
            CheckedEmbedder(first),
            ("first: configured",),
            substitute=CheckedEmbedder(other) if fallback else None,
            standing_in=CheckedEmbedder(standing_in) if standing_in else None,
        )
        monkeypatch.setattr(select, "choose_provider", lambda *_, **__: choice)
        memory = Memory.open(
            workspace=notes,
            state_dir=tmp_path / "state",
            environ={},
            clock=moving,
            observer=observer,
            **options,
        )  # type: ignore[arg-type]
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()


def fill(write: Write, count: int, *, prefix: str = "n") -> None:
    for number in range(count):
        write(f"memory/{prefix}{number}.md", f"note {prefix}{number} on tea\n")


def spaces(tmp_path: Path) -> dict[str, set[bytes]]:
    """The vectors of each space, by the model's name."""
    (path,) = (
        file for file in (tmp_path / "state/memory").glob("main*.sqlite") if "embeddings" not in file.name
    )
    found = {}
    with closing(apsw.Connection(str(path))) as connection:
        for number, identity in connection.execute("SELECT id, identity FROM spaces").fetchall():
            rows = connection.execute(f"SELECT vector FROM vectors_{number} WHERE vector IS NOT NULL")
            found[json.loads(identity)["model"]] = {row[0] for row in rows}
    return found


def test_the_fallback_fills_a_space_of_its_own_and_the_first_one_comes_back(
    open_both: Open, write: Write, first: Remote, other: Other, moving: Moving, tmp_path: Path
) -> None:
    fill(write, 3)
    memory = open_both()
    memory.sync()
    assert other.documents == other.queries == []

    first.failure = DOWN
    write("memory/new.md", "a new note on rooibos\n")
    report = memory.sync()
    assert (report.complete, report.embedded) == (True, 4)
    assert report.fallback == Fallback("remote", str(report.warning).removesuffix("; other answers instead"))
    assert report.warning == (
        "no route to the first (tried again from 2026-02-10 12:01 CET on; memlane index tries at once);"
        " other answers instead"
    )
    result = memory.search("rooibos")
    assert (result.provider, result.model, result.mode) == ("other", "second", "hybrid")
    assert result.fallback == Fallback("remote", "no route to the first")
    assert search_json(result)["fallback"] == {"from": "remote", "reason": "no route to the first"}
    status = memory.status()
    assert (status.provider, status.fallback, status.dirty) == ("other", result.fallback, False)
    assert value_json(status)["fallback"] == {"from": "remote", "reason": "no route to the first"}

    first.failure = None
    moving.pass_by(**MINUTE)
    result = memory.search("rooibos", sync=True)
    assert (result.provider, result.model, result.mode) == ("remote", "first", "hybrid")
    assert (result.fallback, memory.status().fallback) == (None, None)
    assert sorted(first.documents) == sorted(other.documents)
    assert set(spaces(tmp_path)) == {"first"}


def test_no_vector_of_the_fallback_is_among_those_of_the_first(
    open_both: Open, write: Write, first: Remote, other: Other, tmp_path: Path
) -> None:
    fill(write, 5)
    open_both().sync()
    first.failure = DOWN
    write("memory/new.md", "a new note on rooibos\n")
    open_both().sync()
    kept = spaces(tmp_path)
    assert {model: len(vectors) for model, vectors in kept.items()} == {"first": 5, "second": 6}
    sent = [text for batch in first.batches for text in batch]
    assert len(sent) == 6  # the sixth was tried


def test_without_a_fallback_no_other_provider_is_ever_called(
    open_both: Open, write: Write, first: Remote, other: Other
) -> None:
    fill(write, 3)
    first.failure = DOWN
    memory = open_both(fallback=False)
    assert not memory.sync().complete
    result = memory.search("tea")
    assert (result.mode, result.fallback) == ("keyword", None)
    assert other.batches == other.queries == []
    first.failure = None
    assert memory.sync().embedded == 3


def test_searches_wait_for_no_provider_that_is_down(
    open_both: Open, write: Write, first: Remote, moving: Moving
) -> None:
    fill(write, 3)
    first.failure = DOWN
    result = open_both(fallback=False).search("n1 tea", sync=True)
    assert "no route to the first (tried again from 2026-02-10 12:01 CET on" in str(result.warning)
    assert result.hits[0].path == "memory/n1.md"
    assert len(first.queries) == 2  # the pass asks as impatiently as the search itself
    for _ in range(3):
        again = open_both(fallback=False).search("n1 tea", sync=True)
        assert "tried again from 2026-02-10 12:01 CET on; memlane index tries at once" in str(again.warning)
    assert len(first.queries) == 5
    assert first.batches == []

    moving.pass_by(**MINUTE)
    first.failure = None
    assert open_both(fallback=False).search("n1 tea", sync=True).mode == "hybrid"
    assert len(first.documents) == 3


@pytest.mark.parametrize("fallback", [True, False])
def test_a_pass_that_somebody_asks_for_does_not_wait_for_the_pause_to_end(
    open_both: Open, write: Write, first: Remote, fallback: bool
) -> None:
    fill(write, 3)
    first.failure = EmbeddingError("refuses the key")
    open_both(fallback=fallback).sync()
    first.failure = None  # the key is corrected
    assert open_both(fallback=fallback).sync(reason="interval").embedded == 0
    report = open_both(fallback=fallback).sync()
    assert (report.complete, report.embedded, report.warning, report.retry_at) == (True, 3, None, None)


def test_a_pass_that_somebody_asks_for_tells_of_a_time_that_the_provider_has_named(
    open_both: Open, write: Write, first: Remote
) -> None:
    fill(write, 3)
    first.failure = QuotaExhausted("used up", retry_at=NOON + timedelta(hours=5))
    open_both().sync()
    first.failure = None
    report = open_both().sync()
    assert (report.embedded, report.retry_at) == (0, "2026-02-10T17:00:00+01:00")
    assert report.warning == "used up (tried again from 2026-02-10 17:00 CET on); other answers instead"


def test_a_pause_is_honoured_by_other_processes_and_doubles(
    open_both: Open, write: Write, first: Remote, moving: Moving
) -> None:
    fill(write, 3)
    first.failure = DOWN
    open_both().sync()
    assert len(first.batches) == 1
    for _ in range(3):
        write("memory/new.md", f"a new note {moving.now()}\n")
        open_both().sync(reason="interval")
        open_both().search("tea")
    assert (len(first.batches), first.queries) == (1, [])

    waits = []
    for _ in range(8):
        asked = len(first.queries)
        minutes = 0
        while len(first.queries) == asked:
            moving.pass_by(seconds=30)
            minutes += 0.5
            open_both().sync(reason="interval")
        waits.append(minutes)
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]
    assert len(first.batches) == 1  # whether it is back is asked by one query


def test_a_first_provider_that_says_when_is_taken_at_its_word(
    open_both: Open, write: Write, first: Remote, moving: Moving
) -> None:
    fill(write, 3)
    first.failure = QuotaExhausted("used up", retry_at=NOON + timedelta(hours=5))
    memory = open_both()
    assert memory.sync().retry_at == "2026-02-10T17:00:00+01:00"
    assert memory.search("tea").fallback == Fallback("remote", "used up")
    first.failure = None
    moving.pass_by(hours=4, minutes=59)
    assert memory.search("tea", sync=True).provider == "other"
    moving.pass_by(minutes=2)
    assert memory.search("tea", sync=True).provider == "remote"


def test_switching_back_and_forth_costs_nothing(
    open_both: Open, write: Write, first: Remote, other: Other, moving: Moving
) -> None:
    fill(write, 3)
    memory = open_both()
    for number in range(3):
        first.failure = DOWN
        write(f"memory/new{number}.md", f"new {number}\n")
        memory.sync()
        assert memory.search("tea").provider == "other"
        first.failure = None
        moving.pass_by(hours=1)
        memory.sync()
        assert memory.search("tea").provider == "remote"
    assert len(other.documents) == len(set(other.documents)) == 6
    assert len(first.documents) == len(set(first.documents)) == 6


def test_a_fallback_that_fails_too_leaves_keywords_and_both_reasons(
    open_both: Open, write: Write, first: Remote, other: Other, moving: Moving
) -> None:
    fill(write, 3)
    first.failure, other.failure = DOWN, EmbeddingError("nor to the other")
    memory = open_both()
    report = memory.sync()
    assert (report.complete, report.fallback) == (False, None)
    assert "no route to the first" in str(report.warning)
    assert "other: nor to the other" in str(report.warning)
    assert [hit.path for hit in memory.search("n1")][:1] == ["memory/n1.md"]
    other.failure = None
    assert memory.sync().complete
    assert memory.search("tea").provider == "other"


def test_a_first_index_that_breaks_off_is_answered_by_the_fallback_and_completed_later(
    open_both: Open, write: Write, first: Remote, other: Other, moving: Moving
) -> None:
    fill(write, 40)
    first.max_in_flight = 1
    made = first.embed_documents

    def break_off(inputs: list[str]) -> list[object]:
        if len(first.batches) == 2:
            first.failure = DOWN
        return made(inputs)  # type: ignore[return-value]

    first.embed_documents = break_off  # type: ignore[assignment,method-assign]
    memory = open_both()
    assert memory.sync().fallback is not None
    result = memory.search("n7 tea")
    assert (result.provider, result.partial) == ("other", False)
    assert result.building == Building("first", 16, 40)
    first.failure = None
    first.embed_documents = made  # type: ignore[method-assign]
    moving.pass_by(**MINUTE)
    assert memory.sync().embedded == 24
    assert memory.search("n7 tea").provider == "remote"
    assert len(first.documents) == len(set(first.documents)) == 40


def test_a_search_leaves_the_many_vectors_of_a_provider_that_is_back_to_a_later_pass(
    open_both: Open, write: Write, first: Remote, moving: Moving
) -> None:
    first.failure = DOWN
    fill(write, FEW + 1)
    memory = open_both()
    memory.sync()
    first.failure = None
    moving.pass_by(**MINUTE)
    assert memory.search("tea", sync=True).provider == "other"
    assert first.documents == []
    assert memory.sync().embedded == FEW + 1
    assert memory.search("tea").provider == "remote"


def test_in_a_process_that_lives_on_the_first_provider_takes_over_again(
    open_both: Open, write: Write, first: Remote, moving: Moving
) -> None:
    first.failure = DOWN
    fill(write, 2 * FEW)
    memory = open_both()
    memory.sync()
    first.failure = None
    moving.pass_by(**MINUTE)
    over = threading.Event()

    def listen(done: Pass) -> None:
        if done.reasons == (VECTORS,):
            over.set()

    memory.start(listen, watch=False)
    assert over.wait(20)
    result = memory.search("tea")
    assert (result.provider, result.fallback) == ("remote", None)


def test_a_provider_that_fails_at_query_time_leaves_the_keyword_hits(
    open_both: Open, write: Write, first: Remote, other: Other
) -> None:
    fill(write, 3)
    memory = open_both()
    memory.sync()
    first.failure = DOWN
    result = memory.search("n1 tea")
    assert (result.mode, result.provider) == ("keyword", "remote")
    assert "no route to the first" in str(result.warning)
    assert result.hits[0].path == "memory/n1.md"
    assert other.queries == []


def test_a_new_layout_is_built_by_the_fallback_while_the_first_is_away(
    open_both: Open, write: Write, first: Remote, moving: Moving
) -> None:
    for number in range(4):
        write(f"memory/n{number}.md", "\n".join(f"line {line} of {number} on tea" for line in range(40)))
    open_both().sync()
    first.failure = DOWN
    memory = open_both(memory_search={"chunking": {"tokens": 64, "overlap": 0}})
    memory.sync()
    result = memory.search("line 7 of 3")
    assert (result.provider, result.mode) == ("other", "hybrid")
    first.failure = None
    moving.pass_by(**MINUTE)
    memory.sync()
    assert memory.search("line 7 of 3").provider == "remote"


def test_a_fallback_beside_a_model_that_stands_in(
    open_both: Open, write: Write, first: Remote, other: Other, moving: Moving
) -> None:
    fast = HashEmbedder(32, model="fast")
    fast.worth_caching = False
    fill(write, 2 * FEW)
    memory = open_both(standing_in=fast)
    assert memory.search("tea").model == "fast"
    first.failure = DOWN
    memory.sync()
    result = memory.search("tea")
    assert (result.model, result.fallback) == ("second", Fallback("remote", "no route to the first"))
    first.failure = None
    moving.pass_by(**MINUTE)
    memory.sync()
    assert memory.search("tea").model == "first"
    assert memory.sync().embedded == 0


def test_a_primary_that_cannot_be_used_at_all_is_told(
    write: Write, open_memory: Open, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    fallback = Fallback("openai", "no key")
    choice = Choice(CheckedEmbedder(other), ("openai: no key",), fallback=fallback)
    monkeypatch.setattr(select, "choose_provider", lambda *_, **__: choice)
    fill(write, 2)
    memory = open_memory()
    assert memory.search("tea").fallback == fallback
    assert memory.status().fallback == fallback
