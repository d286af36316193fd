"""A reranking model in the search: what it changes, and that a search never depends on it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.conftest import NOON
from tests.cross_encoders import shared_words, write_model

from memlane import Memory, RerankError, SearchResult
from memlane.clock import FixedClock
from memlane.surfaces.explained import explanation_text
from memlane.testing import WordReranker

Open = Callable[..., Memory]
QUERY = "lighthouse keeper tea"


class Told(WordReranker):
    """Thinks the passages that hold a word are the answer."""

    def __init__(self, word: str, *, yes: float = 1.0, no: float = 0.0) -> None:
        super().__init__()
        self._word, self._yes, self._no = word, yes, no

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        super().scores(query, texts)
        return [self._yes if self._word in text else self._no for text in texts]


@pytest.fixture(autouse=True)
def notes_on_tea(write: Callable[[str, str], Path]) -> None:
    write("memory/first.md", "The lighthouse keeper drinks tea.\n")
    write("memory/second.md", "Tea for the lighthouse keeper, says the windmill.\n")
    for number in range(40):
        write(f"memory/more/{number:02}.md", f"The keeper of boat {number} had tea at the lighthouse quay.\n")


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result]


def test_what_the_model_says_decides(open_memory: Open) -> None:
    assert paths(open_memory().search(QUERY))[0] == "memory/first.md"
    found = open_memory(reranker=Told("windmill")).search(QUERY, explain=True)
    assert paths(found)[0] == "memory/second.md"
    assert found.warning is None
    first = found.hits[0].explanation
    assert first is not None
    assert first.reranked == 1.0
    assert "\n    reranking model   1.000\n" in explanation_text(found.hits[0])


def test_a_model_in_doubt_changes_nothing(open_memory: Open) -> None:
    without = open_memory().search(QUERY, max_results=20)
    doubting = open_memory(reranker=Told("", yes=0.5)).search(QUERY, max_results=20)
    assert [(hit.path, hit.score) for hit in doubting] == [(hit.path, hit.score) for hit in without]


def test_a_score_rises_and_falls_with_what_the_model_says(open_memory: Open) -> None:
    scores = [
        open_memory(reranker=Told("", yes=said)).search(QUERY).confidence for said in (0.0, 0.25, 0.5, 1.0)
    ]
    assert scores == sorted(scores)
    assert scores[0] < scores[2] < scores[3] < 1


def test_what_the_model_did_not_read_passes_nothing_that_it_read(open_memory: Open) -> None:
    query = {"rerank": {"candidates": 5}}
    plain = paths(open_memory(query=query).search(QUERY, max_results=20))
    none_of_it = Told("nothing")
    assert paths(open_memory(query=query, reranker=none_of_it).search(QUERY, max_results=20)) == plain
    assert sum(len(texts) for _, texts in none_of_it.calls) == 5


@pytest.mark.parametrize("provider", ["auto", "none"])
@pytest.mark.parametrize("word", ["windmill", "boat 3", "boat"])
def test_fewer_results_are_the_first_of_more(open_memory: Open, provider: str, word: str) -> None:
    memory = open_memory(provider=provider, reranker=Told(word))
    few = memory.search(QUERY, max_results=3, min_score=0.0)
    many = memory.search(QUERY, max_results=20, min_score=0.0)
    assert [(hit.path, hit.score) for hit in few] == [(hit.path, hit.score) for hit in many][:3]


def test_it_reads_what_passed_the_threshold_and_nothing_else(open_memory: Open) -> None:
    model = WordReranker()
    found = open_memory(reranker=model).search("windmill", max_results=20)
    assert found.totals.dropped_by_score > 0
    read = [text for _, texts in model.calls for text in texts]
    assert sorted(read) == sorted(hit.snippet for hit in found)


def test_without_a_passage_it_is_not_asked(open_memory: Open) -> None:
    model = WordReranker()
    assert not open_memory(provider="none", reranker=model).search("Wiedervorlagemappe xyzzy")
    assert model.calls == []


def test_keywords_alone_take_a_model_too(open_memory: Open) -> None:
    plain = open_memory(provider="none").search(QUERY)
    found = open_memory(provider="none", reranker=Told("windmill")).search(QUERY)
    assert paths(plain)[0] == "memory/first.md"
    assert paths(found)[0] == "memory/second.md"
    assert found.hits[0].score > 0.5 > found.hits[1].score


def test_a_text_that_is_the_query_stays_first(open_memory: Open) -> None:
    found = open_memory(reranker=Told("windmill")).search("The lighthouse keeper drinks tea.")
    assert (found.hits[0].path, found.hits[0].score) == ("memory/first.md", 1.0)


def test_switched_off_it_is_not_asked(open_memory: Open) -> None:
    model = WordReranker()
    open_memory(query={"rerank": {"enabled": False}}, reranker=model).search(QUERY)
    assert model.calls == []


@pytest.mark.parametrize("error", [RerankError("out of order"), RuntimeError("out of order"), OSError()])
def test_a_failing_model_leaves_the_order_and_says_so(open_memory: Open, error: Exception) -> None:
    class Broken(WordReranker):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            raise error

    found = open_memory(reranker=Broken()).search(QUERY, explain=True)
    assert [(hit.path, hit.score) for hit in found] == [
        (hit.path, hit.score) for hit in open_memory().search(QUERY)
    ]
    assert found.warning is not None
    assert found.warning.endswith("the order is the one without a reranking model")
    assert all(hit.explanation and hit.explanation.reranked is None for hit in found)


def test_a_slow_model_leaves_the_order_and_says_so(tmp_path: Path, notes: Path, open_memory: Open) -> None:
    class Slow(WordReranker, FixedClock):
        """Takes a tenth of a second for each batch, on its own clock."""

        def __init__(self) -> None:
            WordReranker.__init__(self)
            FixedClock.__init__(self, NOON)

        def monotonic(self) -> float:
            return 0.1 * len(self.calls)

    slow = Slow()
    with Memory.open(
        workspace=notes, state_dir=tmp_path / "slow", environ={}, clock=slow, reranker=slow
    ) as memory:
        found = memory.search(QUERY, max_results=20)
    assert paths(found) == paths(open_memory().search(QUERY, max_results=20))
    assert found.warning is not None
    assert found.warning.startswith("the reranking model words had read 12 of 20 passages after 250 ms")


# ---- a model from the configuration ------------------------------------------------------------------


def test_a_cross_encoder_of_ones_own(tmp_path: Path, open_memory: Open) -> None:
    write_model(tmp_path / "state/models/tiny", shared_words(), words=["windmill", "lighthouse"])
    memory = open_memory(query={"rerank": {"model": "models/tiny"}})
    found = memory.search("windmill lighthouse tea", explain=True)
    assert found.warning is None
    assert paths(found)[0] == "memory/second.md"
    said = found.hits[0].explanation
    assert said is not None
    assert said.reranked == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-6)
    assert "model" in found.totals.milliseconds


def test_a_cross_encoder_that_is_not_there(tmp_path: Path, open_memory: Open) -> None:
    found = open_memory(query={"rerank": {"model": "~/no such model"}}).search(QUERY)
    assert paths(found) == paths(open_memory().search(QUERY))
    assert found.warning == (
        f"there is no reranking model at {Path.home() / 'no such model'} "
        "(memorySearch.query.rerank.model is a folder with model.onnx (or onnx/model.onnx) and "
        "tokenizer.json, or one .onnx file of it); the order is the one without a reranking model"
    )


@pytest.fixture
def command(tmp_path: Path, notes: Path) -> Callable[..., tuple[int, str, str]]:
    def run(model: Path, *arguments: str, **rerank: object) -> tuple[int, str, str]:
        state = tmp_path / "state"
        state.mkdir(exist_ok=True)
        search = {"query": {"rerank": {"model": str(model), **rerank}}}
        config = {"agents": {"defaults": {"workspace": str(notes), "memorySearch": search}}}
        (state / "openclaw.json").write_text(json.dumps(config), "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "memlane", *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MEMLANE_STATE_DIR": str(state)},
            capture_output=True,
            check=False,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_the_command_line_says_it_once(tmp_path: Path, command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = command(tmp_path / "none", "search", QUERY)
    assert code == 0
    assert "memory/first.md" in out
    assert (out + err).count("there is no reranking model at") == 1
    code, out, _ = command(tmp_path / "none", "search", QUERY, "--json")
    assert code == 0
    assert json.loads(out)["warning"].startswith("there is no reranking model at")


@pytest.mark.parametrize(("key", "value"), [("candidates", 31), ("candidates", 0), ("deadlineMs", -1)])
def test_values_out_of_range_are_named(
    tmp_path: Path, command: Callable[..., tuple[int, str, str]], key: str, value: int
) -> None:
    code, _, err = command(tmp_path, "search", QUERY, **{key: value})
    assert code == 2
    assert f"memorySearch.query.rerank.{key} is {value}; allowed: " in err


def test_the_doctor_tries_the_model(tmp_path: Path, command: Callable[..., tuple[int, str, str]]) -> None:
    def reranking(out: str) -> dict[str, str]:
        return next(row for row in json.loads(out)["agents"][0]["findings"] if row["check"] == "reranking")

    _, out, _ = command(tmp_path / "none", "doctor", "--json")
    assert reranking(out)["severity"] == "broken"
    model = write_model(tmp_path / "model", shared_words())
    _, out, _ = command(model, "doctor", "--json", deadlineMs=0)
    assert reranking(out)["severity"] == "fine"
    assert reranking(out)["message"].startswith("model: reads a passage in ")
