"""Loopback servers that speak the protocols of remote providers, strictly and with faults on demand.

Written from what the providers document, as read on 2026-12-01:

- OpenAI: developers.openai.com/api/reference, "Create embeddings"; error codes guide; 2,048 inputs, 300,000
  tokens a request, 8,192 tokens an input.
- Mistral: docs.mistral.ai/api, "Embeddings"; errors as users report them (codes 1500 and 3210).
- Voyage AI: docs.voyageai.com/reference/embeddings-api and /docs/error-codes; errors are `{"detail"}`.
- llama.cpp: tools/server/README.md; an input beyond the physical batch is a 500.

Gemini and Ollama have modules of their own beside this one.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from memlane.embed.base import NoVector, unpack
from memlane.testing import HashEmbedder

from .running import running

KEY = "sk-loopback-0123456789"


class Reply(NamedTuple):
    """An answer, or a fault that answers in the place of the service."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}


class Call(NamedTuple):
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Any


Fault = Reply | str
"""A reply given instead, or one of: `lost` (closed without an answer), `truncated` (cut in the middle),
`slow` (no answer until `release` is set), `invalid_json`, `missing`, `extra`, `nan`, `null`, `zero`, `short`
(the first vector is one number shorter), `shuffled`."""


class Refused(Exception):
    """The service says no."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def as_json(status: int, document: Any, **headers: str) -> Reply:
    body = json.dumps(document).encode()
    return Reply(status, body, {"content-type": "application/json", **headers})


class Service:
    """What all services have in common: faults, limits, the record of what was asked and embedded."""

    path = ""
    key_header = ("authorization", f"Bearer {KEY}")
    model = "small"
    max_items = 2048
    max_input_tokens = 8192
    max_request_tokens = 300_000
    dimensions = 8

    def __init__(self) -> None:
        self.faults: deque[Fault] = deque()
        self.calls: list[Call] = []
        self.embedded = Counter[str]()
        """How often each text was embedded in an answer that was sent: what is paid for."""
        self.release = threading.Event()
        self.items_per_minute: int | None = None
        self.monotonic = time.monotonic
        self.retry_after: str | None = "60"
        """What a 429 of the limit above says."""
        self._taken: deque[tuple[float, int]] = deque()
        self.delay = 0.0
        """Seconds that each answer takes."""
        self.most_in_flight = 0
        self.url = ""
        self._in_flight = 0
        self._turn = threading.Lock()

    # -- to be said by each service ---------------------------------------------------------------------

    def error(self, status: int, message: str, code: str | None = None, **headers: str) -> Reply:
        """A refusal in the service's own form."""
        kind = "invalid_request_error" if status < 429 else code or "server_error"
        document = {"error": {"message": message, "type": kind, "param": None, "code": code}}
        return as_json(status, document, **headers)

    def wrong_key(self, given: str) -> Reply:
        return self.error(401, f"Incorrect API key provided: {given}.", "invalid_api_key")

    def wrong_model(self, name: str) -> Reply:
        text = f"The model `{name}` does not exist or you do not have access to it."
        return self.error(404, text, "model_not_found")

    def texts_of(self, path: str, body: Any) -> list[str]:
        """What is to be embedded. Raises Refused for what the service does not take."""
        raise NotImplementedError

    def document(self, path: str, body: Any, vectors: list[Any], fault: str) -> Any:
        raise NotImplementedError

    # -- what it does -----------------------------------------------------------------------------------

    def handle(self, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[Reply, str]:
        """The reply, and the fault that happens to it on its way."""
        with self._turn:
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            fault = self.faults.popleft() if self.faults else ""
        try:
            if self.delay:
                time.sleep(self.delay)
            if fault == "slow":
                self.release.wait(30)
            return self._reply(path, headers, raw, fault)
        finally:
            with self._turn:
                self._in_flight -= 1

    def _reply(self, path: str, headers: Mapping[str, str], raw: bytes, fault: Fault) -> tuple[Reply, str]:
        body = json.loads(raw) if raw else None
        with self._turn:
            self.calls.append(Call(path, headers, body))
        if isinstance(fault, Reply):
            return fault, ""
        try:
            self.check(path, headers, body)
            texts = self.texts_of(path, body)
            self.check_sizes(texts)
            self.check_rate(len(texts))
        except Refused as refused:
            return refused.reply, ""
        if fault == "invalid_json":
            return Reply(200, b"<html>not today</html>"), ""
        if fault not in {"lost", "truncated"}:
            with self._turn:
                self.embedded.update(texts)
        vectors = spoiled([vector_of(text, self.dimensions_for(body)) for text in texts], fault)
        return as_json(200, self.document(path, body, vectors, fault)), fault

    def check(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        if urlsplit(path).path != self.path:
            raise Refused(self.error(404, f"Invalid URL (POST {path})"))
        name, wanted = self.key_header
        if headers.get(name) != wanted:
            raise Refused(self.wrong_key(headers.get(name, "").removeprefix("Bearer ")))

    def check_sizes(self, texts: Sequence[str]) -> None:
        if len(texts) > self.max_items:
            raise Refused(self.too_many_items(len(texts)))
        if any(tokens_of(text) > self.max_input_tokens for text in texts):
            raise Refused(self.too_long(max(map(tokens_of, texts))))
        if (total := sum(map(tokens_of, texts))) > self.max_request_tokens:
            raise Refused(self.too_many_tokens(total))

    def check_rate(self, count: int) -> None:
        """So many items within any sixty seconds."""
        if self.items_per_minute is None:
            return
        with self._turn:
            now = self.monotonic()
            while self._taken and self._taken[0][0] + 60 <= now:
                self._taken.popleft()
            if sum(items for _, items in self._taken) + count > self.items_per_minute:
                hint = {} if self.retry_after is None else {"retry-after": self.retry_after}
                raise Refused(self.rate_limited(**hint))
            self._taken.append((now, count))

    def too_many_items(self, count: int) -> Reply:
        text = f"Invalid 'input': array too long. Expected an array with maximum length {self.max_items},"
        text += f" but got an array with length {count} instead."
        return self.error(400, text, "array_above_max_length")

    def too_long(self, tokens: int) -> Reply:
        text = f"This model's maximum context length is {self.max_input_tokens} tokens, however you requested"
        text += (
            f" {tokens} tokens ({tokens} in your prompt; 0 for the completion). Please reduce your prompt;"
        )
        return self.error(400, f"{text} or completion length.")

    def too_many_tokens(self, tokens: int) -> Reply:
        text = f"Requested {tokens} tokens, max {self.max_request_tokens} tokens per request"
        return self.error(400, text, "max_tokens_per_request")

    def rate_limited(self, **headers: str) -> Reply:
        text = f"Rate limit reached for {self.model} in organization org-x on requests per min (RPM)."
        return self.error(429, text, "rate_limit_exceeded", **headers)

    def quota_used_up(self) -> Reply:
        text = "You exceeded your current quota, please check your plan and billing details."
        return self.error(429, text, "insufficient_quota")

    def dimensions_for(self, body: Any) -> int:
        return int(body.get("dimensions") or self.dimensions)


class OpenAiService(Service):
    """OpenAI's `POST /v1/embeddings`."""

    path = "/v1/embeddings"
    model = "text-embedding-3-small"
    fields = frozenset({"model", "input", "dimensions", "encoding_format", "user"})

    def texts_of(self, path: str, body: Any) -> list[str]:
        if unknown := set(body) - self.fields:
            raise Refused(self.unknown_field(unknown.pop()))
        if body.get("model") != self.model:
            raise Refused(self.wrong_model(str(body.get("model"))))
        texts = body.get("input")
        texts = [texts] if isinstance(texts, str) else texts
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise Refused(self.error(400, "'$.input' is invalid. Please check the API reference."))
        return texts

    def unknown_field(self, name: str) -> Reply:
        return self.error(400, f"Unrecognized request argument supplied: {name}")

    def document(self, path: str, body: Any, vectors: list[Any], fault: str) -> Any:
        rows = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        if fault == "shuffled":
            rows.reverse()
        return {"object": "list", "data": rows, "model": self.model, "usage": {"total_tokens": 1}}


class CompatibleService(OpenAiService):
    """A server of one's own with OpenAI's protocol, `input_type`, and a version in its address."""

    path = "/openai/embeddings"
    model = "bge-m3"
    fields = OpenAiService.fields | {"input_type"}
    version = "2026-01"

    def check(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        super().check(path, headers, body)
        if urlsplit(path).query != f"api-version={self.version}":
            raise Refused(self.error(404, "Resource not found"))


class LlamaCppService(OpenAiService):
    """llama.cpp's own server, whose physical batch is small."""

    model = "bge-m3"
    max_input_tokens = 512

    def too_long(self, tokens: int) -> Reply:
        text = f"input ({tokens} tokens) is too large to process. increase the physical batch size"
        return as_json(500, {"error": {"code": 500, "message": text, "type": "server_error"}})


class MistralService(OpenAiService):
    """Mistral's `POST /v1/embeddings`."""

    model = "mistral-embed"
    fields = frozenset({"model", "input", "output_dimension", "output_dtype", "encoding_format", "metadata"})
    max_items = 512
    max_request_tokens = 16_384

    def error(self, status: int, message: str, code: str | None = None, **headers: str) -> Reply:
        document = {"object": "error", "message": message, "type": "invalid_request_prompt", "param": None}
        return as_json(status, {**document, "code": code}, **headers)

    def wrong_key(self, given: str) -> Reply:
        return as_json(401, {"detail": "Unauthorized"})

    def wrong_model(self, name: str) -> Reply:
        return self.error(400, f"Invalid model: {name}", "1500")

    def unknown_field(self, name: str) -> Reply:
        problem = {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}
        return as_json(422, {"detail": [problem]})

    def too_many_items(self, count: int) -> Reply:
        return self.error(400, "Too many inputs in request, split into more batches.", "3210")

    def too_many_tokens(self, tokens: int) -> Reply:
        return self.error(400, "Too many tokens overall, split into more batches.", "3210")

    def rate_limited(self, **headers: str) -> Reply:
        return self.error(429, "Rate limit exceeded", "1300", **headers)

    def dimensions_for(self, body: Any) -> int:
        return int(body.get("output_dimension") or self.dimensions)


class VoyageService(OpenAiService):
    """Voyage AI's `POST /v1/embeddings`."""

    model = "voyage-4-large"
    fields = frozenset(
        {"model", "input", "input_type", "truncation", "output_dimension", "output_dtype", "encoding_format"}
    )
    max_items = 1000
    max_input_tokens = 32_000
    max_request_tokens = 120_000

    def texts_of(self, path: str, body: Any) -> list[str]:
        if body.get("input_type") not in {None, "query", "document"}:
            raise Refused(self.error(400, "input_type must be query, document or null"))
        return super().texts_of(path, body)

    def error(self, status: int, message: str, code: str | None = None, **headers: str) -> Reply:
        return as_json(status, {"detail": message}, **headers)

    def wrong_key(self, given: str) -> Reply:
        return self.error(401, "Provided API key is invalid.")

    def wrong_model(self, name: str) -> Reply:
        text = f"Model {name} is not supported. Supported models are ['voyage-4-large', 'voyage-4']."
        return self.error(400, text)

    def unknown_field(self, name: str) -> Reply:
        return self.error(400, f"Argument '{name}' is not supported by our API")

    def too_many_items(self, count: int) -> Reply:
        return self.error(400, f"The batch size limit is {self.max_items}. Your batch size is {count}.")

    def too_many_tokens(self, tokens: int) -> Reply:
        text = f"Request to model '{self.model}' failed. The max allowed tokens per submitted batch is"
        text += f" {self.max_request_tokens}. Your batch has {tokens} tokens after truncation."
        return self.error(400, f"{text} Please lower the number of tokens in the batch.")

    def rate_limited(self, **headers: str) -> Reply:
        return self.error(429, "You have reached your rate limits of 3 RPM and 10K TPM.", **headers)

    def quota_used_up(self) -> Reply:
        return self.error(402, "Your account has no credit left.")

    def dimensions_for(self, body: Any) -> int:
        return int(body.get("output_dimension") or self.dimensions)


# ---- vectors ------------------------------------------------------------------------------------------


def vector_of(text: str, dimensions: int) -> list[float]:
    made = HashEmbedder(dimensions).embed_query(text)
    return [0.5] * dimensions if isinstance(made, NoVector) else list(unpack(made))


def tokens_of(text: str) -> int:
    """A rough count that punishes scripts without spaces as real tokenizers do."""
    return sum(1 if ord(character) > 0x2E7F else 0 for character in text) + len(text) // 4


def spoiled(vectors: list[list[float]], fault: str) -> list[Any]:
    """The vectors of an answer with what the fault does to them."""
    changed: list[Any] = list(vectors)
    if fault == "missing":
        del changed[-1]
    elif fault == "extra":
        changed.append(changed[0])
    elif fault in {"nan", "null", "zero", "short"}:
        first = changed[0]
        bad = {"nan": [float("nan")], "null": [None], "zero": [0.0] * len(first), "short": []}[fault]
        changed[0] = bad + first[max(1, len(bad)) :]
    return changed


# ---- sockets ------------------------------------------------------------------------------------------


@contextmanager
def served(service: Service) -> Iterator[str]:
    """The service at an address of its own: its root, without a path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply, fault = service.handle(self.path, headers, raw)
            if fault == "lost":
                self.close_connection = True
                return
            lines = [f"HTTP/1.1 {reply.status} x", f"content-length: {len(reply.body)}"]
            lines += [f"{name}: {value}" for name, value in reply.headers.items()]
            body = reply.body[: len(reply.body) // 2] if fault == "truncated" else reply.body
            self.close_connection = self.close_connection or fault == "truncated"
            try:
                self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            except OSError:
                self.close_connection = True  # nobody waits for the answer any more

        def log_message(self, *arguments: object) -> None:
            """Nothing."""

    with running(Handler) as service.url:
        try:
            yield service.url
        finally:
            service.release.set()
