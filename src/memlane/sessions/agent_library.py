"""A chat model of the agent library (pydantic-ai): its messages, its stream, its errors, as Memlane has them.

The library is asynchronous; each model has a thread with an event loop, and a request is one task in it. Only
this module and `models` import the library. Its overflow errors, as of version 2.68, know the words of
OpenAI, vLLM, Groq and OpenRouter; those of llama.cpp and its kin are known here.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ..errors import ChatError, ContextOverflow
from .chat import ChatTool, Event, Message, TextPiece, ToolCall, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse, ModelResponsePart
    from pydantic_ai.models import Model, ModelRequestParameters

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length"
    r"|exceeds?\b.{0,60}\bcontext|context.{0,60}\bexceeded|(?:prompt|input) is too long",
    re.IGNORECASE | re.DOTALL,
)
_TOO_MANY_REQUESTS = 429
_LONGEST_REASON = 300
NO_ANSWER = "(no answer)"
"""In place of an answer that was stopped before its first word: some servers refuse an empty one."""


class StopSign:
    """Tells requests that are under way to end. Set from a signal's handler, or from another thread."""

    def __init__(self) -> None:
        self.is_set = False
        self._under_way: set[Future[None]] = set()

    def set(self) -> None:
        """End what is under way, and whatever is asked before `clear`."""
        self.is_set = True
        for request in tuple(self._under_way):
            request.cancel()

    def clear(self) -> None:
        """Requests may be made again."""
        self.is_set = False

    def watch(self, request: Future[None]) -> None:
        """Have a request ended by the sign, until it is done."""
        self._under_way.add(request)
        request.add_done_callback(self._under_way.discard)
        if self.is_set:
            request.cancel()


class LibraryChat:
    """A `ChatModel` over a model of the agent library. Closed by `close`."""

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        context_tokens: int | None = None,
        stop: StopSign | None = None,
        masked: Callable[[str], str] = str,
    ) -> None:
        """`masked` takes secrets out of error messages."""
        self.name = name
        self.context_tokens = context_tokens
        self._model = model
        self._stop = stop or StopSign()
        self._masked = masked
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def reply(
        self, messages: Sequence[Message], tools: Sequence[ChatTool], *, timeout: float
    ) -> Iterator[Event]:
        """The next answer, as a stream. Raises ChatError, ContextOverflow."""
        if self._stop.is_set:
            raise ChatError("stopped on request")
        events: SimpleQueue[Event | None] = SimpleQueue()
        work = self._request(messages, tools, timeout, events.put)
        request = asyncio.run_coroutine_threadsafe(work, self._started())
        request.add_done_callback(lambda _: events.put(None))
        self._stop.watch(request)
        try:
            while (event := events.get()) is not None:
                yield event
            if request.cancelled():
                raise ChatError("stopped on request")
            if failure := request.exception():
                raise self._translated(failure) from failure
        finally:
            request.cancel()

    def close(self) -> None:
        """End what is under way and let go of the connections."""
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._let_go(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    async def _let_go(self) -> None:
        """End all requests, and close the client where the model has one that can be closed."""
        requests = asyncio.all_tasks() - {asyncio.current_task()}
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_asyncgens()
        close = getattr(getattr(self._model, "client", None), "close", None)
        if close is not None:
            with suppress(Exception):
                await close()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="memlane-chat", daemon=True)
            self._thread.start()
        return self._loop

    async def _request(
        self,
        messages: Sequence[Message],
        tools: Sequence[ChatTool],
        timeout: float,
        tell: Callable[[Event], None],
    ) -> None:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
        from pydantic_ai.settings import ModelSettings

        async with model_request_stream(
            self._model,
            as_library(messages),
            model_settings=ModelSettings(timeout=timeout),
            model_request_parameters=_parameters(tools),
        ) as stream:
            async for event in stream:
                piece = ""
                if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                    piece = event.part.content
                elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                    piece = event.delta.content_delta
                if piece:
                    tell(TextPiece(piece))
        for told in _told(stream.get()):
            tell(told)

    def _translated(self, failure: BaseException) -> ChatError:
        if isinstance(failure, ChatError):
            return failure
        kind, said, hint = _reason(failure)
        return kind(self._masked(f"{self.name}: {said}"), hint=hint)


# ---- messages ----------------------------------------------------------------------------------------


def as_library(messages: Sequence[Message]) -> list[ModelMessage]:
    """A conversation as the library has it: requests and responses in turn."""
    from pydantic_ai.messages import ModelRequest, ModelResponse

    result: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    for message in messages:
        if message.role != "assistant":
            asked.append(_request_part(message))
            continue
        if asked:
            result.append(ModelRequest(parts=asked))
            asked = []
        result.append(ModelResponse(parts=_response_parts(message)))
    return [*result, ModelRequest(parts=asked)] if asked else result


def _request_part(message: Message) -> ModelRequestPart:
    from pydantic_ai.messages import SystemPromptPart, ToolReturnPart, UserPromptPart

    if message.role == "system":
        return SystemPromptPart(message.text)
    if message.role == "tool":
        return ToolReturnPart(message.name, message.text, tool_call_id=message.call_id)
    return UserPromptPart(message.text)


def _response_parts(message: Message) -> list[ModelResponsePart]:
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [ToolCallPart(call.name, dict(call.arguments), tool_call_id=call.id) for call in message.calls]
    text = message.text if message.text or calls else NO_ANSWER
    return [*([TextPart(text)] if text else []), *calls]


def _parameters(tools: Sequence[ChatTool]) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
            )
            for tool in tools
        ]
    )


def _told(response: ModelResponse) -> Iterator[Event]:
    """The calls and the usage of a whole answer. Arguments that are no JSON are passed on to be refused."""
    from pydantic_ai.messages import ToolCallPart

    for part in response.parts:
        if isinstance(part, ToolCallPart):
            yield ToolCall(part.tool_call_id, part.tool_name, part.args_as_dict())
    used = response.usage
    cached = used.cache_read_tokens + used.cache_write_tokens
    usage = Usage(max(0, used.input_tokens - cached), used.output_tokens, cached)
    if usage.total:
        yield usage


# ---- errors ------------------------------------------------------------------------------------------


def _reason(failure: BaseException) -> tuple[type[ChatError], str, str]:
    """The error, the words and the hint for what the library raised."""
    from pydantic_ai import exceptions as library

    status = failure.status_code if isinstance(failure, library.ModelHTTPError) else None
    said = _said(failure)
    known = f"HTTP {status}: {said}" if status else said
    if isinstance(failure, library.ModelContextWindowExceededError) or (
        status != _TOO_MANY_REQUESTS and _OVERFLOW.search(said)
    ):
        return ContextOverflow, known, "start anew with /new, or shorten the message"
    for kind, words, hint in (
        (library.ModelAuthenticationError, "the key was refused", "check the key, and what it is allowed"),
        (library.ModelNotFoundError, "there is no such model or address", "check model and base URL"),
        (library.ModelQuotaExceededError, "the account's quota is used up", "see your provider's billing"),
        (library.ModelRateLimitError, "too many requests", "wait a moment and ask again"),
        (library.ModelTimeoutError, "it did not answer in time", "ask again"),
        (library.ModelConnectionError, "the connection failed", "check the address and whether it runs"),
        (library.ModelUnavailableError, "it is not available now", "ask again in a moment"),
        (library.ModelServerError, "the server failed", "ask again in a moment"),
    ):
        if isinstance(failure, kind):
            return ChatError, f"{words} ({known})", hint
    if isinstance(failure, library.ModelAPIError):
        return ChatError, known, ""
    return ChatError, f"{type(failure).__name__}: {said}", ""


def _said(failure: BaseException) -> str:
    """What the server says of an error, in one line."""
    body: object = getattr(failure, "body", None)
    while isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict):
        message = body.get("message") or body.get("error") or body.get("detail")
        kind = next((body[key] for key in ("code", "type") if isinstance(body.get(key), str)), "")
        body = message if isinstance(message, str) else json.dumps(body, ensure_ascii=False, default=str)
        body = f"{body} ({kind})" if kind and kind not in body else body
    text = " ".join(str(body or failure or type(failure).__name__).split())
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
