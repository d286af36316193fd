from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from memlane import RerankError
from memlane.clock import FixedClock
from memlane.search.model import ModelScores, RerankingModel
from memlane.testing import WordReranker


class Stopwatch(FixedClock):
    """A clock whose time passes when it is told to."""

    def __init__(self) -> None:
        super().__init__(datetime(2026, 2, 10, tzinfo=UTC))
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


class Slow(WordReranker):
    """Takes a while for each text."""

    def __init__(self, clock: Stopwatch, each: float) -> None:
        super().__init__()
        self._clock = clock
        self._each = each

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self._clock.seconds += self._each * len(texts)
        return super().scores(query, texts)


def looked(each: float, *, count: int = 10, seconds: float = 0.25) -> tuple[ModelScores, Slow, Stopwatch]:
    clock = Stopwatch()
    model = Slow(clock, each)
    look = RerankingModel(lambda: model, candidates=20, seconds=seconds, clock=clock)
    return look.look("tea", ["tea", "boat"] * (count // 2)), model, clock


def test_all_are_scored_in_small_batches() -> None:
    found, model, _ = looked(0.01)
    assert found == ModelScores((1.0, 0.0) * 5)
    assert [len(texts) for _, texts in model.calls] == [4, 4, 2]


def test_after_the_deadline_nothing_of_it_counts() -> None:
    found, model, clock = looked(0.04)
    assert found.scores == ()
    assert found.warning == (
        "the reranking model words had read 8 of 10 passages after 250 ms, so it was not heard; lower "
        "query.rerank.candidates, raise query.rerank.deadlineMs (0 waits for it), or take a smaller model"
    )
    assert len(model.calls) == 2
    assert clock.seconds <= 0.25 + 4 * 0.04


def test_all_that_is_scored_counts_even_when_the_last_batch_was_late() -> None:
    found, _, clock = looked(0.1, count=4)
    assert clock.seconds > 0.25
    assert found == ModelScores((1.0, 0.0) * 2)


def test_without_a_deadline_all_go_in_one_call() -> None:
    found, model, _ = looked(100.0, seconds=0)
    assert len(found.scores) == 10
    assert len(model.calls) == 1


def test_no_text_needs_no_model() -> None:
    def never() -> WordReranker:
        raise AssertionError("made for nothing")

    look = RerankingModel(never, candidates=20, seconds=0.25, clock=Stopwatch())
    assert look.look("tea", []) == ModelScores()


def test_a_model_is_made_once_for_all_threads() -> None:
    made = []
    both = threading.Barrier(2, timeout=30)

    def make() -> WordReranker:
        made.append(1)
        return WordReranker()

    look = RerankingModel(make, candidates=20, seconds=0.25, clock=Stopwatch())

    def ask() -> None:
        both.wait()
        look.look("tea", ["tea"])

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


@pytest.mark.parametrize("times", [1, 3])
def test_a_model_that_cannot_be_used_is_tried_once(times: int) -> None:
    tried = []

    def fail() -> WordReranker:
        tried.append(1)
        raise RerankError("there is no reranking model at /m", hint="put one there")

    look = RerankingModel(fail, candidates=20, seconds=0.25, clock=Stopwatch())
    found = [look.look("tea", ["tea"]) for _ in range(times)]
    assert found == times * [
        ModelScores(
            warning="there is no reranking model at /m (put one there); "
            "the order is the one without a reranking model"
        )
    ]
    assert tried == [1]


def test_a_failing_model_is_asked_again_next_time() -> None:
    class Moody(WordReranker):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            if query == "tea":
                raise ConnectionError("the line is dead")
            return super().scores(query, texts)

    look = RerankingModel(Moody, candidates=20, seconds=0.25, clock=Stopwatch())
    failed = look.look("tea", ["tea"])
    assert failed.warning == (
        "the reranking model words failed: the line is dead; the order is the one without a reranking model"
    )
    assert look.look("boat", ["boat"]) == ModelScores((1.0,))
