"""A hub on the loopback: what it takes to resolve and download a file of a repository.

As huggingface-hub 2.4.0 reads the hub's answers on 2026-12-01 (its modules file_download, utils/_http and
errors): a HEAD answers with X-Repo-Commit, X-Linked-Size, X-Linked-Etag and the Location of the storage,
which is another host; a refusal says X-Error-Code.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback.running import running

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """The hub's content and behaviour, and what it was asked."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.etag = hashlib.sha256(content).hexdigest()
        self.refusal: tuple[int, str] | None = None
        """Status and error code that the address answers."""
        self.token = ""
        """What `Authorization` must hold where it is set."""
        self.cut_after: list[int] = []
        """For one download after the other: after how many bytes the connection breaks."""
        self.ignores_ranges = False
        self.asked: list[tuple[str, str, str]] = []
        """Method, path and range of each request."""
        self.storage_saw_token = False
        self.waits: threading.Event | None = None
        """Downloads go on when it is set."""
        self.endpoint = ""
        self.storage = ""

    def count(self, method: str) -> int:
        return sum(asked == method for asked, _, _ in self.asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._resolve()

    def do_GET(self) -> None:
        if self.path.startswith("/blob/"):
            self._send_content()
        else:
            self._resolve()

    def _resolve(self) -> None:
        hub = self.hub
        hub.asked.append((self.command, self.path, self.headers.get("Range", "")))
        given = self.headers.get("Authorization", "")
        refusal = hub.refusal or (
            (401, "GatedRepo") if hub.token and given != f"Bearer {hub.token}" else None
        )
        if not refusal and "/org/repo/resolve/" not in self.path:
            refusal = (404, "RepoNotFound")
        if not refusal and not self.path.endswith("/tiny.gguf"):
            refusal = (404, "EntryNotFound")
        if not refusal and self.path.split("/")[4] not in {"main", "v1", COMMIT}:
            refusal = (404, "RevisionNotFound")
        if refusal:
            self._answer(refusal[0], {"X-Error-Code": refusal[1], "X-Error-Message": "refused"})
            return
        self._answer(
            302,
            {
                "X-Repo-Commit": COMMIT,
                "X-Linked-Size": str(len(hub.content)),
                "X-Linked-Etag": f'"{hub.etag}"',
                "Location": f"{hub.storage}/blob/tiny",
            },
        )

    def _send_content(self) -> None:
        hub, wanted = self.hub, self.headers.get("Range", "")
        hub.asked.append(("BLOB", self.path, wanted))
        hub.storage_saw_token |= "Authorization" in self.headers
        start = 0 if hub.ignores_ranges or not wanted else int(wanted.removeprefix("bytes=").split("-")[0])
        rest = hub.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        if start:
            size = len(hub.content)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.end_headers()
        cut = hub.cut_after.pop(0) if hub.cut_after else len(rest)
        self.wfile.write(rest[:cut])
        self.wfile.flush()
        if hub.waits is not None:
            hub.waits.wait(30)
        self.close_connection = cut < len(rest)

    def _answer(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running_hub(content: bytes) -> Iterator[Hub]:
    """A hub with one file, `org/repo/tiny.gguf`, whose content lies on another host's storage."""
    hub = Hub(content)
    handler = type("Handler", (_Handler,), {"hub": hub})
    with running(handler) as hub.endpoint, running(handler) as hub.storage:
        yield hub
