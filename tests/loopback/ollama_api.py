"""Loopback servers of Ollama's embeddings: the present interface and the older one.

Written from docs.ollama.com/api ("Generate embeddings", POST /api/embed), docs/api.md of ollama/ollama ("Generate
Embedding", POST /api/embeddings, superseded) and server/routes.go for the two kinds of 404, as read on 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .embeddings_api import Refused, Reply, Service, as_json


class OllamaService(Service):
    """A server with `/api/embed` and without `/api/embeddings`."""

    path = "/api/embed"
    model = "nomic-embed-text"
    max_items = 1_000_000
    max_input_tokens = 2048
    max_request_tokens = 100_000_000
    fields = frozenset({"model", "input", "truncate", "options", "keep_alive", "dimensions"})
    wants_key = False

    def check(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        if urlsplit(path).path != self.path:
            raise Refused(Reply(404, b"404 page not found", {"content-type": "text/plain"}))
        name, wanted = self.key_header
        if self.wants_key and headers.get(name) != wanted:
            raise Refused(self.wrong_key(""))

    def texts_of(self, path: str, body: Any) -> list[str]:
        if unknown := set(body) - self.fields:
            raise Refused(self.error(400, f"json: unknown field {unknown.pop()!r}"))
        if body["model"].removesuffix(":latest") != self.model:
            raise Refused(self.wrong_model(body["model"]))
        return self.given(body)

    def given(self, body: Any) -> list[str]:
        texts = body["input"]
        return [texts] if isinstance(texts, str) else texts

    def document(self, path: str, body: Any, vectors: list[Any], fault: str) -> Any:
        return {"model": self.model, "embeddings": vectors, "total_duration": 1}

    def error(self, status: int, message: str, code: str | None = None, **headers: str) -> Reply:
        return as_json(status, {"error": message}, **headers)

    def wrong_key(self, given: str) -> Reply:
        return self.error(401, "unauthorized")

    def wrong_model(self, name: str) -> Reply:
        return self.error(404, f'model "{name}" not found, try pulling it first')

    def too_long(self, tokens: int) -> Reply:
        return self.error(400, "the input length exceeds the context length")


class OldOllamaService(OllamaService):
    """A server of before `/api/embed`."""

    path = "/api/embeddings"
    fields = frozenset({"model", "prompt", "options", "keep_alive"})

    def given(self, body: Any) -> list[str]:
        return [body["prompt"]]

    def document(self, path: str, body: Any, vectors: list[Any], fault: str) -> Any:
        return {"embedding": vectors[0] if vectors else []}
