"""The few memories that a message calls for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane import AsyncMemory, Hit, Memory, Recalled, SearchResult
from memlane.config.querying import Recall
from memlane.errors import StoreError
from memlane.sessions.chat import Message
from memlane.sessions.recall import certainty_needed, recall, without_recalled_block
from memlane.surfaces.cli import main
from memlane.testing import RecordingObserver, ScriptedChat
from memlane.transcripts.turns import RECALL_TAG, without_recalled

USUAL = Recall()
ASKED = "Which router does the cabin in Lofoten have?"


def hit(path: str, score: float, text: str = "the router", line: int = 1, source: str = "memory") -> Hit:
    return Hit(path, line, line, score, text, source)  # type: ignore[arg-type]


def recalled(
    *hits: Hit,
    wanted: Recall = USUAL,
    shown: str = "",
    extra: tuple[str, ...] = (),
    confidence: float | None = 0.9,
) -> Recalled:
    return recall(
        "which router stands where the cabin has its hall?",
        lambda _text, _most: SearchResult(hits, "x", None, "hybrid", confidence=confidence),
        wanted,
        shown=shown,
        extra=extra,
    )


def test_only_what_is_likely_and_the_owners_own() -> None:
    given_ = [
        hit("memory/b.md", 0.9, "second"),
        hit("MEMORY.md", 0.95, "first"),
        hit("memory/c.md", 0.69, "too weak"),
        hit("library/d.md", 0.99, "an extra path"),
        hit("/elsewhere/memory/e.md", 0.99, "an extra path"),
        hit("sessions/f.jsonl", 0.99, "said", source="sessions"),
    ]
    found = recalled(*given_)
    assert [one.path for one in found.hits] == ["MEMORY.md", "memory/b.md"]
    assert found.text.startswith(f"<{RECALL_TAG}>\n")
    assert "MEMORY.md:1-1\nfirst\n\nmemory/b.md:1-1\nsecond" in found.text
    assert recalled(*given_[::-1]) == found  # the order of the search does not matter


def test_extra_paths_within_the_notes_are_not_trusted() -> None:
    given_ = [hit("memory/clips/a.md", 0.9, "theirs"), hit("memory/clips.md", 0.9, "mine")]
    assert [one.path for one in recalled(*given_, extra=("memory/clips", "memory", ".")).hits] == [
        "memory/clips.md"
    ]


def test_scores_that_are_no_chances_add_nothing() -> None:
    assert recalled(hit("memory/a.md", 1.0), confidence=None) == Recalled()


@pytest.mark.parametrize(
    ("message", "needed"),
    [
        *(("", None), ("\ud800", None), ("👍 !!", None), ("what can you do?", None), ("ok", None)),
        *(("좋아", None), ("好的", None), ("Wer ist der Tierarzt?", None), ("word " * 9000, None)),
        *(("où est-ce qu'il était, déjà ?", None), ("Ｗｈｏ Ｉｓ Ｍｉｍｉ?", None)),
        *(("Mimi's vet", 0.9), ("咖啡店的地址", 0.9), ("which vet treats Mimi on Sundays", 0.5)),
        *(("木曜日の会議で何を決めましたか", 0.5), ("지난주 회의에서 무엇을 결정했나요", 0.5)),
    ],
)
def test_few_words_need_more_certainty(message: str, needed: float | None) -> None:
    assert certainty_needed(message, 0.5) == needed


@given(st.text(alphabet="</>memory-rcal \nx", max_size=80))
def test_a_message_is_said_without_its_memories(message: str) -> None:
    block = recalled(hit("memory/a.md", 0.9)).text
    assert without_recalled_block(f"{block}\n\n{message}") == message
    assert without_recalled_block(message) == message


def test_nothing_is_an_empty_text() -> None:
    assert recalled() == recalled(hit("memory/a.md", 0.1)) == Recalled()
    assert recall("  \n", lambda _text, _most: pytest.fail("asked"), Recall()) == Recalled()


def test_what_is_shown_already_is_not_repeated() -> None:
    assert recalled(hit("memory/a.md", 0.9, "tea at five"), shown="log: tea at five\n") == Recalled()


def test_limits_of_number_and_characters() -> None:
    many = [hit(f"memory/{number}.md", 0.9 - number / 100, "x" * 40) for number in range(9)]
    assert [one.path[-4] for one in recalled(*many).hits] == ["0", "1", "2"]
    assert len(recalled(*many, wanted=Recall(max_results=9, max_chars=100)).hits) == 2
    long = [hit("memory/a.md", 0.9, "x" * 101), hit("memory/b.md", 0.8, "y" * 100)]
    assert [one.path for one in recalled(*long, wanted=Recall(max_chars=100)).hits] == ["memory/b.md"]


def test_only_the_end_of_a_long_message_is_searched_for() -> None:
    asked: list[str] = []

    def find(text: str, most: int) -> SearchResult:
        asked.append(text)
        return SearchResult((), "x", None, "hybrid")

    recall("pasted " * 9000 + "and where is the key?", find, Recall())
    assert asked[0].endswith("and where is the key?")
    assert len(asked[0]) == 2_000


@given(st.text(alphabet="</>memory-rcal \n＜x", max_size=80))
def test_no_passage_leaves_its_fence(text: str) -> None:
    block = recalled(hit("memory/a.md", 0.9, f"word {text}"), wanted=Recall(max_chars=1000)).text
    assert block
    assert without_recalled(f"before\n{block}\nafter") == "before\n\nafter"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "notes/MEMORY.md").write_text("# Owner\n\nThe owner's door code is 4711 zulu.\n")
    notes = {
        "cabin": "The cabin in Lofoten has a Fritzbox 7530 as its router, in the hall.",
        "tea": "Oolong is steeped for three minutes.",
        "bike": "The bicycle's chain was replaced in March.",
    }
    for name, text in notes.items():
        (tmp_path / f"notes/memory/{name}.md").write_text(f"# {name}\n\n{text}\n")
    (tmp_path / "state").mkdir()
    section = {"recall": {"enabled": True}, "provider": "bundled"}
    opened = Memory.open(
        workspace=tmp_path / "notes", state_dir=tmp_path / "state", environ={}, memory_search=section
    )
    yield opened
    opened.close()


def test_before_a_turn_they_stand_before_the_message_and_in_the_record(memory: Memory) -> None:
    chat = ScriptedChat("a Fritzbox")
    with memory.life(model=chat) as life:
        turn = life.before_turn(ASKED)
        assert "Fritzbox 7530" in turn.recalled.text
        assert turn.messages[-1].text == f"{turn.recalled.text}\n\n{ASKED}"
        life.after_turn([Message("assistant", "a Fritzbox")])
        again = life.before_turn("And again: which router does the cabin in Lofoten have?")
        assert again.recalled == Recalled()  # it stands in the context
        assert life.before_turn("thanks!").recalled == Recalled()
        assert life.before_turn("Which router is in the cabin?", heartbeat=True).recalled == Recalled()
        assert "Fritzbox 7530" in life.transcript.read_text()
    said = memory.transcript("main").text
    assert "Fritzbox 7530" not in said  # what came out of memory was not said
    assert ASKED in said


def test_it_is_off_unless_asked_for(memory: Memory, tmp_path: Path) -> None:
    with Memory.open(workspace=tmp_path / "notes", state_dir=tmp_path / "state", environ={}) as plain:
        with plain.life() as life:
            assert life.before_turn(ASKED).recalled == Recalled()
        assert plain.recall(ASKED).hits  # asked for by name


@pytest.mark.parametrize("rest", ["cron:1", "subagent:1", "what"])
def test_never_where_nobody_talks(memory: Memory, rest: str) -> None:
    assert memory.recall(ASKED, session=f"agent:main:{rest}") == Recalled()


def test_the_curated_file_is_recalled_for_the_owner_alone(memory: Memory) -> None:
    asked = "What is the owner's door code?"
    assert "4711 zulu" in memory.recall(asked).text
    assert "4711" not in memory.recall(asked, session="agent:main:telegram:group:1").text


def test_a_search_that_fails_costs_no_turn(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise StoreError("no index")

    monkeypatch.setattr(memory, "recall", fail)
    observer = RecordingObserver()
    with memory.life() as life:
        monkeypatch.setattr(life._around.observer, "warning", observer.warning)
        assert life.before_turn(ASKED).messages[-1].text == ASKED
    assert observer.warnings == ["nothing was recalled: no index"]


async def _asked(memory: Memory) -> Recalled:
    return await AsyncMemory(memory).recall(ASKED)


def test_the_other_surfaces(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import asyncio

    wanted = memory.recall(ASKED)
    assert asyncio.run(_asked(memory)) == wanted
    place = ["--workspace", str(tmp_path / "notes"), "--state-dir", str(tmp_path / "state")]
    for options, shown in (([], wanted.text + "\n"), (["--json"], None)):
        with pytest.raises(SystemExit) as left:
            main(["recall", ASKED, *place, *options])
        assert left.value.code == 0
        out = capsys.readouterr().out
        if shown is None:
            answer = json.loads(out)
            assert answer["text"] == wanted.text
            assert [one["path"] for one in answer["results"]] == ["memory/cabin.md"]
        else:
            assert out == shown
    with pytest.raises(SystemExit):
        main(["recall", "thanks!", *place])
    assert capsys.readouterr().out == ""
