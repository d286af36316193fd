"""Batch calls over the client of remote providers: what may pass is tried again, what costs is sent once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import TypeVar
from urllib.parse import urljoin, urlsplit, urlunsplit

from ...clock import Clock
from ..endpoint import Endpoint
from ..remote.client import Answer, CallFailed, Client
from ..remote.dialects import client_for
from ..remote.refusals import read_refusal
from .base import Call, JobRefused, Pause, Unclear

_Answer = TypeVar("_Answer")
_READ_SECONDS = 120.0
"""An upload is looked through before it is answered."""
_ATTEMPTS = 5
_RETRY_SECONDS = 120.0
_LONGEST_PAUSE = 60.0
_MOST_REDIRECTS = 3
_SERVER_FAILS = 500
_MOST_BYTES = 8_000_000_000
"""50,000 vectors of 3,072 numbers, written out as text, take 3 GB."""
_PIECE = 1 << 20


class HttpWire:
    """Sends calls to one endpoint, with its key. Nothing is opened before the first call."""

    def __init__(self, endpoint: Endpoint, *, clock: Clock, pause: Pause) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._pause = pause
        self._client: Client | None = None

    def answer(self, call: Call, *, once: bool = False) -> bytes:
        """The body of the answer. What may pass is tried again within two minutes, unless `once`.

        Raises JobRefused and Unclear.
        """
        return self._ask(call) if once else self._persistently(lambda: self._ask(call))

    def parts(self, call: Call) -> Iterator[bytes]:
        """The body of a long answer. Of one that breaks off, what has come is given before Unclear."""
        with TemporaryFile() as file:

            def fetch() -> None:
                file.seek(0)
                file.truncate()
                self._ask(call, file.write)

            broken: Unclear | None = None
            try:
                self._persistently(fetch)
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

    def _persistently(self, work: Callable[[], _Answer]) -> _Answer:
        """Do the work, again while it fails in a way that may pass."""
        started = self._clock.monotonic()
        for attempt in range(_ATTEMPTS):
            try:
                return work()
            except (JobRefused, Unclear) as error:
                pause = 2.0**attempt if error.pause is None else error.pause
                over = self._clock.monotonic() - started + pause > _RETRY_SECONDS
                passing = isinstance(error, Unclear) or error.passing
                if not passing or over or pause > _LONGEST_PAUSE or attempt + 1 == _ATTEMPTS:
                    raise
            self._pause(pause)
        raise AssertionError("the last attempt returns or raises")

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
            self._client = client_for(self._endpoint)
        return self._client

    def _check(self, answer: Answer) -> None:
        """Raise for an answer that is none."""
        if answer.ok:
            return
        client = self._connected()
        refusal = read_refusal(client.hide_in(answer), self._clock.now())
        said = f": {client.hide(refusal.detail)}" if refusal.detail else ""
        message = f"{self._endpoint.provider} answered {answer.status}{said}"
        if answer.status >= _SERVER_FAILS:
            unclear = Unclear(message)
            unclear.pause = refusal.pause
            raise unclear
        refused = JobRefused(message, status=answer.status)
        refused.passing, refused.pause = refusal.kind in {"rate", "server"}, refusal.pause
        raise refused


def upload_address(base_url: str, path: str) -> str:
    """Where files are handed in to Gemini: `/upload` before the version, the last part of its path."""
    parts = urlsplit(base_url)
    above, _, version = parts.path.rstrip("/").rpartition("/")
    return urlunsplit((parts.scheme, parts.netloc, f"{above}/upload/{version}{path}", parts.query, ""))
