"""One turn of a model with tools, within bounds: it ends whatever the model does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..clock import Clock
from ..errors import ChatError, MemlaneError
from ..values import Value
from .chat import ChatModel, ChatTool, Message, TextPiece, ToolCall, Usage


class Bounds(Value, frozen=True):
    """How much one turn may take."""

    requests: int = 8
    calls: int = 32
    characters: int = 20_000
    """Of one answer."""
    seconds: float = 120.0


class Exchange(Value, frozen=True):
    """What came of a turn."""

    messages: tuple[Message, ...]
    """What was added to the conversation: answers, and the tools' answers."""
    text: str
    """The last answer."""
    usage: Usage | None
    ended: Literal["answered", "requests", "calls", "characters", "time"]
    """By an answer without a tool call, or by one of the bounds."""


def exchange(
    model: ChatModel,
    messages: Sequence[Message],
    tools: Sequence[ChatTool],
    *,
    clock: Clock,
    bounds: Bounds = Bounds(),  # noqa: B008 - immutable
) -> Exchange:
    """Let the model answer `messages`, calling `tools` as often as it asks for them.

    Raises what the model raises (ChatError); tools answer errors themselves.
    """
    end = clock.monotonic() + bounds.seconds
    by_name = {tool.name: tool for tool in tools}
    added: list[Message] = []
    calls, usage = 0, None
    for _ in range(bounds.requests):
        left = end - clock.monotonic()
        if left <= 0:
            return Exchange(tuple(added), "", usage, "time")
        answer, told, cut = _answer(model, [*messages, *added], tools, clock=clock, end=end, bounds=bounds)
        usage = told or usage
        if cut:
            return Exchange(tuple(added), answer.text, usage, cut)
        added.append(answer)
        if not answer.calls:
            return Exchange(tuple(added), answer.text, usage, "answered")
        calls += len(answer.calls)
        if calls > bounds.calls:
            return Exchange(tuple(added[:-1]), answer.text, usage, "calls")
        added += [answered(call, by_name) for call in answer.calls]
    return Exchange(tuple(added), "", usage, "requests")


def _answer(
    model: ChatModel,
    messages: Sequence[Message],
    tools: Sequence[ChatTool],
    *,
    clock: Clock,
    end: float,
    bounds: Bounds,
) -> tuple[Message, Usage | None, Literal["characters", "time"] | None]:
    """One message of the model, its usage, and the bound that it ran into."""
    pieces: list[str] = []
    calls: list[ToolCall] = []
    usage, length = None, 0
    cut: Literal["characters", "time"] | None = None
    stream = model.reply(messages, tools, timeout=max(0.1, end - clock.monotonic()))
    try:
        for event in stream:
            if isinstance(event, TextPiece):
                pieces.append(event.text)
                length += len(event.text)
            elif isinstance(event, ToolCall):
                calls.append(event)
            else:
                usage = event
            if length > bounds.characters or len(calls) > bounds.calls:
                cut = "characters"
            elif clock.monotonic() > end:
                cut = "time"
            if cut:
                break
    except MemlaneError:
        raise
    except Exception as error:
        raise ChatError(f"{model.name} failed: {type(error).__name__}: {error}") from error
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()
    return Message("assistant", "".join(pieces), tuple(calls)), usage, cut


def answered(call: ToolCall, tools: Mapping[str, ChatTool]) -> Message:
    """A tool's answer as a message, in JSON; one for a tool that there is not, too."""
    tool = tools.get(call.name)
    answer: dict[str, Any]
    if tool is None:
        answer = {"error": f"there is no tool {call.name!r}; there are {', '.join(tools) or 'none'}"}
    else:
        answer = tool(call.arguments)
    return Message("tool", json.dumps(answer, ensure_ascii=False), call_id=call.id, name=call.name)
