"""What a chat model is to Memlane: messages and tools in, a stream of text, tool calls and usage out.

Small on purpose, so that any host can drive the life cycle of memory: an agent library, an endpoint, a
script. Adapters translate their library's errors into `ChatError` and `ContextOverflow`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from ..values import Value

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Value, frozen=True):
    """A model asks for a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Message(Value, frozen=True):
    """One message of a conversation."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant: the tools it asks for. Each is answered by a message of role `tool`."""
    call_id: str = ""
    """Of a tool's answer: the id of the call."""
    name: str = ""
    """Of a tool's answer: the tool."""
    stopped: Literal["", "aborted", "error"] = ""
    """Of an assistant: why this is not the whole answer. The user stopped it, or the model failed."""


class TextPiece(Value, frozen=True):
    """A piece of the answer, as it comes."""

    text: str


class Usage(Value, frozen=True):
    """What a request took, in tokens. Several of these in one stream: the last one counts."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Of the input: what was read from, or written to, the provider's cache, where it counts that apart."""

    @property
    def total(self) -> int:
        """What the context holds after the answer."""
        return self.input + self.cached + self.output


Event = TextPiece | ToolCall | Usage


class ChatTool(Protocol):
    """A tool as a model is told of it. `memlane.tools.Tool` is one."""

    @property
    def name(self) -> str:
        """What the model calls it by."""
        ...

    @property
    def description(self) -> str:
        """What the model is told of it."""
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        ...

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a call. Never raises for what a caller or a file can cause."""
        ...


class ChatModel(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """How it is called in what users read."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """The size of its context in tokens; None where it is not known."""
        ...

    def reply(
        self, messages: Sequence[Message], tools: Sequence[ChatTool], *, timeout: float
    ) -> Iterator[Event]:
        """The next message of the assistant, as a stream. Closing the iterator ends the request.

        A system message, where there is one, comes first. The model does not call the tools itself. Where
        nothing arrives for `timeout` seconds it gives up. Raises ChatError, ContextOverflow where the
        messages do not fit.
        """
        ...
