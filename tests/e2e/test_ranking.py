"""What a user relies on when reading results from the top."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from memlane import Memory
from memlane.embed.bundled import MODEL_FOLDER, StaticModel
from memlane.index import reader
from memlane.search import rerank
from memlane.testing import HashEmbedder
from memlane.values import SearchResult

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]

SUBJECTS = ("harbour", "kitchen", "budget", "router", "garden", "concert", "invoice", "holiday")


def places(result: SearchResult) -> list[tuple[str, int, float]]:
    return [(hit.path, hit.start_line, hit.score) for hit in result]


@pytest.fixture
def diary(write: Write) -> None:
    """A note a day up to today, each on one of a few subjects."""
    for days in range(120):
        day = date(2026, 2, 10) - timedelta(days=days)
        subject = SUBJECTS[days % len(SUBJECTS)]
        write(
            f"memory/{day}.md", f"# {day}\n\n## {subject.title()}\n\n- We talked about the {subject} again.\n"
        )


def test_an_exact_id_in_an_old_note_comes_before_a_thousand_fresh_ones(
    write: Write, open_memory: Open
) -> None:
    write("memory/2024-03-01.md", "# 2024-03-01\n\nThe pump was replaced, part PX-4471-B, by Ferran.\n")
    for number in range(1000):
        day = date(2026, 2, 10) - timedelta(days=number % 30)
        write(
            f"memory/{day}-{number}.md",
            f"The pump part of station {number} was looked at, part PX-{number}.\n",
        )
    memory = open_memory()
    for query in ("PX-4471-B", "where is part PX-4471-B?", "pump part PX-4471-B replaced"):
        assert memory.search(query).hits[0].path == "memory/2024-03-01.md"


@pytest.mark.parametrize(
    "query",
    ["what about the harbour?", "budget and router", "정원 이야기", "yesterday", "the concert in January"],
)
@pytest.mark.usefixtures("diary")
def test_a_question_has_one_answer(query: str, open_memory: Open, tmp_path: Path, notes: Path) -> None:
    memory = open_memory()
    first = memory.search(query, max_results=20, min_score=0.0)
    assert places(memory.search(query, max_results=20, min_score=0.0)) == places(first)  # now from memory
    for fewer in (1, 3, 7):
        assert places(memory.search(query, max_results=fewer, min_score=0.0)) == places(first)[:fewer]
    program = (
        "import json, sys; from memlane import Memory; from memlane.clock import FixedClock;"
        " from datetime import datetime; from zoneinfo import ZoneInfo;"
        " clock = FixedClock(datetime(2026, 2, 10, 12, 0, tzinfo=ZoneInfo('Europe/Berlin')));"
        " memory = Memory.open(state_dir=sys.argv[1], environ={}, clock=clock);"
        " found = memory.search(sys.argv[2], max_results=20, min_score=0.0, sync=False);"
        " assert 'numpy' not in sys.modules;"
        " print(json.dumps([[hit.path, hit.start_line, hit.score] for hit in found]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "state"), query],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [tuple(place) for place in json.loads(done.stdout)] == places(first)


@pytest.mark.usefixtures("diary")
def test_equal_passages_stand_in_the_order_of_their_places(open_memory: Open, write: Write) -> None:
    for name in ("c", "a", "b"):
        write(f"memory/{name}.md", "The spare key hangs behind the mirror.\n")
    found = open_memory().search("where is the spare key?", max_results=3)
    assert [hit.path for hit in found] == ["memory/a.md", "memory/b.md", "memory/c.md"]
    assert len({hit.score for hit in found}) == 1


@pytest.mark.usefixtures("diary")
def test_a_day_that_is_asked_for_comes_first(open_memory: Open) -> None:
    memory = open_memory()
    for query, day in (
        ("what did we talk about yesterday?", "2026-02-09"),
        ("그저께 무슨 얘기를 했지?", "2026-02-08"),
        ("¿de qué hablamos el 3 de febrero?", "2026-02-03"),
        ("what happened on December 24th", "2025-12-24"),
    ):
        assert memory.search(query).hits[0].path == f"memory/{day}.md", query


@pytest.mark.usefixtures("diary")
def test_a_question_about_something_else_is_told_from_one_that_is_answered(
    open_memory: Open, write: Write
) -> None:
    write("memory/boat.md", "# Boat\n\nThe berth in the marina costs 340 euros a year, paid in March.\n")
    memory = open_memory()
    answered = memory.search("how much is the berth in the marina?")
    assert answered.hits[0].path == "memory/boat.md"
    assert answered.confidence is not None
    assert answered.confidence == answered.hits[0].score > 0.8
    assert answered.why is None
    other = memory.search("quantum chromodynamics on a lattice")
    assert other.confidence is not None
    assert other.confidence < 0.05
    assert other.why is not None
    assert other.why.code == "nothing_relevant"


def test_words_far_apart_count_less_than_together(open_memory: Open, write: Write) -> None:
    filler = "We talked about the weather, the neighbours and the news of the week. " * 6
    write(
        "memory/apart.md", f"The red bicycle was sold.\n{filler}\nThe cellar has a new lock and its code.\n"
    )
    write("memory/together.md", f"{filler}\nThe code of the bicycle lock was changed.\n{filler}\n")
    found = open_memory().search("code of the bicycle lock")
    assert found.hits[0].path == "memory/together.md"


def test_without_a_provider_nothing_is_compared_by_meaning(open_memory: Open, write: Write) -> None:
    write("memory/a.md", "green tea\n")
    write("memory/b.md", "black coffee\n")
    (hit,) = open_memory(provider="none").search("tea", explain=True)
    assert hit.explanation is not None
    assert (hit.explanation.late, hit.explanation.vector_score) == (None, None)


def test_the_closer_look_can_be_switched_off(open_memory: Open, write: Write) -> None:
    write("memory/a.md", "green tea\n")
    (hit,) = open_memory(query={"rerank": {"enabled": False}}).search("tea", explain=True)
    assert hit.explanation is not None
    assert hit.explanation.late is None
    assert hit.score == hit.explanation.fused


def test_keyword_scores_are_no_chances(open_memory: Open, write: Write) -> None:
    write("memory/a.md", "green tea\n")
    assert open_memory(provider="none").search("tea").confidence is None


@pytest.mark.parametrize("damage", [b"tea\n", b"\xff\xfe\n"])
def test_a_damaged_model_keeps_nobody_from_searching_by_keyword(
    open_memory: Open, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    folder = tmp_path / "static"
    shutil.copytree(MODEL_FOLDER, folder)
    (folder / "pieces.txt").write_bytes(damage)
    broken = StaticModel(folder)
    monkeypatch.setattr(reader, "packaged_model", lambda: broken)
    monkeypatch.setattr(rerank, "packaged_model", lambda: broken)
    write("memory/a.md", "green tea\n")
    memory = open_memory(embedder=HashEmbedder())
    assert [hit.path for hit in memory.search("tea")] == ["memory/a.md"]


def test_a_pasted_page_is_answered_in_time(open_memory: Open, write: Write) -> None:
    write("memory/a.md", "green tea and a word of the page\n")
    page = " ".join(f"word{number} of the page on tea" for number in range(5_000))
    assert open_memory().search(page, min_score=0.0).hits


def test_a_long_query_is_read_by_its_beginning(open_memory: Open, write: Write) -> None:
    write("memory/a.md", "green tea\n")
    write("memory/b.md", "zither\n")
    memory = open_memory()
    asked = "green tea " * 800
    assert places(memory.search(asked + "zither " * 100_000)) == places(memory.search(asked))


def test_an_empty_answer_speaks_of_notes_that_could_not_be_read(
    notes: Path, open_memory: Open, write: Write
) -> None:
    write("memory/a.md", "green tea\n")
    (notes / "memory/bad.md").write_bytes(b"penguin skis \xff\xfe\n")
    why = open_memory(provider="none").search("penguin").why
    assert why is not None
    assert why.message == "nothing in the notes matches the query; 1 note could not be read (memlane status)"
    assert why.details == {"unread": 1}


def test_an_empty_answer_speaks_of_filters(open_memory: Open, write: Write) -> None:
    write("memory/a.md", "green tea\n")
    why = open_memory(provider="none").search("tea", path="memory/b*").why
    assert why is not None
    assert (why.code, why.message) == (
        "no_match",
        "nothing in the notes that the filters leave matches the query",
    )
