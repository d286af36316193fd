"""The table of remote providers: how each is asked, how its answer is read, how it is told the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ..base import Input, NoVector, Vector
from ..endpoint import Endpoint
from . import gemini_wire, ollama_wire, openai_wire
from .client import Client
from .wire import Purpose, Request

Build = Callable[[Endpoint, Sequence[Input], Purpose], Request]
Read = Callable[[bytes, int], list[Vector | NoVector]]


class Dialect(NamedTuple):
    """How one kind of provider is spoken to."""

    build: Build
    read: Read
    read_query: Read
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    items: int | None = None
    """How many inputs its form of request can hold; None where only the model's limits count."""
    older: Dialect | None = None
    """What a server speaks that does not know the address asked for."""

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """What goes with each request; headers of the configuration win."""
        own = {"content-type": "application/json", "accept": "application/json"}
        if endpoint.key:
            own[self.key_header] = f"{self.key_prefix}{endpoint.key}"
        return own | {name.lower(): str(content) for name, content in endpoint.headers.items()}


def client_for(endpoint: Endpoint) -> Client:
    """What calls an endpoint with its key, and keeps that and its headers out of every message."""
    secrets = tuple(str(text) for text in (endpoint.key, *endpoint.headers.values()) if text)
    return Client(endpoint.base_url, headers=DIALECTS[endpoint.kind].headers(endpoint), secrets=secrets)


def _openai(input_type: openai_wire.InputType, dimensions_field: str) -> Dialect:
    build = partial(openai_wire.build, input_type=input_type, dimensions_field=dimensions_field)
    return Dialect(build, openai_wire.read, openai_wire.read)


_OLD_OLLAMA = Dialect(ollama_wire.build_old, ollama_wire.read_old, ollama_wire.read_old, items=1)

DIALECTS: Mapping[str, Dialect] = {
    "openai": _openai(openai_wire.no_input_type, "dimensions"),
    "openai-compatible": _openai(openai_wire.configured_input_type, "dimensions"),
    "mistral": _openai(openai_wire.no_input_type, "output_dimension"),
    "voyage": _openai(openai_wire.voyage_input_type, "output_dimension"),
    "gemini": Dialect(
        gemini_wire.build,
        gemini_wire.read,
        gemini_wire.read_query,
        key_header="x-goog-api-key",
        key_prefix="",
        items=100,
    ),
    "ollama": Dialect(ollama_wire.build, ollama_wire.read, ollama_wire.read, older=_OLD_OLLAMA),
}
"""By the kind of an endpoint. Addresses, usual models and names of keys are in `config.remote_facts`."""
