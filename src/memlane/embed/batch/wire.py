"""Batch calls over HTTP. The client is imported with the first call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..endpoint import Endpoint
from .base import Call, Refused, Unclear

if TYPE_CHECKING:
    import httpx2

_Answer = TypeVar("_Answer")
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 120.0
"""For an answer to begin, or to go on: an upload is looked through before it is answered."""
_ATTEMPTS = 5
_RETRY_SECONDS = 120.0
_LONGEST_PAUSE = 60.0
_MOST_REDIRECTS = 3
_TOO_MANY = 429
_MAY_PASS = frozenset({408, 425, _TOO_MANY})
_SERVER_FAILS = 500
_SAID = 300
"""So many characters of a refusal are repeated."""


class HttpWire:
    """Sends calls to one endpoint, with its key. Thread-safe; nothing is opened before the first call."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: httpx2.Client | None = None

    def answer(self, call: Call, *, once: bool = False) -> bytes:
        """The body of the answer. What may pass is tried again for two minutes, unless `once`.

        Raises Refused and Unclear.
        """

        def ask() -> bytes:
            with self._sent(call) as response:
                return response.read()

        return ask() if once else _persistently(ask)

    def parts(self, call: Call) -> Iterator[bytes]:
        """The body of a long answer as it comes in. A refusal to begin is tried again as in `answer`."""

        def begin() -> tuple[Any, httpx2.Response]:
            manager = self._sent(call)
            return manager, manager.__enter__()

        manager, response = _persistently(begin)
        try:
            with _translated(self._endpoint):
                yield from response.iter_bytes()
        finally:
            manager.__exit__(None, None, None)

    def close(self) -> None:
        """Let go of connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    @contextmanager
    def _sent(self, call: Call) -> Iterator[httpx2.Response]:
        """The answer to a call, its body not yet read. Raises Refused and Unclear."""
        import httpx2

        if self._client is None:
            timeout = httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
            self._client = httpx2.Client(timeout=timeout, follow_redirects=False)
        url, headers = address(self._endpoint, call), self._headers(call)
        with _translated(self._endpoint):
            for _ in range(_MOST_REDIRECTS + 1):
                with self._client.stream(call.method, url, content=call.body, headers=headers) as response:
                    target = response.headers.get("location") if call.method == "GET" else None
                    if not (response.is_redirect and target):
                        self._check(response)
                        yield response
                        return
                    moved = str(response.url.join(target))
                    if _origin(moved) != _origin(url):
                        headers = {}  # a key is for its own server alone
                    url = moved
            raise Unclear("too many redirects")

    def _headers(self, call: Call) -> dict[str, str]:
        key = self._endpoint.key
        headers = {"content-type": call.content_type} if call.content_type else {}
        if key and self._endpoint.kind == "gemini":
            headers["x-goog-api-key"] = str(key)
        elif key:
            headers["authorization"] = f"Bearer {key}"
        return headers | {name.lower(): value for name, value in self._endpoint.headers.items()}

    def _check(self, response: httpx2.Response) -> None:
        """Raise for an answer that is none."""
        status = response.status_code
        if response.is_success:
            return
        said = _words(response.read())
        message = without_secrets(f"{self._endpoint.provider} answered {status}: {said}", self._endpoint)
        if status >= _SERVER_FAILS:
            raise Unclear(message)
        refused = Refused(message, status=status)
        refused.retry_after = _seconds(response.headers.get("retry-after"))
        raise refused


def address(endpoint: Endpoint, call: Call) -> str:
    """Where a call goes. The query of the base address stays; uploads have a path of their own."""
    base = urlsplit(endpoint.base_url)
    path = base.path.rstrip("/")
    if call.upload:
        above, _, version = path.rpartition("/")
        path = f"{above}/upload/{version}"
    query = urlencode([*parse_qsl(base.query, keep_blank_values=True), *call.query.items()])
    return urlunsplit((base.scheme, base.netloc, path + call.path, query, ""))


def without_secrets(message: str, endpoint: Endpoint) -> str:
    """The message without key, secret headers and query of the endpoint, whoever has put them there."""
    secrets = [str(endpoint.key or ""), urlsplit(endpoint.base_url).query, *endpoint.headers.values()]
    for secret in secrets:
        if secret:
            message = message.replace(secret, "…")
    return message


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
    if not isinstance(error, Refused):
        return isinstance(error, Unclear)
    if error.status not in _MAY_PASS:
        return False
    asked = error.retry_after
    return True if asked is None else asked if asked <= _LONGEST_PAUSE else False


@contextmanager
def _translated(endpoint: Endpoint) -> Iterator[None]:
    """The client's exceptions as ours. After none of them is it known whether the call was carried out."""
    import httpx2

    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        said = without_secrets(str(error), endpoint) or type(error).__name__
        raise Unclear(f"{endpoint.provider} cannot be reached or broke off: {said}") from error


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


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
