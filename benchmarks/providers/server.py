"""A server of OpenAI's embeddings protocol that takes its time and keeps the bill."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep
from typing import Any

from memlane.markdown import estimate_tokens

_DIMENSIONS = 64


class Bill:
    """What was asked for."""

    def __init__(self) -> None:
        self.requests = 0
        self.texts: Counter[str] = Counter()
        self.largest = 0
        """The most texts of one request."""
        self._guard = threading.Lock()

    def note(self, texts: list[str]) -> None:
        """A request has come in."""
        with self._guard:
            self.requests += 1
            self.texts.update(texts)
            self.largest = max(self.largest, len(texts))

    @property
    def again(self) -> int:
        """Texts that were asked for more than once."""
        return sum(count - 1 for count in self.texts.values())

    @property
    def tokens_again(self) -> int:
        """What these texts hold, estimated."""
        return sum((count - 1) * estimate_tokens(text) for text, count in self.texts.items())


class Server(ThreadingHTTPServer):
    """Listens on a free port of this machine."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, seconds: float) -> None:
        """Each request takes `seconds`."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seconds = seconds
        self.bill = Bill()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Answer one request for embeddings."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts: list[str] = body["input"]
        self.server.bill.note(texts)
        sleep(self.server.seconds)
        rows = [{"index": place, "embedding": _vector(text)} for place, text in enumerate(texts)]
        answer = json.dumps({"object": "list", "data": rows, "model": body["model"]}).encode()
        with suppress(ConnectionError):  # whoever asked was killed
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Say nothing."""


def _vector(text: str) -> list[float]:
    digest = hashlib.shake_128(text.encode()).digest(_DIMENSIONS)
    return [(byte - 127.5) / 127.5 for byte in digest]


@contextmanager
def running(seconds: float) -> Iterator[Server]:
    """A server that runs meanwhile."""
    with Server(seconds) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
