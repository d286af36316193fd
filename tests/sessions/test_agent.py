"""The agent's turns: hundreds over several compactions, and every way in which one can end."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from tests.sessions.lives import LiveIn, entries

from memlane import ChatError, ContextOverflow
from memlane.clock import SystemClock
from memlane.sessions.agent import Agent, Notice
from memlane.sessions.agent_library import LibraryChat
from memlane.sessions.chat import TextPiece, ToolCall, Usage
from memlane.sessions.exchange import Bounds
from memlane.testing import ScriptedChat

SMALL = {
    "contextTokens": 3_000,
    "compaction": {
        "reserveTokensFloor": 600,
        "postIndexSync": "off",
        "memoryFlush": {"softThresholdTokens": 400},
    },
}
FACT = re.compile(r"The \w+ is \w+\d\.")


def spoken(messages: list[ModelMessage]) -> list[Any]:
    return [part for message in messages for part in message.parts]


def words_of(part: Any) -> str:
    return part.content if isinstance(getattr(part, "content", None), str) else ""


async def thinking(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
    """A model that keeps facts when it is asked to, summarises, and answers."""
    parts = spoken(messages)
    first, last = words_of(parts[0]), parts[-1]
    if "summarise conversations" in first:
        yield "They spoke of colours."
    elif "nearing compaction" in first:
        if isinstance(last, ToolReturnPart):
            yield "NO_"
            yield "REPLY"
            return
        facts = [
            fact
            for part in parts
            if isinstance(part, UserPromptPart)
            for fact in FACT.findall(words_of(part))
        ]
        call = json.dumps({"text": "\n".join(f"- {fact}" for fact in facts) or "- nothing"})
        yield {0: DeltaToolCall(name="memory_write", json_args=call[:9], tool_call_id="w")}
        yield {0: DeltaToolCall(json_args=call[9:])}
    elif isinstance(last, ToolReturnPart):
        yield "I looked it up."
    elif "look" in words_of(last):
        yield {0: DeltaToolCall(name="memory_search", json_args='{"query": "colour"}', tool_call_id="s")}
    else:
        yield "Noted"
        yield "."


@pytest.fixture
def library() -> Iterator[Callable[..., LibraryChat]]:
    made: list[LibraryChat] = []

    def make(model: Any) -> LibraryChat:
        made.append(LibraryChat("scripted", model))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Uncounted:
    """A model without its usage, which the library's doubles make up: 50 tokens for any request."""

    name = "uncounted"
    context_tokens = None

    def __init__(self, model: LibraryChat) -> None:
        self._model = model

    def reply(self, messages: Any, tools: Any, *, timeout: float) -> Iterator[Any]:
        found = self._model.reply(messages, tools, timeout=timeout)
        return (event for event in found if not isinstance(event, Usage))


def deaf(_: object) -> None:
    """Nobody listens."""


def agent_of(live: LiveIn, model: Any, **more: Any) -> Agent:
    options = {name: more.pop(name) for name in ("stopped", "bounds") if name in more}
    return Agent(live(model, **{**SMALL, **more}), model, clock=SystemClock(), **options)


def test_hundreds_of_turns_over_several_compactions(
    live: LiveIn, library: Callable[..., LibraryChat], notes: Any, store: Callable[[], dict[str, Any]]
) -> None:
    agent = agent_of(live, Uncounted(library(FunctionModel(stream_function=thinking))))
    heard: list[Any] = []
    for number in range(240):
        extra = " Please look it up." if number % 10 == 0 else ""
        text = f"The thing{number} is green{number % 10}. {'Some more talk. ' * 8}{extra}"
        assert agent.turn(text, heard.append).ended == "answered"
    entry = store()
    assert entry["compactionCount"] >= 4
    flushes = [one for one in heard if isinstance(one, Notice) and one.text.startswith("memory was written")]
    summaries = [one for one in heard if isinstance(one, Notice) and one.text == "older turns are summarised"]
    assert len(summaries) == entry["compactionCount"]
    assert len(summaries) <= len(flushes) <= len(summaries) + 1
    log = "".join(path.read_text("utf-8") for path in (notes / "memory").glob("*.md"))
    kept = FACT.findall(log)
    assert len(kept) == len(set(kept)) > 180
    said = "".join(one.text for one in heard if isinstance(one, TextPiece))
    transcript = agent.life.transcript.read_text("utf-8")
    for private in ("NO_REPLY", "nearing compaction", "memory_write"):
        assert private not in said
        assert private not in transcript
    assert sum(isinstance(one, ToolCall) for one in heard) == 24


def test_the_librarys_own_test_model_calls_every_tool(
    live: LiveIn, library: Callable[..., LibraryChat]
) -> None:
    agent = agent_of(live, library(TestModel()))
    heard: list[Any] = []
    assert agent.turn("hello", heard.append).ended == "answered"
    calls = {one.name for one in heard if isinstance(one, ToolCall)}
    assert calls == {"memory_search", "memory_get", "memory_write"}


def messages(agent: Agent) -> list[dict[str, Any]]:
    return [entry["message"] for entry in entries(agent.life) if entry["type"] == "message"]


def test_a_silent_answer_is_recorded_and_not_delivered(live: LiveIn) -> None:
    agent = agent_of(live, ScriptedChat("NO_REPLY"))
    heard: list[Any] = []
    answer = agent.turn("psst", heard.append)
    assert (answer.text, answer.ended, heard) == ("", "answered", [])
    assert messages(agent)[-1]["content"] == [{"type": "text", "text": "NO_REPLY"}]


def test_a_stopped_answer_is_kept_as_far_as_it_came(live: LiveIn) -> None:
    heard: list[Any] = []
    agent = agent_of(
        live,
        ScriptedChat(["one ", "two "], "And on."),
        stopped=lambda: len(heard) == 2,
    )
    answer = agent.turn("count", heard.append)
    assert (answer.ended, answer.text) == ("stopped", "one two "[: len(answer.text)])
    last = messages(agent)[-1]
    assert last["stopReason"] == "aborted"
    assert last["content"] == [{"type": "text", "text": answer.text}]
    heard += ["more", "than", "two"]
    assert agent.turn("go on", heard.append).text == "And on."
    resumed = live(None)
    kept = resumed.session_start().messages
    assert [message.stopped for message in kept if message.role == "assistant"] == ["aborted", ""]


def test_a_second_interrupt_in_the_middle_of_anything_is_recorded(live: LiveIn) -> None:
    def step(_: object) -> Any:
        yield "half an "
        raise KeyboardInterrupt

    agent = agent_of(live, ScriptedChat(step))
    with pytest.raises(KeyboardInterrupt):
        agent.turn("tell me", deaf)
    assert messages(agent)[-1]["stopReason"] == "aborted"


def test_what_came_before_a_failure_is_kept(live: LiveIn) -> None:
    search = ToolCall("1", "memory_search", {"query": "tea"})
    agent = agent_of(live, ScriptedChat(search, ChatError("down", hint="wait")))
    answer = agent.turn("tea?", deaf)
    assert (answer.ended, answer.failure, answer.hint) == ("failed", "down", "wait")
    assert [(m["role"], m.get("stopReason")) for m in messages(agent)] == [
        ("user", None),
        ("assistant", None),
        ("toolResult", None),
        ("assistant", "error"),
    ]


def test_an_overflow_is_compacted_and_asked_again(live: LiveIn) -> None:
    steps: list[Any] = ["yes"] * 8
    search = ToolCall("1", "memory_search", {"query": "tea"})

    def late(asked: Any) -> Any:
        if "summarise" in asked[0].text:
            return "a summary"
        if "nearing compaction" in asked[0].text:
            return "NO_REPLY"
        if any("a summary" in message.text for message in asked):
            assert asked[-1].role == "tool"  # what this turn had come to is not lost
            return "after all"
        return ContextOverflow("too long") if asked[-1].role == "tool" else search

    agent = agent_of(live, ScriptedChat(*steps, late, late))
    for number in range(8):
        agent.turn(f"{number} {'words ' * 60}", deaf)
    heard: list[Any] = []
    answer = agent.turn("and now?", heard.append)
    assert (answer.ended, answer.text) == ("answered", "after all")
    assert Notice("the context was full: older turns are summarised") in heard
    assert sum("nearing compaction" in asked[0].text for asked, _ in agent._model.requests) == 1


@pytest.mark.parametrize(
    ("step", "bounds", "ended"),
    [
        (ToolCall("1", "memory_get", {"path": "MEMORY.md"}), Bounds(requests=3), "requests"),
        ([ToolCall(str(n), "memory_get", {"path": "MEMORY.md"}) for n in range(3)], Bounds(calls=4), "calls"),
        ("word " * 1_000, Bounds(characters=100), "characters"),
        ("late", Bounds(seconds=0), "time"),
    ],
)
def test_a_turn_ends_whatever_the_model_does(live: LiveIn, step: Any, bounds: Bounds, ended: str) -> None:
    agent = agent_of(live, ScriptedChat(step), bounds=bounds)
    assert agent.turn("go", deaf).ended == ended
    assert messages(agent)[-1]["stopReason"] == "aborted"
    assert agent.turn("again", deaf).ended == ended


def test_the_last_requests_usage_is_told_and_kept(live: LiveIn, store: Callable[[], dict[str, Any]]) -> None:
    search = ToolCall("1", "memory_search", {"query": "tea"})
    agent = agent_of(live, ScriptedChat([search, Usage(100, 10)], ["Tea.", Usage(200, 20, 50)]))
    assert agent.turn("tea?", deaf).usage == Usage(200, 20, 50)
    assert agent.life.tokens == 270
    assert store()["totalTokens"] == 270


def test_a_message_in_every_script(live: LiveIn) -> None:
    agent = agent_of(live, ScriptedChat("네, 알겠습니다. 好的 👍"))
    assert agent.turn("안녕하세요 \x00 \ud800 你好", deaf).text == "네, 알겠습니다. 好的 👍"
    assert messages(agent)[0]["role"] == "user"
