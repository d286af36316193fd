"""`models.providers`: endpoints that chat models and embeddings share.

Most entries are there for chat, and their keys need not be in this process's environment. So an entry is
held to its form only when memory search names it; elsewhere what cannot be read counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ConfigError
from .merge import Layer, Merger
from .reading import keys_of
from .related import Provider
from .remote_facts import REMOTE_FACTS
from .schema import BUILT_IN_PROVIDERS, BUNDLED_MODELS, STATIC, MemorySearch

_INTERFACES = {
    **{name: name for name in REMOTE_FACTS},
    "openai-completions": "openai-compatible",
    "openai-responses": "openai-compatible",
    "google-generative-ai": "gemini",
}
"""Values of `api` and the kind of embedding endpoint that goes with them."""


def provider_kind(name: str, providers: Mapping[str, Provider]) -> str | None:
    """The built-in kind that `name` is or, for an id of `models.providers`, speaks; None if none is known.

    An entry with an address and no `api` is taken for OpenAI-compatible, like most servers.
    """
    if name in BUILT_IN_PROVIDERS:
        return name
    entry = providers.get(name)
    if entry is None:
        return None
    if entry.api is None:
        return "openai-compatible" if entry.base_url else None
    return _INTERFACES.get(entry.api)


def entry_name(provider: str) -> str:
    """The name of a provider's entry in `models.providers`: another one than its own for some."""
    facts = REMOTE_FACTS.get(provider)
    return facts.entry if facts else provider


def bundled_model(model: str | None) -> str | None:
    """The bundled model that a `memorySearch.model` names, with or without the provider's prefix."""
    return BUNDLED_MODELS.get((model or STATIC).removeprefix("bundled/"))


def read_providers(models: Layer | None, search: MemorySearch, merger: Merger) -> dict[str, Provider]:
    """The entries of `models.providers` by id. Raises ConfigError for those that memory search names."""
    if models is None or "providers" not in models.values:
        return {}
    group = merger.below(models, "providers")
    named = {search.provider, search.fallback}
    named |= {entry_name(name) for name in named}
    automatic = {entry_name(name) for name in REMOTE_FACTS} if "auto" in named else set()
    found = {}
    for name in group.values:
        if name in named:
            found[name] = merger.merge(Provider, [merger.below(group, name)], f"models.providers.{name}")
        elif isinstance(group.values[name], dict):
            found[name] = _what_can_be_read(
                merger.below(group, name), name, merger, quiet=name not in automatic
            )
    return found


def _what_can_be_read(layer: Layer, name: str, merger: Merger, *, quiet: bool) -> Provider:
    readable = dict(layer.values)
    for key in keys_of(Provider):
        if key.name not in readable:
            continue
        try:
            merger.reader.read(key, readable[key.name], f"{layer.path}.{key.name}")
        except ConfigError as error:
            del readable[key.name]
            if not quiet:
                merger.warnings.append(f"{error}; automatic choice goes on without it")
    return merger.merge(Provider, [Layer(layer.path, readable)], f"models.providers.{name}")
