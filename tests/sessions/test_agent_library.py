"""A model of the agent library over real sockets: what is sent, what comes, and every way of failing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.loopback.chat_api import KEY, ChatServer, Cut, Failed, Said, Think, served

from memlane import ChatError, ContextOverflow, Memory
from memlane.sessions.agent_library import NO_ANSWER, LibraryChat, StopSign
from memlane.sessions.chat import Message, TextPiece, ToolCall, Usage
from memlane.sessions.models import ModelChoice, make

NOW = {"retry-after-ms": "1"}


@pytest.fixture
def memory(tmp_path: Path, notes: Path) -> Iterator[Memory]:
    with Memory.open(workspace=notes, state_dir=tmp_path, environ={}) as memory:
        yield memory


@contextmanager
def asked(
    memory: Memory, think: Think, *, key: str | None = None
) -> Iterator[tuple[LibraryChat, ChatServer]]:
    server = ChatServer(think, key=key)
    with served(server) as url:
        choice = ModelChoice("small", base_url=url, key=key, headers={"x-team": "blue"})
        model, close = make(choice, memory.settings)
        try:
            yield model, server
        finally:
            close()


def answer(model: Any, *messages: Message, tools: Any = ()) -> list[Any]:
    return list(model.reply(messages or [Message("user", "hello")], tools, timeout=10))


def test_an_answer_comes_in_pieces_and_with_its_usage(memory: Memory) -> None:
    used = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    with asked(memory, lambda _: Said(("Grüß ", "Gott, ", "세계 🌍"), usage=used)) as (model, _):
        assert answer(model) == [
            TextPiece("Grüß "),
            TextPiece("Gott, "),
            TextPiece("세계 🌍"),
            Usage(input=36, output=7, cached=64),
        ]


def test_a_conversation_is_sent_as_it_was(memory: Memory) -> None:
    call = ToolCall("call-1", "memory_search", {"query": "tea"})
    said = (
        Message("system", "Be brief."),
        Message("user", "What do I drink?"),
        Message("assistant", "", (call,)),
        Message("tool", '{"results": []}', call_id="call-1", name="memory_search"),
        Message("assistant", "", stopped="aborted"),
        Message("user", "Well?"),
    )
    with asked(memory, lambda _: "Tea.") as (model, server):
        answer(model, *said, tools=memory.tools())
    (request,) = server.requests
    assert [message["role"] for message in request["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert request["messages"][2]["tool_calls"][0]["function"]["name"] == "memory_search"
    assert request["messages"][3]["content"] == '{"results": []}'
    assert request["messages"][4]["content"] == NO_ANSWER
    assert {tool["function"]["name"] for tool in request["tools"]} == {
        "memory_search",
        "memory_get",
        "memory_write",
    }
    assert server.headers[0]["x-team"] == "blue"


def test_tools_are_called_with_what_the_model_wrote(memory: Memory) -> None:
    calls = (("memory_search", '{"query": "tea", "maxResults": 2}'), ("memory_get", "{broken"))
    with asked(memory, lambda _: Said(("Let me see.",), calls)) as (model, _):
        found = [event for event in answer(model) if isinstance(event, ToolCall)]
    assert [call.name for call in found] == ["memory_search", "memory_get"]
    assert found[0].arguments == {"query": "tea", "maxResults": 2}
    assert len({call.id for call in found}) == 2
    refused = {tool.name: tool for tool in memory.tools()}["memory_get"](found[1].arguments)
    assert "error" in refused


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (Failed(401, "no"), ChatError, "the key was refused (HTTP 401: no (error))"),
        (Failed(404, "no model", "model_not_found"), ChatError, "there is no such model or address"),
        (Failed(429, "slow down", "rate_limit_exceeded", NOW), ChatError, "too many requests"),
        (Failed(429, "pay", "insufficient_quota", NOW), ChatError, "the account's quota is used up"),
        (Failed(500, "oh", headers=NOW), ChatError, "the server failed (HTTP 500: oh (error))"),
        (Failed(503, "busy", headers=NOW), ChatError, "it is not available now"),
        (Failed(400, "what?"), ChatError, "HTTP 400: what? (error)"),
        (Failed(429, "the context size limit is exceeded", headers=NOW), ChatError, "too many requests"),
        (Failed(400, "m", "context_length_exceeded"), ContextOverflow, "context_length_exceeded"),
        (
            Failed(400, "This model's maximum context length is 2048 tokens"),
            ContextOverflow,
            "maximum context length",
        ),
        (
            Failed(400, "the request exceeds the available context size", "exceed_context_size_error"),
            ContextOverflow,
            "exceeds the available context size",
        ),
        (
            Failed(500, "Requested tokens (2301) exceed context window of 2048", headers=NOW),
            ContextOverflow,
            "exceed context window",
        ),
        (Failed(400, "prompt is too long: 9 tokens > 8 maximum"), ContextOverflow, "prompt is too long"),
        (Cut(("half an ",)), ChatError, "ended without"),
        (Cut(("half an ",), quietly=True), ChatError, "ended without"),
    ],
)
def test_every_failure_is_told(memory: Memory, fault: Any, kind: type[ChatError], words: str) -> None:
    with (
        asked(memory, lambda _: fault) as (model, _),
        pytest.raises(ChatError) as caught,
    ):
        answer(model)
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_a_refused_key_is_not_shown(memory: Memory) -> None:
    with asked(memory, lambda _: "never", key=KEY) as (model, server):
        server.key = "another"
        with pytest.raises(ChatError, match="the key was refused") as caught:
            answer(model)
    assert KEY not in str(caught.value)
    assert "[masked]" in str(caught.value)
    assert KEY not in repr(caught.value)


def test_no_server_is_told(memory: Memory) -> None:
    model, close = make(ModelChoice("small", base_url="http://127.0.0.1:9/v1"), memory.settings)
    with pytest.raises(ChatError, match="the connection failed") as caught:
        answer(model)
    close()
    assert caught.value.hint == "check the address and whether it runs"


def test_no_key_of_another_server_is_sent(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with asked(memory, lambda _: "hello") as (model, server):
        answer(model)
    assert KEY not in str(server.headers)


def test_a_sign_ends_an_answer_that_waits(memory: Memory) -> None:
    server, stop = ChatServer(lambda _: Said(("one ", "\0", "two"))), StopSign()
    with served(server) as url:
        model, close = make(ModelChoice("small", base_url=url), memory.settings, stop=stop)
        stopper = Thread(target=lambda: (server.waiting.wait(30), stop.set()))
        stopper.start()
        heard = []
        with pytest.raises(ChatError, match="stopped on request"):
            heard += model.reply([Message("user", "count")], (), timeout=30)
        stopper.join()
        with pytest.raises(ChatError, match="stopped on request"):
            answer(model)
        stop.clear()
        server.held.set()
        assert TextPiece("two") in answer(model)
        close()


def test_an_answer_may_be_left_in_the_middle(memory: Memory) -> None:
    with asked(memory, lambda _: Said(("one ", "\0", "two"))) as (model, _):
        stream = model.reply([Message("user", "count")], (), timeout=30)
        assert next(stream) == TextPiece("one ")
        stream.close()


def test_what_is_under_way_ends_when_the_model_is_closed(memory: Memory) -> None:
    with asked(memory, lambda _: Said(("one ", "\0", "two"))) as (model, server):
        stream = model.reply([Message("user", "count")], (), timeout=30)
        assert next(stream) == TextPiece("one ")
        assert server.waiting.wait(30)
        model.close()
        stream.close()
