"""A remote provider's loopback server together with an embedder that asks it and never waits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple

from memlane.config.kinds import Secret
from memlane.embed.endpoint import Endpoint
from memlane.embed.remote.embedder import RemoteEmbedder

from .embeddings_api import (
    KEY,
    CompatibleService,
    MistralService,
    OpenAiService,
    Service,
    VoyageService,
    served,
)
from .gemini_api import Gemini2Service, GeminiService
from .ollama_api import OldOllamaService, OllamaService
from .passing import Time


class Site(NamedTuple):
    """A provider's loopback server and an embedder that asks it."""

    service: Service
    embedder: RemoteEmbedder
    time: Time
    endpoint: Endpoint


KINDS: dict[str, tuple[type[Service], str, str]] = {
    "openai": (OpenAiService, "openai", "/v1"),
    "openai-compatible": (CompatibleService, "openai-compatible", "/openai?api-version=2026-01"),
    "mistral": (MistralService, "mistral", "/v1"),
    "voyage": (VoyageService, "voyage", "/v1"),
    "gemini": (GeminiService, "gemini", "/v1beta"),
    "gemini-2": (Gemini2Service, "gemini", "/v1beta"),
    "ollama": (OllamaService, "ollama", ""),
    "ollama-old": (OldOllamaService, "ollama", ""),
}
"""What is tested: a service, the kind of endpoint that asks it, and the path of its base address."""

Make = Callable[..., Site]


def maker(stack: ExitStack) -> Make:
    """Makes sites that end with the stack; further arguments of a site change its endpoint."""

    def make(name: str, service: Service | None = None, **changes: Any) -> Site:
        cls, kind, path = KINDS[name]
        service = service or cls()
        url = service.url or stack.enter_context(served(service))
        given = {"base_url": url + path, "model": service.model, "key": Secret(KEY)} | changes
        endpoint = Endpoint(provider=name, kind=kind, **given)
        time = Time()
        embedder = RemoteEmbedder(endpoint, clock=time, waiter=time, jitter=lambda: 0.0)
        stack.callback(embedder.close)
        return Site(service, embedder, time, endpoint)

    return make
