"""The only module that speaks HTTP: one client for one address, with connections that are used again.

A call runs in a thread of its own, and whoever asked waits for it. That is what makes a limit of time and
`close()` hold at once for all of a call: looking up a name and connecting cannot be interrupted otherwise.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit

from msgspec import field
from msgspec.structs import replace

from ...config.kinds import HIDDEN, without_credentials
from ...errors import EmbeddingError
from ...values import Value

if TYPE_CHECKING:
    import logging
    import ssl

    import httpx2

Sink = Callable[[bytes], object]
Trouble = Literal["unreachable", "broken", "timeout", "closed", "too_large", "unusable"]
"""Why a call has no answer: no connection, or one that broke; too slow; ended by `close()`; an answer larger
than allowed; a request that cannot be sent."""

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
MAX_BYTES = 128 * 1024 * 1024
_SHORTEST_KEY = 8
"""Shorter texts are no keys, and may be a part of any word."""


class Answer(Value, frozen=True):
    """What a server answered, whatever its status."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name in lower case."""
    body: bytes = b""

    @property
    def ok(self) -> bool:
        """Whether the server did what it was asked for."""
        return 200 <= self.status < 300


class CallFailed(EmbeddingError):  # noqa: N818 - reads as a statement of fact
    """A call has no answer.

    Attributes:
        trouble: why.
    """

    def __init__(self, message: str, trouble: Trouble, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.trouble = trouble

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.trouble in {"unreachable", "broken", "timeout"}


class Client:
    """Calls one server. Safe to be used by several threads at a time."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        """`headers` go with each call, to this server alone; `secrets` are kept out of every message."""
        self._base = urlsplit(base_url)
        self._headers = dict(headers or {})
        self._secrets = tuple(_words_of(secrets) | _secrets_of(base_url))
        self._connect_seconds = connect_seconds
        self._turn = threading.Lock()
        self._http: httpx2.Client | None = None
        self._calls: set[_Call] = set()
        self._sockets: set[socket.socket] = set()
        self._closed = False

    @property
    def host(self) -> str:
        """The server's name and port, for messages."""
        return self._base.netloc.rpartition("@")[2]

    def hide(self, text: str) -> str:
        """A text of a server as it may be shown: without keys."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return without_credentials(text)

    def hide_in(self, answer: Answer) -> Answer:
        """A refusal before it is read and cut: half a key is one too many."""
        body = answer.body
        for secret in self._secrets:
            body = body.replace(secret.encode(), HIDDEN.encode())
        return replace(answer, body=body)

    def url(self, address: str, query: Mapping[str, str] | None = None) -> str:
        """A path below the base address, whose query is kept, or a whole address of the same server.

        Raises ValueError for an address elsewhere: keys are not sent there.
        """
        if "://" in address:
            base = urlsplit(address)
            if (base.scheme, base.netloc) != (self._base.scheme, self._base.netloc):
                raise ValueError(f"{without_credentials(address)} is not an address of {self.host}")
            path = base.path
        else:
            base = self._base
            path = f"{base.path.rstrip('/')}/{address.lstrip('/')}"
        queries = [part for part in (base.query, urlencode(query or {})) if part]
        return urlunsplit((base.scheme, base.netloc, path, "&".join(queries), ""))

    def request(
        self,
        method: str,
        address: str,
        *,
        query: Mapping[str, str] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        total_seconds: float | None = None,
        read_seconds: float = READ_SECONDS,
        max_bytes: int = MAX_BYTES,
        sink: Sink | None = None,
    ) -> Answer:
        """The server's answer, whatever its status; a redirection is an answer as well and not followed.

        `address` is as in `url`. `total_seconds` bounds all of it, `read_seconds` each silence of the server.
        The body of a good answer goes piece by piece to `sink` where there is one, from another thread.
        Raises CallFailed.
        """
        url = self.url(address, query)
        silence = read_seconds if total_seconds is None else min(read_seconds, total_seconds)
        call = _Call(self, method, url, content, {**self._headers, **(headers or {})})
        call.limit(connect=self._connect_seconds, read=silence, max_bytes=max_bytes, sink=sink)
        with self._turn:
            if self._closed:
                raise self._closed_failure()
            self._calls.add(call)
        try:
            call.start()
            if not call.over.wait(total_seconds):
                raise CallFailed(
                    f"{self.host} did not answer within {round(total_seconds or 0, 2):g} s", "timeout"
                )
        finally:
            call.abandoned = True
            with self._turn:
                self._calls.discard(call)
        if call.answer is not None:
            return call.answer
        if self._closed or call.failure is None:  # a connection that was shut looks broken to its own thread
            raise self._closed_failure()
        raise call.failure

    def close(self) -> None:
        """End all calls at once and let go of the connections; from any thread, any number of times."""
        with self._turn:
            self._closed = True
            calls, sockets, http = list(self._calls), list(self._sockets), self._http
            self._sockets.clear()
            self._http = None
        for call in calls:
            call.over.set()
        for each in sockets:
            _shut(each)  # closing alone would not wake a thread that reads from it
        if http is not None:
            http.close()

    # -- for the threads of calls ----------------------------------------------------------------------

    def connected(self) -> httpx2.Client:
        """The library's client, made by the first call."""
        certificates = _Certificates() if self._base.scheme == "https" and self._http is None else None
        import httpx2

        _keep_addresses_out_of_logs()
        verify = certificates.context() if certificates else False  # plain HTTP needs none
        with self._turn:
            if self._closed:
                raise self._closed_failure()
            if self._http is None:
                self._http = httpx2.Client(verify=verify)
            return self._http

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by the library as connections are made: they are known so that `close()` can end them."""
        if event not in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            return
        stream = info["return_value"]
        with self._turn:
            if not self._closed:
                self._sockets = {each for each in self._sockets if each.fileno() != -1}
                self._sockets.add(stream.get_extra_info("socket"))
                return
        stream.close()
        raise self._closed_failure()

    def failure(self, error: Exception) -> CallFailed:
        """What a foreign exception means. It is not chained: its text may hold a key."""
        import httpx2

        if isinstance(error, CallFailed):
            return error
        why = self.hide(str(error) or type(error).__name__)
        if isinstance(error, httpx2.ConnectTimeout):
            return CallFailed(f"{self.host} cannot be reached within {self._connect_seconds:g} s", "timeout")
        if isinstance(error, httpx2.TimeoutException):
            return CallFailed(f"{self.host} did not answer in time", "timeout")
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
            certificate = "CERTIFICATE" in why.upper()
            return CallFailed(
                f"{self.host} cannot be reached: {why}",
                "unusable" if certificate else "unreachable",
                hint="check the address and its certificate" if certificate else "check the address",
            )
        if isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError):
            return CallFailed(f"the connection to {self.host} broke: {why}", "broken")
        if isinstance(error, httpx2.DecodingError):
            return CallFailed(f"the answer of {self.host} is damaged: {why}", "broken")
        unfit = ", ".join(repr(name) for name, value in self._headers.items() if not _fits(name, value))
        if unfit:
            return CallFailed(
                f"the request to {self.host} cannot be sent: a header or the key holds characters that"
                f" headers cannot hold: {self.hide(unfit)}",
                "unusable",
                hint="check the key and the headers of the provider",
            )
        return CallFailed(f"the call to {self.host} failed: {type(error).__name__}: {why}", "unusable")

    def _closed_failure(self) -> CallFailed:
        return CallFailed(f"the call to {self.host} was ended", "closed")


class _Call:
    """One call in its thread."""

    def __init__(
        self, client: Client, method: str, url: str, content: bytes | None, headers: Mapping[str, str]
    ) -> None:
        self._client = client
        self._method = method
        self._url = url
        self._content = content
        self._headers = headers
        self.over = threading.Event()
        self.abandoned = False
        self.answer: Answer | None = None
        self.failure: CallFailed | None = None

    def limit(self, *, connect: float, read: float, max_bytes: int, sink: Sink | None) -> None:
        """How long and how large it may become, and where a good body goes."""
        self._connect, self._read, self._max_bytes, self._sink = connect, read, max_bytes, sink

    def start(self) -> None:
        threading.Thread(target=self._run, name="memlane-call", daemon=True).start()

    def _run(self) -> None:
        try:
            self.answer = self._asked()
        except Exception as error:  # noqa: BLE001 - translated, and raised in the thread that waits
            self.failure = self._client.failure(error)
        finally:
            self.over.set()

    def _asked(self) -> Answer:
        import httpx2

        http = self._client.connected()
        with http.stream(
            self._method,
            self._url,
            content=self._content,
            headers=dict(self._headers),
            timeout=httpx2.Timeout(self._read, connect=self._connect),
            extensions={"trace": self._client.watch},
        ) as response:
            good = 200 <= response.status_code < 300
            pieces: list[bytes] = []
            take = self._sink if self._sink and good else pieces.append
            size = 0
            for piece in response.iter_bytes():
                size += len(piece)
                if size > self._max_bytes:
                    limit = f"{self._max_bytes:,} bytes"
                    raise CallFailed(f"the answer of {self._client.host} is larger than {limit}", "too_large")
                if self.abandoned:
                    break
                take(piece)
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, headers, b"".join(pieces))


def _fits(name: str, value: str) -> bool:
    """Whether a header can be sent: printable ASCII, no separators in its name (RFC 9110, 5.1 and 5.5)."""
    named = re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name)
    return bool(named) and value == value.strip() and value.isascii() and value.isprintable()


def _words_of(secrets: tuple[str, ...]) -> set[str]:
    """The words of secrets, as a server may repeat `Bearer sk-…` without its first word."""
    return {word for text in secrets for word in text.split() if len(word) >= _SHORTEST_KEY}


def _secrets_of(url: str) -> set[str]:
    """Keys and passwords in an address, which a server may repeat as well."""
    parts = urlsplit(url)
    pairs = (pair for pair in parts.query.split("&") if HIDDEN in without_credentials(f"x://x?{pair}"))
    found = {pair.partition("=")[2] for pair in pairs} | {parts.password or ""}
    if parts.password:
        from base64 import b64encode

        login = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        found.add(b64encode(login.encode()).decode())
    return {form for text in found for form in (text, unquote(text)) if len(form) >= _SHORTEST_KEY}


class _Certificates:
    """The system's certificates, read beside the loading of the library: both take their time."""

    def __init__(self) -> None:
        import httpcore2

        self._made: list[ssl.SSLContext] = []
        self._reading = threading.Thread(
            target=lambda: self._made.append(httpcore2.default_ssl_context()), daemon=True
        )
        self._reading.start()

    def context(self) -> ssl.SSLContext | Literal[True]:
        """What was read; True lets the library try, and say what is wrong."""
        self._reading.join()
        return self._made[0] if self._made else True


def _shut(each: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        socket.socket.shutdown(each, socket.SHUT_RDWR)


def _keep_addresses_out_of_logs() -> None:
    """The library logs the address of each call, and an address may hold a key; so may a redirection's."""
    import logging

    for name, check in (
        ("httpx2", _without_keys),
        ("httpcore2.http11", _says_no_headers),
        ("httpcore2.http2", _says_no_headers),
    ):
        logger = logging.getLogger(name)
        if check not in logger.filters:
            logger.addFilter(check)


def _says_no_headers(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith("receive_response_headers.complete")


def _without_keys(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(
            without_credentials(str(part)) if type(part).__name__ == "URL" else part for part in record.args
        )
    return True
