"""How the vectors of a space are made: batches across files, several calls at a time, nothing twice."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import NOON
from tests.flights import Gate, Moving, Remote

from memlane import Memory
from memlane.clock import FixedClock
from memlane.embed import select
from memlane.embed.base import CheckedEmbedder, Input, NoVector, Vector
from memlane.embed.flights import Flights
from memlane.embed.select import Choice
from memlane.errors import EmbeddingError, Interrupted, QuotaExhausted
from memlane.events import Stage
from memlane.testing import HashEmbedder, RecordingObserver

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


def fill(write: Write, count: int, *, prefix: str = "n") -> None:
    for number in range(count):
        write(f"memory/{prefix}{number}.md", f"note {prefix}{number} on tea\n")


def test_batches_are_formed_across_files_and_nothing_is_sent_twice(write: Write, open_memory: Open) -> None:
    fill(write, 50)
    write("memory/again.md", "note n3 on tea\n")
    remote = Remote()
    memory = open_memory(embedder=remote, cache={"enabled": False})
    assert memory.sync().embedded == 50
    assert sorted(map(len, remote.batches)) == [2, 8, 8, 8, 8, 8, 8]
    assert set(Counter(remote.documents).values()) == {1}
    assert memory.status().statistics.vectors == 51


def test_a_text_of_many_files_is_sent_once_even_when_all_is_made_anew(
    write: Write, open_memory: Open
) -> None:
    for number in range(40):
        write(f"memory/{number}.md", f"text {number % 20}\n")
    remote = Remote()
    memory = open_memory(embedder=remote, cache={"enabled": False})
    memory.sync()
    assert len(remote.documents) == 20
    memory.sync(force=True)
    assert set(Counter(remote.documents).values()) == {2}


def test_a_refused_text_is_asked_for_once_in_a_pass(write: Write, open_memory: Open) -> None:
    class Picky(Remote):
        max_batch_items = 1
        max_in_flight = 1

        def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
            made = super().embed_documents(inputs)
            return [
                NoVector("refused") if "bad" in str(text) else vector
                for text, vector in zip(inputs, made, strict=True)
            ]

    fill(write, 300)
    write("memory/a.md", "bad words\n")
    write("memory/z.md", "bad words\n")
    picky = Picky()
    report = open_memory(embedder=picky).sync()
    assert picky.documents.count("bad words") == 1
    assert (report.without_vector, report.embedded) == (2, 301)


def test_a_batch_holds_no_more_tokens_than_the_provider_takes(write: Write, open_memory: Open) -> None:
    for number in range(12):
        write(f"memory/{number}.md", f"{number:03} " + "word " * 80)
    remote = Remote()
    remote.max_batch_tokens = 250
    open_memory(embedder=remote).sync()
    assert [len(batch) for batch in remote.batches] == [2] * 6


def test_limits_that_are_learned_hold_from_the_next_batch_on(write: Write, open_memory: Open) -> None:
    class Learning(Remote):
        max_in_flight = 1

        def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
            self.max_batch_items = 3
            return super().embed_documents(inputs)

    fill(write, 20)
    learning = Learning()
    open_memory(embedder=learning).sync()
    assert [len(batch) for batch in learning.batches] == [8, 3, 3, 3, 3]


def test_as_many_calls_as_allowed_are_on_their_way_and_what_is_back_is_stored_first(
    write: Write, open_memory: Open
) -> None:
    fill(write, 48)
    gate = Gate()
    memory = open_memory(embedder=gate)
    other = open_memory(embedder=HashEmbedder(32))
    thread = threading.Thread(target=memory.sync)
    thread.start()
    for _ in range(4):
        assert gate.waiting.acquire(timeout=20)
    assert not gate.waiting.acquire(blocking=False)
    gate.through.release()
    assert gate.waiting.acquire(timeout=20)  # the fifth call is sent when the first is stored
    assert other.status().statistics.vectors == 8
    gate.through.release(100)
    thread.join(20)
    assert len(gate.documents) == len(set(gate.documents)) == 48


def test_a_model_that_takes_one_call_at_a_time_is_called_in_the_same_thread(
    write: Write, open_memory: Open
) -> None:
    threads: set[int] = set()

    class Here(HashEmbedder):
        def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
            threads.add(threading.get_ident())
            return super().embed_documents(inputs)

    fill(write, 3)
    open_memory(embedder=Here()).sync()
    assert threads == {threading.get_ident()}


def test_what_a_failed_call_had_made_is_kept(write: Write, open_memory: Open) -> None:
    class Partly(Remote):
        max_in_flight = 1
        broken = True

        def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
            if not self.broken:
                return super().embed_documents(inputs)
            made = dict(enumerate(super().embed_documents(inputs[:5])))
            raise EmbeddingError("half-way", made=made)

    fill(write, 20)
    partly = Partly()
    memory = open_memory(embedder=partly, cache={"enabled": False})
    report = memory.sync()
    assert (report.complete, report.embedded) == (False, 5)
    assert (
        report.warning == "half-way (tried again from 2026-02-10 12:01 CET on; memlane index tries at once)"
    )
    partly.broken = False
    assert memory.sync().embedded == 15
    assert set(Counter(partly.documents).values()) == {1}


def test_one_call_that_fails_costs_nothing_of_the_others(write: Write, open_memory: Open) -> None:
    class Once(Remote):
        def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
            if "note n0 on tea" in inputs and not self.queries:
                self.queries.append("failed once")
                raise EmbeddingError("gone for a moment")
            return super().embed_documents(inputs)

    fill(write, 24)
    once = Once()
    memory = open_memory(embedder=once, cache={"enabled": False})
    assert memory.sync().embedded == 16
    assert memory.sync().embedded == 8
    assert set(Counter(once.documents).values()) == {1}


class Impatient(RecordingObserver):
    """Ends the work at the first step of a stage."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def progress(self, stage: Stage, done: int, total: int) -> None:
        super().progress(stage, done, total)
        if stage == "embed":
            raise self.error


@pytest.mark.parametrize(
    "error", [Interrupted("enough"), KeyboardInterrupt(), RuntimeError("a broken observer")]
)
def test_ended_work_cancels_its_calls_and_keeps_what_is_back(
    write: Write,
    open_memory: Open,
    tmp_path: Path,
    notes: Path,
    clock: FixedClock,
    error: BaseException,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(write, 48)
    monkeypatch.setattr("memlane.index.fill._GRACE_SECONDS", 0.05)
    gate = Gate()
    gate.through.release(1)
    with (
        Memory.open(
            workspace=notes,
            state_dir=tmp_path / "state",
            environ={},
            clock=clock,
            observer=Impatient(error),
            embedder=gate,
        ) as memory,
        pytest.raises(type(error)),
    ):
        memory.sync()
    assert gate.closed >= 1
    # One call was let through, and each that was cancelled had made one vector.
    made = len(gate.documents)
    assert made == 8 + 3
    remote = Remote()
    with Memory.open(
        workspace=notes, state_dir=tmp_path / "state", environ={}, clock=clock, embedder=remote
    ) as memory:
        gate.id = "remote"
        assert memory.sync().embedded == 48 - made
    assert not set(remote.documents) & set(gate.documents)


def test_a_provider_that_was_closed_with_a_pass_is_chosen_anew(
    write: Write, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closing(Remote):
        def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
            if self.closed:
                raise EmbeddingError("closed")
            return super().embed_documents(inputs)

    made: list[Closing] = []

    def choose(*_: object, **__: object) -> Choice:
        made.append(Closing())
        return Choice(CheckedEmbedder(made[-1]), ("chosen",))

    monkeypatch.setattr(select, "choose_provider", choose)
    fill(write, 20)
    memory = open_memory()
    memory.sync()
    memory._backend._choice.embedder.close()  # type: ignore[attr-defined]
    fill(write, 3, prefix="new")
    assert memory.sync().embedded == 3
    assert len(made) == 2


def test_waiting_for_a_slow_call_can_be_ended(write: Write, open_memory: Open) -> None:
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        raise Interrupted("enough")

    gate = Gate()
    checked = CheckedEmbedder(gate)
    flights: Flights[str] = Flights(checked, checked.embed_documents)
    flights.send({b"a": "tea"})
    with pytest.raises(Interrupted):
        flights.land(beat)
    assert (beats, flights.flying) == (1, 1)
    (landed,) = flights.abandon(0.0)
    assert list(landed.made) == [b"a"]
    assert str(landed.error) == "the call was cancelled"


def test_a_used_up_quota_is_left_alone_until_its_time_by_every_process(
    write: Write, notes: Path, tmp_path: Path
) -> None:
    fill(write, 20)
    clock = Moving(NOON)

    def open_one(remote: Remote) -> Memory:
        return Memory.open(
            workspace=notes, state_dir=tmp_path / "state", environ={}, clock=clock, embedder=remote
        )

    first, second, third = Remote(), Remote(), Remote()
    first.max_in_flight = 1
    first.failure = QuotaExhausted("the quota is used up", retry_at=NOON + timedelta(hours=2))
    with open_one(first) as memory:
        report = memory.sync()
        assert (report.complete, report.retry_at) == (False, "2026-02-10T14:00:00+01:00")
        assert report.warning == "the quota is used up (tried again from 2026-02-10 14:00 CET on)"
        assert len(first.batches) == 1
    with open_one(second) as memory:
        write("memory/new.md", "a new note on rooibos\n")
        report = memory.sync()
        assert (report.indexed, report.complete, report.retry_at) == (1, False, "2026-02-10T14:00:00+01:00")
        assert memory.search("rooibos").hits[0].path == "memory/new.md"
        status = memory.status()
        assert status.retry_at == report.retry_at
        assert any("tried again from 2026-02-10 14:00 CET on" in warning for warning in status.warnings)
        assert memory.plan().retry_at == report.retry_at
        assert second.batches == []
    clock.pass_by(hours=2, seconds=1)
    with open_one(third) as memory:
        report = memory.sync()
        assert (report.complete, report.embedded, report.retry_at) == (True, 21, None)
        assert memory.status().retry_at is None


def test_forcing_asks_a_provider_that_is_left_alone(write: Write, open_memory: Open) -> None:
    fill(write, 3)
    remote = Remote()
    remote.failure = QuotaExhausted("used up", retry_at=NOON + timedelta(days=1))
    memory = open_memory(embedder=remote)
    memory.sync()
    remote.failure = None
    assert memory.sync().embedded == 0
    assert memory.sync(force=True).embedded == 3


def test_a_quota_without_a_time_is_asked_for_again_when_somebody_asks(
    write: Write, open_memory: Open
) -> None:
    fill(write, 3)
    remote = Remote()
    remote.failure = QuotaExhausted("used up")
    memory = open_memory(embedder=remote)
    assert memory.sync().retry_at == "2026-02-10T12:01:00+01:00"
    remote.failure = None
    assert memory.plan().retry_at is None
    assert memory.sync().embedded == 3
