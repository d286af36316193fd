"""One flush: what the model is told, what its writing does, and all the ways it can go wrong."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from tests.sessions.lives import LiveIn, MovableClock, entries

from memlane.errors import ChatError, ContextOverflow
from memlane.sessions.chat import Message, TextPiece, ToolCall, Usage
from memlane.sessions.prompts import APPEND_RULE, SILENCE_RULE, flush_text
from memlane.testing import ScriptedChat

LOG = "memory/2026-02-10.md"
TEN_LINES = "# 2026-02-10\n\n" + "".join(f"- 08:0{number} fact {number}\n" for number in range(8))


def write(text: str, path: str | None = None, **more: str) -> ToolCall:
    return ToolCall("1", "memory_write", {"text": text, **({"path": path} if path else {}), **more})


def flushed(live: LiveIn, *steps: object, **defaults: object):
    """A life with one turn behind it, flushed by a script."""
    chat = ScriptedChat(*steps)  # type: ignore[arg-type]
    life = live(chat, **defaults)
    life.before_turn("remember the milk")
    life.after_turn([Message("assistant", "I will")])
    return chat, life, life.flush()


# ---- what the model is told ---------------------------------------------------------------------------


def test_it_is_asked_on_a_copy_of_the_context_with_the_date_filled_in(live: LiveIn) -> None:
    chat, life, report = flushed(live, "NO_REPLY", system="You are kind.")
    ((messages, tools),) = chat.requests
    assert messages[0].role == "system"
    assert messages[0].text.startswith(
        "You are kind.\n\nSession nearing compaction. Store durable memories now."
    )
    assert [message.text for message in messages[1:3]] == ["remember the milk", "I will"]
    assert messages[-1].text.startswith(
        "Write any lasting notes to memory/2026-02-10.md; reply with NO_REPLY"
    )
    assert APPEND_RULE in messages[-1].text
    assert tools == ("memory_search", "memory_get", "memory_write")
    assert (report.done, report.reply) == (True, "")
    said = [entry["message"]["role"] for entry in entries(life) if entry["type"] == "message"]
    assert said == ["user", "assistant"]


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("Save.", [APPEND_RULE, SILENCE_RULE]),
        ("Append what lasts.", [SILENCE_RULE]),
        ("Save, or no_reply.", [APPEND_RULE]),
        ("Append or NO_REPLY", []),
    ],
)
def test_the_rules_that_a_custom_text_lacks_are_added(
    hands: MovableClock, text: str, added: list[str]
) -> None:
    assert flush_text(text, hands.today()).split("\n") == [text, *added]


def test_custom_texts_are_used(live: LiveIn) -> None:
    own = {"memoryFlush": {"systemPrompt": "Own system YYYY-MM-DD", "prompt": "Own prompt"}}
    chat, _, _ = flushed(live, "NO_REPLY", compaction=own)
    ((messages, _),) = chat.requests
    assert "Own system 2026-02-10" in messages[0].text
    assert messages[-1].text == f"Own prompt\n{APPEND_RULE}\n{SILENCE_RULE}"


def test_a_model_of_its_own_is_asked_where_the_host_has_one(live: LiveIn) -> None:
    other = ScriptedChat(write("- tea"), "NO_REPLY")
    named: list[str] = []

    def model_named(name: str) -> ScriptedChat:
        named.append(name)
        return other

    settings = {"memoryFlush": {"model": "small"}}
    chat, _, report = flushed(live, "NO_REPLY", compaction=settings, model_named=model_named)
    assert (named, chat.requests, len(other.requests), report.blocks) == (["small"], [], 2, 1)


def test_a_model_that_the_host_does_not_have_is_named(live: LiveIn, observer) -> None:
    flushed(live, "NO_REPLY", compaction={"memoryFlush": {"model": "small"}})
    assert observer.warnings == [
        'compaction.memoryFlush.model "small" is not used: this host offers no other model'
    ]


# ---- what it writes -----------------------------------------------------------------------------------


def test_a_whole_file_written_anew_adds_only_what_is_new(live: LiveIn, notes: Path) -> None:
    (notes / LOG).write_text(TEN_LINES)
    chat, _, report = flushed(live, write("- a\n- b\n- c", LOG), "NO_REPLY")
    text = (notes / LOG).read_text()
    assert text == TEN_LINES + "- 12:00 a\n- 12:00 b\n- 12:00 c\n"
    assert len(text.splitlines()) == 13
    assert report.blocks == 3
    assert json.loads(chat.requests[1][0][-1].text) == {"path": LOG, "added": 3}


def test_what_stands_there_is_not_repeated(live: LiveIn, notes: Path) -> None:
    (notes / LOG).write_text(TEN_LINES)
    chat, _, report = flushed(live, write(f"{TEN_LINES}- new\n", LOG), write("- new"), "NO_REPLY")
    assert (notes / LOG).read_text() == f"{TEN_LINES}- 12:00 new\n"
    assert report.blocks == 1
    assert json.loads(chat.requests[1][0][-1].text)["alreadyThere"] == 8


@pytest.mark.parametrize(
    "path",
    ["memory/2026-02-09.md", "memory/2025-01-01.md", "MEMORY.md", "../../etc/passwd", "memory/projects/x.md"],
)
def test_a_write_to_another_note_goes_to_todays_log(live: LiveIn, notes: Path, path: str) -> None:
    (notes / "MEMORY.md").write_text("- lasting\n")
    chat, _, _ = flushed(live, write("- tea", path), "NO_REPLY")
    assert (notes / LOG).read_text() == "# 2026-02-10\n\n- 12:00 tea\n"
    assert (notes / "MEMORY.md").read_text() == "- lasting\n"
    assert not (notes / path).exists() or path == "MEMORY.md"
    assert "today's log alone" in json.loads(chat.requests[1][0][-1].text)["note"]


def test_another_note_rewritten_whole_is_not_copied_into_the_log(live: LiveIn, notes: Path) -> None:
    (notes / "memory/2026-02-01.md").write_text("# 2026-02-01\n\n- 09:00 old\n")
    flushed(live, write("# 2026-02-01\n\n- old\n- new", "memory/2026-02-01.md"), "NO_REPLY")
    assert (notes / LOG).read_text() == "# 2026-02-10\n\n- 12:00 new\n"


def test_midnight_loses_and_repeats_nothing(live: LiveIn, notes: Path, hands: MovableClock) -> None:
    hands.pass_time(hours=11, minutes=59)
    (notes / LOG).write_text(TEN_LINES)

    def after_midnight(_: object) -> ToolCall:
        hands.pass_time(minutes=1, seconds=1)
        return write(f"{TEN_LINES}- late\n", LOG)

    _, _, report = flushed(live, write("- before"), after_midnight, "NO_REPLY")
    assert (notes / LOG).read_text() == f"{TEN_LINES}- 23:59 before\n"
    assert (notes / "memory/2026-02-11.md").read_text() == "# 2026-02-11\n\n- 00:00 late\n"
    assert (report.done, report.blocks) == (True, 2)


@pytest.mark.parametrize(
    ("zone", "moment", "day"),
    [
        ("Asia/Shanghai", "2026-04-11T19:53:00+00:00", "2026-04-12"),
        ("America/Denver", "2026-03-15T01:17:00+00:00", "2026-03-14"),
    ],
)
def test_the_day_is_that_of_the_users_zone(
    live: LiveIn, notes: Path, hands: MovableClock, zone: str, moment: str, day: str
) -> None:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    hands.moment = datetime.fromisoformat(moment).astimezone(ZoneInfo(zone))
    chat, _, _ = flushed(live, write("- tea"), "NO_REPLY")
    assert f"memory/{day}.md" in chat.requests[0][0][-1].text
    assert (notes / f"memory/{day}.md").exists()


def test_line_endings_and_old_bytes_are_kept(live: LiveIn, notes: Path) -> None:
    (notes / LOG).write_bytes(b"\xef\xbb\xbf# x\r\n\r\n- old")
    flushed(live, write("- new\n- old"), "NO_REPLY")
    assert (notes / LOG).read_bytes() == b"\xef\xbb\xbf# x\r\n\r\n- old\r\n- 12:00 new\r\n"


def test_a_log_that_is_copied_rather_than_noted_is_cut(live: LiveIn, notes: Path) -> None:
    many = "\n".join(f"- item {number} {'x' * 90}" for number in range(400))
    chat, _, report = flushed(live, write(many), "NO_REPLY")
    answer = json.loads(chat.requests[1][0][-1].text)
    assert (notes / LOG).stat().st_size < 16_100
    assert answer["added"] + answer["leftOut"] == 400
    assert report.done


@pytest.mark.parametrize("arguments", [{}, {"text": ""}, {"text": 5}, {"text": None, "path": 7}])
def test_a_write_without_text_is_told_so(live: LiveIn, notes: Path, arguments: dict[str, object]) -> None:
    chat, _, _ = flushed(live, ToolCall("1", "memory_write", arguments), "NO_REPLY")
    assert "nothing to write" in chat.requests[1][0][-1].text
    assert not (notes / LOG).exists()


def test_a_shared_session_reads_no_private_note(live: LiveIn, notes: Path) -> None:
    (notes / "MEMORY.md").write_text("the safe is 1234\n")
    chat = ScriptedChat(
        ToolCall("1", "memory_get", {"path": "MEMORY.md"}), write("- x", "MEMORY.md"), "NO_REPLY"
    )
    life = live(chat, session="agent:main:discord:group:42")
    life.before_turn("hello")
    assert life.flush().done
    assert all("1234" not in message.text for messages, _ in chat.requests for message in messages)


@pytest.mark.parametrize(
    "reply", ["NO_REPLY", " no_reply.", "**NO_REPLY**", [TextPiece("NO_"), TextPiece("REPLY")]]
)
def test_a_silent_reply_reaches_nobody(live: LiveIn, reply: object) -> None:
    assert flushed(live, reply)[2].reply == ""


def test_a_real_reply_is_handed_to_the_host(live: LiveIn) -> None:
    _, life, report = flushed(live, "I wrote it down; NO_REPLY would have been enough.")
    assert report.reply == "I wrote it down; NO_REPLY would have been enough."
    assert "wrote" not in life.transcript.read_text()


# ---- what goes wrong ----------------------------------------------------------------------------------


def endless(_: object):
    while True:
        yield "on and on "


@pytest.mark.parametrize(
    ("step", "bound"),
    [
        (endless, "characters"),
        (ToolCall("1", "memory_search", {"query": "tea"}), "requests"),
        ([ToolCall(str(number), "nothing", {}) for number in range(40)], "characters"),
    ],
)
def test_a_model_that_comes_to_no_end_is_stopped(live: LiveIn, step: object, bound: str) -> None:
    chat, _, report = flushed(live, step)
    assert not report.done
    assert report.failure == f"scripted came to no end: its turn was stopped by the bound on {bound}"
    assert len(chat.requests) <= 8


def test_time_is_bounded(live: LiveIn, hands: MovableClock) -> None:
    def slow(_: object):
        while True:
            hands.pass_time(seconds=10)
            yield "."

    assert "bound on time" in flushed(live, slow)[2].failure


def test_what_was_written_before_a_loop_counts(live: LiveIn, notes: Path) -> None:
    _, _, report = flushed(live, write("- tea"), ToolCall("1", "memory_get", {"path": LOG}))
    assert report.done
    assert (notes / LOG).read_text().endswith("- 12:00 tea\n")


def test_the_answers_of_tools_tell_of_tools_that_are_not_there(live: LiveIn) -> None:
    chat, _, report = flushed(live, ToolCall("1", "shell", {"command": "rm"}), "NO_REPLY")
    assert report.done
    assert "there is no tool 'shell'" in chat.requests[1][0][-1].text


@pytest.mark.parametrize("access", ["ro", "none"])
def test_a_workspace_that_may_not_be_written_is_skipped(live: LiveIn, access: str) -> None:
    chat, _, report = flushed(live, "NO_REPLY", sandbox={"workspaceAccess": access})
    assert (report.decision.reason, report.done, chat.requests) == ("not-writable", False, [])


def test_what_the_disk_refuses_is_kept_for_the_next_one(live: LiveIn, notes: Path, observer) -> None:
    (notes / LOG).mkdir()
    _, life, report = flushed(live, write("- tea"), "NO_REPLY")
    assert "a folder stands where a file should be" in report.failure
    assert report.notice in observer.warnings
    (piece,) = life.keeping.unsaved.waiting()
    assert "remember the milk" in piece.text


def test_a_context_that_overflows_is_flushed_in_parts(live: LiveIn, notes: Path) -> None:
    chat = ScriptedChat(
        lambda messages: (
            write("- the planted fact")
            if "planted" in str(messages[1:-1]) and messages[-1].role == "user"
            else "NO_REPLY"
        ),
        context_tokens=4_000,
    )
    life = live(chat)
    life.before_turn(f"planted {'x' * 40_000}")
    report = life.flush()
    assert report.done, report.failure
    assert (notes / LOG).read_text() == "# 2026-02-10\n\n- 12:00 the planted fact\n"


def test_two_at_once_run_once(live: LiveIn, notes: Path) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(_: object) -> ToolCall:
        inside.set()
        assert go_on.wait(20)
        return write("- tea")

    first_chat, second_chat = ScriptedChat(slow, "NO_REPLY"), ScriptedChat(write("- tea again"), "NO_REPLY")
    first = live(first_chat)
    first.before_turn("remember tea")
    second = live(second_chat)
    second.session_start()
    reports = {}
    threads = [
        threading.Thread(target=lambda: reports.update(first=first.flush())),
        threading.Thread(target=lambda: reports.update(second=second.flush())),
    ]
    threads[0].start()
    assert inside.wait(20)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert reports["first"].done
    assert reports["second"].decision.reason == "flushed"
    assert second_chat.requests == []
    assert (notes / LOG).read_text() == "# 2026-02-10\n\n- 12:00 tea\n"


@pytest.mark.parametrize(
    "error", [ChatError("500 Internal Server Error"), RuntimeError("boom"), ContextOverflow("too long")]
)
def test_an_error_of_the_model_is_part_of_the_report(live: LiveIn, error: Exception) -> None:
    _, _, report = flushed(live, error)
    assert not report.done
    assert str(error) in report.failure


def test_usage_is_not_the_sessions(live: LiveIn, store) -> None:
    flushed(live, [Usage(99_999, 1), "NO_REPLY"])
    assert store()["totalTokens"] < 1_000
