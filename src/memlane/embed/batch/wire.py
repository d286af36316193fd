"""Batch calls over the client of remote providers: what may pass is tried again, what costs is sent once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import TypeVar
from urllib.parse import urljoin, urlsplit, urlunsplit

from ..endpoint import Endpoint
from ..remote.client import Answer, CallFailed, Client
from ..remote.dialects import DIALECTS
from .base import Call, JobRefused, Unclear

_Answer = TypeVar("_Answer")
_READ_SECONDS = 120.0
"""An upload is looked through before it is answered."""
_ATTEMPTS = 5
_RETRY_SECONDS = 120.0
_LONGEST_PAUSE = 60.0
_MOST_REDIRECTS = 3
_MAY_PASS = frozenset({408, 425, 429})
_SERVER_FAILS = 500
_MOST_BYTES = 8_000_000_000
"""50,000 vectors of 3,072 numbers, written out as text, take 3 GB."""
_PIECE = 1 << 20
_SAID = 300
"""So many characters of a refusal are repeated."""


class HttpWire:
    """Sends calls to one endpoint, with its key. Nothing is opened before the first call."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._headers = DIALECTS[endpoint.kind].headers(endpoint)
        self._client: Client | None = None

    def answer(self, call: Call, *, once: bool = False) -> bytes:
        """The body of the answer. What may pass is tried again for two minutes, unless `once`.

        Raises JobRefused and Unclear.
        """
        return self._ask(call) if once else _persistently(lambda: self._ask(call))

    def parts(self, call: Call) -> Iterator[bytes]:
        """The body of a long answer. Of one that breaks off, what has come is given before Unclear."""
        with TemporaryFile() as file:

            def fetch() -> None:
                file.seek(0)
                file.truncate()
                self._ask(call, file.write)

            broken: Unclear | None = None
            try:
                _persistently(fetch)
            except Unclear as error:
                broken = error
            file.seek(0)
            while piece := file.read(_PIECE):
                yield piece
            if broken is not None:
                raise broken

    def close(self) -> None:
        """Let go of connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ask(self, call: Call, sink: Callable[[bytes], object] | None = None) -> bytes:
        """The body of the answer to one call, or nothing where it goes to `sink`."""
        client = self._connected()
        address = upload_address(self._endpoint.base_url, call.path) if call.upload else call.path
        headers = {"content-type": call.content_type} if call.content_type else {}
        answer = self._sent(client, call, address, headers, sink)
        for _ in range(_MOST_REDIRECTS):
            target = answer.headers.get("location") if call.method == "GET" else None
            if answer.status // 100 != 3 or not target:
                break
            answer = self._elsewhere(call, urljoin(client.url(address), target), sink)
        self._check(answer)
        return answer.body

    def _elsewhere(self, call: Call, address: str, sink: Callable[[bytes], object] | None) -> Answer:
        """A file that lies elsewhere. The key is for its own server alone."""
        parts = urlsplit(address)
        origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        mine = urlsplit(self._endpoint.base_url)
        at_home = (parts.scheme, parts.netloc) == (mine.scheme, mine.netloc)
        client = self._connected() if at_home else Client(origin, secrets=(parts.query,))
        try:
            return self._sent(client, call, address, {}, sink)
        finally:
            if not at_home:
                client.close()

    def _sent(
        self,
        client: Client,
        call: Call,
        address: str,
        headers: Mapping[str, str],
        sink: Callable[[bytes], object] | None,
    ) -> Answer:
        try:
            return client.request(
                call.method,
                address,
                query=None if "://" in address and not call.upload else call.query,
                content=call.body,
                headers=headers,
                read_seconds=_READ_SECONDS,
                max_bytes=_MOST_BYTES,
                sink=sink,
            )
        except CallFailed as error:
            if error.trouble == "unusable":
                raise JobRefused(f"{self._endpoint.provider}: {error}", status=0, hint=error.hint) from error
            raise Unclear(f"{self._endpoint.provider}: {error}", hint=error.hint) from error

    def _connected(self) -> Client:
        if self._client is None:
            secrets = (str(self._endpoint.key or ""), *self._endpoint.headers.values())
            self._client = Client(self._endpoint.base_url, headers=self._headers, secrets=secrets)
        return self._client

    def _check(self, answer: Answer) -> None:
        """Raise for an answer that is none."""
        if answer.ok:
            return
        # Hidden before it is cut: half a key would not be known for one.
        said = _words(self._connected().hide_in(answer).body)
        message = f"{self._endpoint.provider} answered {answer.status}: {said}"
        if answer.status >= _SERVER_FAILS:
            raise Unclear(message)
        refused = JobRefused(message, status=answer.status)
        refused.retry_after = _seconds(answer.headers.get("retry-after"))
        raise refused


def upload_address(base_url: str, path: str) -> str:
    """Where files are handed in to Gemini: `/upload` before the version, the last part of its path."""
    parts = urlsplit(base_url)
    above, _, version = parts.path.rstrip("/").rpartition("/")
    return urlunsplit((parts.scheme, parts.netloc, f"{above}/upload/{version}{path}", parts.query, ""))


def _persistently(work: Callable[[], _Answer]) -> _Answer:
    """Do the work, again while it fails in a way that may pass."""
    import stamina

    for attempt in stamina.retry_context(
        _pause_after, attempts=_ATTEMPTS, timeout=_RETRY_SECONDS, wait_max=_LONGEST_PAUSE / 4
    ):
        with attempt:
            return work()
    raise AssertionError("the last attempt returns or raises")


def _pause_after(error: Exception) -> bool | float:
    """Whether to try again, and after how many seconds where the provider says so."""
    if not isinstance(error, JobRefused):
        return isinstance(error, Unclear)
    if error.status not in _MAY_PASS:
        return False
    asked = error.retry_after
    return True if asked is None else asked if asked <= _LONGEST_PAUSE else False


def _seconds(value: str | None) -> float | None:
    """What `Retry-After` asks for, where it is a number of seconds."""
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def _words(body: bytes) -> str:
    """What a refusal says, from whichever of the usual places."""
    text = body.decode("utf-8", "replace")
    try:
        said: object = json.loads(text)
    except ValueError:
        said = text
    for key in ("error", "message", "detail"):
        if isinstance(said, Mapping) and key in said:
            said = said[key]
    return " ".join(str(said).split())[:_SAID]
