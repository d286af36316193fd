"""A loopback server that speaks chat completions, streamed, with usage, tool calls and faults on demand.

Written from what the providers document, as read on 2026-12-01:

- OpenAI: developers.openai.com/api/reference, "Create chat completion" and its streaming events (chunks with
  `choices[].delta`, the usage in a last chunk without choices where `stream_options` ask for it,
  then `[DONE]`), and its error codes guide.
- llama.cpp: tools/server/README.md; a context that is too long is a 400 of type `exceed_context_size_error`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from .running import running

KEY = "sk-loopback-0123456789abcdef"


class Said(NamedTuple):
    """An answer: pieces of text, tool calls as (name, arguments), and what it took."""

    pieces: tuple[str, ...] = ()
    calls: tuple[tuple[str, str], ...] = ()
    usage: Mapping[str, Any] | None = None


class Failed(NamedTuple):
    """An error in place of an answer."""

    status: int
    message: str
    code: str = ""
    headers: Mapping[str, str] = {}


class Cut(NamedTuple):
    """An answer that breaks off: by the connection's end, or quietly, without saying why it ended."""

    pieces: tuple[str, ...]
    quietly: bool = False


Step = Said | Failed | Cut | str
Think = Callable[[Mapping[str, Any]], "Step | Iterable[Step]"]


class ChatServer:
    """What the server was asked, and how it answers: by `think`, a function of the request."""

    def __init__(self, think: Think, *, key: str | None = None) -> None:
        self.think = think
        self.key = key
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.held = threading.Event()
        """Set by a test to let an answer that waits go on: a piece `"\\0"` waits for it."""
        self.waiting = threading.Event()
        """Set when an answer waits."""
        self.url = ""


def counted(request: Mapping[str, Any]) -> int:
    """What a request's messages take, by a rule of thumb that is the same each time."""
    return sum(len(json.dumps(message)) // 4 for message in request["messages"])


@contextmanager
def served(server: ChatServer) -> Iterator[str]:
    """Run the server; gives the base URL."""

    class Handler(_Handler):
        service = server

    with running(Handler) as address:
        server.url = f"{address}/v1"
        try:
            yield server.url
        finally:
            server.held.set()


class _Handler(BaseHTTPRequestHandler):
    service: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.headers.append({name.lower(): value for name, value in self.headers.items()})
        if self.service.key is not None and self.headers["Authorization"] != f"Bearer {self.service.key}":
            shown = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            self._fail(Failed(401, f"Incorrect API key provided: {shown}.", "invalid_api_key"))
            return
        self.service.requests.append(body)
        step = self.service.think(body)
        if isinstance(step, Failed):
            self._fail(step)
            return
        step = Said((step,)) if isinstance(step, str) else step
        try:
            self._stream(step, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _fail(self, failed: Failed) -> None:
        error = {"message": failed.message, "type": failed.code or "error", "code": failed.code or None}
        data = json.dumps({"error": error}).encode()
        self.send_response(failed.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in failed.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, step: Any, body: Mapping[str, Any]) -> None:
        assert body["stream"] is True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self._delta({"role": "assistant", "content": ""})
        for piece in step.pieces:
            if piece == "\0":
                self.service.waiting.set()
                self.service.held.wait(60)
                continue
            self._delta({"content": piece})
        if isinstance(step, Cut):
            if step.quietly:
                self._send("data: [DONE]\n\n")
            else:
                self._send('data: {"id": "chat-1", "choi')
            return
        for number, (name, arguments) in enumerate(step.calls):
            call = {"index": number, "id": f"call_{len(self.service.requests)}_{number}", "type": "function"}
            self._delta({"tool_calls": [{**call, "function": {"name": name, "arguments": ""}}]})
            for start in range(0, len(arguments), 7):
                piece = {"index": number, "function": {"arguments": arguments[start : start + 7]}}
                self._delta({"tool_calls": [piece]})
        self._delta({}, finish="tool_calls" if step.calls else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            taken, given = counted(body), sum(map(len, step.pieces)) // 4 + 1
            usage = {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}
            self._chunk([], usage=dict(step.usage or usage))
        self._send("data: [DONE]\n\n")

    def _delta(self, delta: Mapping[str, Any], finish: str | None = None) -> None:
        self._chunk([{"index": 0, "delta": delta, "finish_reason": finish}])

    def _chunk(self, choices: list[Any], **more: Any) -> None:
        chunk = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "loopback"}
        self._send(f"data: {json.dumps({**chunk, 'choices': choices, **more})}\n\n")

    def _send(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass
