"""The life of a session: turns, flushes, compactions, recoveries, and what stands on disk after each."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.lives import LiveIn, MovableClock, entries

from memlane.errors import ChatError, ContextOverflow, UsageError
from memlane.sessions import keeping
from memlane.sessions.chat import Message, ToolCall, Usage
from memlane.sessions.life import Life
from memlane.sessions.prompts import SUMMARY_SYSTEM
from memlane.testing import RecordingObserver, ScriptedChat

LOG = "memory/2026-02-10.md"
SMALL = {
    "contextTokens": 2_000,
    "compaction": {"reserveTokensFloor": 500, "memoryFlush": {"softThresholdTokens": 250}},
}
"""Flushed from 1,250 tokens on, compacted from 1,500 on."""


def said(text: str) -> list[Message]:
    return [Message("assistant", text)]


def is_summary(messages: Any) -> bool:
    return messages[0].text == SUMMARY_SYSTEM


def is_flush(messages: Any) -> bool:
    return "nearing compaction" in messages[0].text


def keeper(messages: Any) -> Any:
    """A model that notes every fact it is shown, summarises, and answers."""
    if is_summary(messages):
        return "They went on talking."
    if not is_flush(messages):
        return f"I see: {messages[-1].text[:20]}"
    if messages[-1].role == "tool":
        return "**NO_REPLY**"
    facts = [f for m in messages[1:-1] if m.role == "user" for f in re.findall(r"fact-\d+", m.text)]
    return (
        ToolCall("1", "memory_write", {"text": "\n".join(f"- {fact}" for fact in facts)})
        if facts
        else "NO_REPLY"
    )


def turn(life: Life, chat: ScriptedChat, text: str) -> Any:
    """One turn of an agent with a loop of its own. Gives what `before_turn` gave."""
    began = life.before_turn(text)
    answer = "".join(
        event.text for event in chat.reply(began.messages, life.tools, timeout=1) if hasattr(event, "text")
    )
    life.after_turn(said(answer))
    return began


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reason of each decision, as it is asked."""
    asked: list[str] = []
    real = keeping.decide

    def counted(case: Any) -> Any:
        decision = real(case)
        asked.append(decision.reason)
        return decision

    monkeypatch.setattr(keeping, "decide", counted)
    return asked


# ---- whole conversations ------------------------------------------------------------------------------


def test_hundreds_of_turns_lose_no_fact_and_show_no_housekeeping(
    live: LiveIn, notes: Path, store: Callable[[], dict[str, Any]]
) -> None:
    chat = ScriptedChat(keeper)
    life = live(chat, **SMALL)
    life.session_start()
    compacted = flushes = 0
    for number in range(300):
        began = turn(life, chat, f"fact-{number} {'and so on ' * 12}")
        compacted += began.compacted == "yes"
        flushes += began.flush.done
        assert began.notices == ()
        assert life.tokens < 2_000
    life.new()
    assert compacted >= 5
    assert flushes == compacted or flushes == compacted + 1
    logged = (notes / LOG).read_text("utf-8")
    assert sorted(re.findall(r"fact-\d+", logged)) == sorted(f"fact-{number}" for number in range(300))
    (archive,) = life.transcript.parent.glob("*.jsonl.reset.*")
    recorded = archive.read_text("utf-8")
    assert recorded.count('"role":"user"') == 300
    assert recorded.count('"type":"compaction"') == compacted
    for housekeeping in ("NO_REPLY", "memory_write", "nearing compaction", "Summarise"):
        assert housekeeping not in recorded
    assert "compactionCount" not in store()


def test_the_store_says_what_has_been_done(
    live: LiveIn, store: Callable[[], dict[str, Any]], hands: MovableClock
) -> None:
    chat = ScriptedChat(keeper)
    life = live(chat, **SMALL)
    while store_count(life) == 0:
        turn(life, chat, f"fact-{'x ' * 100}")
    entry = store()
    assert entry["compactionCount"] == 1
    assert entry["memoryFlushCompactionCount"] == 0
    assert entry["memoryFlushAt"] == int(hands.now().timestamp() * 1000)
    assert entry["sessionId"] == life.transcript.stem
    assert entry["totalTokensFresh"] is False


def store_count(life: Life) -> int:
    return life.keeping.conversation.data().get("compactionCount", 0)


def test_unknown_fields_of_the_store_survive(
    live: LiveIn, store: Callable[[], dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "state/agents/main/sessions"
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text(json.dumps({"agent:main:main": {"theirs": [1]}, "other": {"a": 1}}))
    chat = ScriptedChat(keeper)
    turn(live(chat), chat, "hello")
    assert store()["theirs"] == [1]
    assert store("other") == {"a": 1}  # type: ignore[call-arg]


def test_a_session_is_resumed_as_it_was(live: LiveIn) -> None:
    chat = ScriptedChat(keeper)
    life = live(chat, **SMALL)
    for number in range(70):
        turn(life, chat, f"fact-{number} {'and so on ' * 12}")
    life.after_turn(
        [Message("assistant", "", (ToolCall("9", "memory_get", {"path": "MEMORY.md"}),))], Usage(700, 9)
    )
    again = live(chat, **SMALL)
    start = again.session_start()
    assert start.resumed
    assert again.transcript == life.transcript
    assert store_count(life) > 0
    assert without_system(start.messages) == without_system(life.keeping.context())
    assert again.tokens == life.tokens
    assert start.messages[-1].role == "tool"


def without_system(messages: Any) -> list[Message]:
    return [message for message in messages if message.role != "system"]


def test_the_notes_of_the_session_are_in_the_system_prompt(live: LiveIn, notes: Path) -> None:
    (notes / "MEMORY.md").write_text("- the owner likes tea\n")
    private, shared = live(None, system="Be kind."), live(None, session="agent:main:slack:channel:7")
    begun = private.session_start()
    assert begun.messages[0].text.startswith("Be kind.\n\n<memlane-notes>")
    assert "likes tea" in begun.messages[0].text
    assert "likes tea" not in str(shared.session_start().messages)
    assert [tool.name for tool in private.tools] == ["memory_search", "memory_get", "memory_write"]


# ---- the decision is asked once for each way of losing context ----------------------------------------


def talked(live: LiveIn, *steps: Any, **defaults: Any) -> tuple[ScriptedChat, Life]:
    chat = ScriptedChat(*(steps or (keeper,)))
    life = live(chat, **defaults)
    for number in range(4):
        life.before_turn(f"fact-{number}")
        life.after_turn(said("yes"))
    return chat, life


@pytest.mark.parametrize(
    "lose",
    [
        lambda life: life.compact(),
        lambda life: life.new(),
        lambda life: life.flush(),
        lambda life: life.before_compaction(),
        lambda life: life.before_compaction([Message("user", "fact-0")]),
        lambda life: (life.before_turn("more"), life.overflowed(ContextOverflow("too long"))),
    ],
    ids=["compact", "new", "command", "own compaction", "own context", "overflow"],
)
def test_each_way_of_losing_context_asks_once(
    live: LiveIn,
    decisions: list[str],
    notes: Path,
    lose: Callable[[Life], Any],
    request: pytest.FixtureRequest,
) -> None:
    _, life = talked(live)
    decisions.clear()
    lose(life)
    before = ["below"] if "overflow" in request.node.name else []
    assert decisions == [*before, "losing"]
    assert "fact-0" in (notes / LOG).read_text()


def test_an_automatic_compaction_asks_once(live: LiveIn, decisions: list[str]) -> None:
    _, life = talked(live, **SMALL)
    decisions.clear()
    began = life.before_turn("word " * 1_300)
    assert began.compacted == "yes"
    assert decisions == ["tokens"]


def test_a_cycle_is_flushed_once(live: LiveIn, decisions: list[str]) -> None:
    _, life = talked(live)
    decisions.clear()
    life.flush()
    life.flush()
    life.compact()
    assert decisions == ["losing", "flushed", "flushed"]


def test_a_compaction_that_ends_during_the_flush_counts_for_the_next_cycle(live: LiveIn) -> None:
    def compacting(messages: Any) -> str:
        life.keeping.conversation.compacted("by another", 2, tokens_before=9)
        return "NO_REPLY"

    _, life = talked(live, compacting, "NO_REPLY")
    assert life.flush().done
    assert life.flush().done
    assert life.flush().decision.reason == "flushed"


@pytest.mark.parametrize(
    ("session", "heartbeat", "reason"),
    [
        ("agent:main:cron:nightly", False, "cron"),
        ("agent:main:subagent:7", False, "subagent"),
        ("agent:main:what", False, "unknown"),
        (None, True, "heartbeat"),
    ],
)
def test_turns_in_which_nobody_talks_are_not_flushed(
    live: LiveIn, session: str | None, heartbeat: bool, reason: str
) -> None:
    life = live(ScriptedChat(keeper), session=session, **SMALL)
    began = life.before_turn("word " * 1_000, heartbeat=heartbeat)
    assert (began.flush.decision.reason, began.flush.done) == (reason, False)
    assert store_of(life)["memoryFlushSkipped"] == reason


def test_why_a_flush_was_skipped_is_recorded_once_and_until_the_next(
    live: LiveIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, life = talked(live)
    assert "memoryFlushSkipped" not in store_of(life)
    notes = life.keeping.around.workspace.root
    monkeypatch.setattr(keeping, "access", lambda *_: False)
    noted: list[Any] = []
    note = life.keeping.conversation.note
    monkeypatch.setattr(
        life.keeping.conversation, "note", lambda fields: (noted.append(fields), note(fields))[1]
    )
    assert [life.flush().decision.reason for _ in range(3)] == ["not-writable"] * 3
    assert noted == [{"memoryFlushSkipped": "not-writable"}]
    assert not (notes / LOG).exists()
    monkeypatch.undo()
    assert life.flush().done
    assert "memoryFlushSkipped" not in store_of(life)


def test_the_size_of_the_transcript_forces_a_flush(live: LiveIn) -> None:
    _, life = talked(live, compaction={"memoryFlush": {"forceFlushTranscriptBytes": "1kb"}})
    assert store_of(life)["memoryFlushCompactionCount"] == 0


def store_of(life: Life) -> Any:
    return life.keeping.conversation.data()


# ---- compaction ---------------------------------------------------------------------------------------


def test_older_turns_become_a_summary_and_recent_ones_stay(live: LiveIn) -> None:
    chat = ScriptedChat(keeper)
    life = live(chat, **SMALL)
    for number in range(6):
        turn(life, chat, f"fact-{number} {'and so on ' * 20}")
    began = life.compact()
    assert began.compacted == "yes"
    assert "They went on talking." in began.messages[0].text
    assert began.messages[1].role == "user"
    assert began.messages[-1].text == "I see: fact-5 and so on and"
    (entry,) = (entry for entry in entries(life) if entry["type"] == "compaction")
    kept = next(entry for entry in entries(life) if entry["id"] == entry_id(life))
    assert entry["firstKeptEntryId"] == kept["id"]
    assert kept["message"]["role"] == "user"
    assert entry["tokensBefore"] > 0


def entry_id(life: Life) -> str:
    return life.keeping.conversation.kept[0].id


def test_there_is_nothing_to_compact_in_a_first_turn(live: LiveIn) -> None:
    life = live(ScriptedChat(keeper))
    life.before_turn("hello")
    assert life.compact().compacted == "no"
    assert store_count(life) == 0


def test_a_summary_that_does_not_fit_is_made_in_parts(live: LiveIn) -> None:
    chat = ScriptedChat(keeper, context_tokens=1_200)
    life = live(chat, **{**SMALL, "contextTokens": 8_000})
    for number in range(20):
        life.before_turn(f"fact-{number} {'and so on ' * 100}")
        life.after_turn(said("yes"))
    chat.requests.clear()
    assert life.compact().compacted == "yes"
    summaries = [messages for messages, _ in chat.requests if is_summary(messages)]
    assert len(summaries) > 2
    assert "The summary so far" in summaries[-1][1].text


@pytest.mark.parametrize("answer", ["", ChatError("500"), RuntimeError("boom")])
def test_a_summary_that_fails_leaves_the_context_as_it_is(live: LiveIn, answer: Any) -> None:
    _, life = talked(live, lambda messages: "NO_REPLY" if is_flush(messages) else answer, **SMALL)
    before = life.keeping.context()
    with pytest.raises(ChatError):
        life.compact()
    assert life.keeping.context() == before
    began = life.before_turn("word " * 1_300)
    assert began.compacted == "failed"
    assert "could not be summarised" in began.notices[-1]
    assert began.messages[-1].text.startswith("word")


def test_an_overflow_is_recovered_once_a_turn(live: LiveIn, notes: Path) -> None:
    _, life = talked(live)
    error = ContextOverflow("too long")
    life.before_turn("the last straw")
    recovered = life.overflowed(error)
    assert (recovered.compacted, recovered.flush.done) == ("yes", True)
    assert recovered.messages[-1].text == "the last straw"
    with pytest.raises(ContextOverflow):
        life.overflowed(error)
    life.after_turn(said("done"))
    with pytest.raises(ContextOverflow):
        life.overflowed(error)
    assert store_count(life) == 1


@pytest.mark.parametrize("mode", ["async", "await", "off"])
@pytest.mark.parametrize("force", [True, False])
def test_the_session_is_indexed_after_its_compaction_as_configured(
    live: LiveIn, mode: str, force: bool
) -> None:
    settings = {
        "compaction": {"postIndexSync": mode},
        "memorySearch": {"sync": {"sessions": {"postCompactionForce": force}}},
    }
    _, life = talked(live, **settings)
    indexed: list[tuple[str, bool, str]] = []
    around = life.keeping.around
    from msgspec.structs import replace

    life.keeping.around = replace(
        around, index=lambda key, forced: indexed.append((key, forced, threading.current_thread().name))
    )
    life.compact()
    if mode == "await":
        assert indexed
    life.close()
    assert [(key, forced) for key, forced, _ in indexed] == (
        [] if mode == "off" else [("agent:main:main", force)]
    )
    assert {name for *_, name in indexed} <= {"MainThread", "memlane-session-index"}
    assert all((name == "MainThread") == (mode == "await") for *_, name in indexed)


def test_after_a_compaction_what_was_said_is_found(notes: Path, tmp_path: Path) -> None:
    from memlane import Memory

    search = {"provider": "none", "sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    defaults = {"workspace": str(notes), "memorySearch": search, "compaction": {"postIndexSync": "await"}}
    state = tmp_path / "state"
    state.mkdir()
    (state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": defaults}}))
    with Memory.open(state_dir=state, environ={}) as memory, memory.life(model=ScriptedChat(keeper)) as life:
        memory.sync()
        for text in ("the zebra escaped", "and came back"):
            life.before_turn(text)
            life.after_turn(said("I see"))
        assert life.compact().compacted == "yes"
        found = memory.search("zebra", sync=False, source="sessions")
    assert [hit.path for hit in found.hits] == [f"sessions/{life.transcript.name}"]
    assert "Summarise" not in found.hits[0].snippet


def test_an_agent_that_compacts_by_itself_raises_the_count(live: LiveIn) -> None:
    _, life = talked(live)
    assert life.before_compaction().done
    life.after_compaction("its own summary", kept=2)
    assert store_count(life) == 1
    assert [message.text for message in life.keeping.conversation.messages] == ["fact-3", "yes"]
    with pytest.raises(UsageError, match="kept must lie between 0 and 2, not 3"):
        life.after_compaction("x", kept=3)


def test_a_message_of_the_user_is_no_result_of_a_turn(live: LiveIn) -> None:
    life = live(None)
    with pytest.raises(UsageError, match="not messages of: user"):
        life.after_turn([Message("user", "x")])


# ---- failures -----------------------------------------------------------------------------------------


def failing(messages: Any) -> Any:
    return ChatError("500") if is_flush(messages) else keeper(messages)


def test_a_failing_flush_never_keeps_the_user_from_an_answer(
    live: LiveIn, store: Callable[[], dict[str, Any]], observer: RecordingObserver, tmp_path: Path
) -> None:
    settings = {
        "contextTokens": 6_000,
        "compaction": {"reserveTokensFloor": 500, "memoryFlush": {"softThresholdTokens": 4_000}},
    }
    chat = ScriptedChat(failing)
    life = live(chat, **settings)
    turn(life, chat, "fact-0 " + "word " * 2_400)
    reasons, notices = [], []
    for number in range(1, 6):
        began = turn(life, chat, f"fact-{number}")
        reasons.append(began.flush.decision.reason)
        notices += began.notices
    assert reasons == ["tokens", "tokens", "tokens", "failed", "failed"]
    assert len(notices) == 1
    assert "Memory could not be written (500). What was said is kept in" in notices[0]
    assert store()["memoryFlushFailures"] == 3
    assert "memoryFlushAt" not in store()
    (file,) = (tmp_path / "state/memory/unsaved/main").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert str(file) in notices[0]
    assert "fact-2" in file.read_text()


def test_what_was_not_saved_is_saved_by_the_next_flush(live: LiveIn, notes: Path, tmp_path: Path) -> None:
    _, life = talked(live, failing)
    assert life.new().notice
    assert life.session_start().unsaved == 1
    healthy = live(ScriptedChat(noting_everything))
    healthy.before_turn("fact-9")
    assert healthy.flush().done
    assert sorted(re.findall(r"fact-\d", (notes / LOG).read_text())) == [f"fact-{n}" for n in (0, 1, 2, 3, 9)]
    assert list((tmp_path / "state/memory/unsaved/main").iterdir()) == []


def noting_everything(messages: Any) -> Any:
    if messages[-1].role == "tool":
        return "NO_REPLY"
    facts = re.findall(r"fact-\d", " ".join(message.text for message in messages[1:-1]))
    return ToolCall("1", "memory_write", {"text": "\n".join(f"- {fact}" for fact in facts)})


def test_what_fails_again_waits_on(live: LiveIn, tmp_path: Path) -> None:
    _, life = talked(live, failing)
    life.new()
    life.before_turn("more")
    life.flush()
    assert len(life.keeping.unsaved.waiting()) == 2


def test_a_context_lost_after_a_failure_is_kept_before_it_goes(live: LiveIn) -> None:
    _, life = talked(live, failing, **SMALL)
    began = life.before_turn("word " * 1_300)
    assert began.compacted == "yes"
    assert "is kept in" in began.notices[0]
    (piece,) = life.keeping.unsaved.waiting()
    assert "fact-0" in piece.text
    assert piece.transcript == str(life.transcript)


def test_without_a_model_what_would_be_lost_is_kept(live: LiveIn) -> None:
    life = live(None)
    life.before_turn("fact-0")
    report = life.new()
    assert "there is no chat model to ask" in report.notice
    assert "fact-0" in life.keeping.unsaved.waiting()[0].text


def test_secrets_are_masked_in_what_is_kept(live: LiveIn) -> None:
    life = live(None)
    life.before_turn("the key is sk-TESTabcdefghijklmnopqrstuvwxyz0123456789")
    life.new()
    assert "abcdefghijklmnop" not in life.keeping.unsaved.waiting()[0].text


def test_what_was_left_has_room_of_its_own(live: LiveIn, notes: Path) -> None:
    _, life = talked(live, failing)
    life.new()
    filling = "\n".join(f"- filling {number} {'x' * 90}" for number in range(400))

    def full_then_facts(messages: Any) -> Any:
        if messages[-1].role == "tool":
            return "NO_REPLY"
        earlier = "<conversation>" in str(messages)
        return (
            ToolCall("1", "memory_write", {"text": "- fact-3"})
            if earlier
            else ToolCall("1", "memory_write", {"text": filling})
        )

    healthy = live(ScriptedChat(full_then_facts))
    healthy.before_turn("hello")
    healthy.flush()
    assert (notes / LOG).read_text().endswith("fact-3\n")


@pytest.mark.parametrize(
    "text", ["\ud800 half", "👨‍👩‍👧‍👦" * 50, "한국어 \x00 中文", "a\r\nb\u2028c", "", " "]
)
def test_odd_texts_come_back_from_disk(live: LiveIn, text: str) -> None:
    life = live(None)
    life.before_turn(text)
    life.after_turn(
        [Message("assistant", text, (ToolCall("1", "t", {"x": text}),)), Message("tool", text, call_id="1")]
    )
    shown = live(None).session_start().messages
    whole = text.encode("utf-8", "replace").decode()
    assert [message.text for message in shown] == [whole] * 3
    assert shown[1].calls[0].arguments == {"x": whole}
    life.new()


def test_a_state_folder_that_is_no_folder_keeps_nobody_from_an_answer(live: LiveIn, tmp_path: Path) -> None:
    life = live(ScriptedChat(keeper), **SMALL)
    (tmp_path / "state/memory").write_text("in the way")
    life.before_turn("fact-0 " + "word " * 1_000)
    life.after_turn(said("yes"))
    began = life.before_turn("more")
    assert began.flush.failure
    assert began.messages[-1].text == "more"
    assert "could not be kept" in life.compact().notices[0]


def test_a_damaged_piece_stops_nothing(live: LiveIn, tmp_path: Path) -> None:
    folder = tmp_path / "state/memory/unsaved/main"
    folder.mkdir(parents=True)
    for name, content in {"a": b"\xff", "b": b"[]", "c": b"{}", "d": b'{"session": 1}'}.items():
        (folder / f"{name}.json").write_bytes(content)
    _, life = talked(live)
    assert life.flush().done
