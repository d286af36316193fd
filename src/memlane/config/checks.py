"""What must fit together across keys. Each check raises ConfigError naming file, key and remedy."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from .agents import Agents
from .hosts import is_secret, server_of
from .layers import agent_holders, search_layers
from .merge import Layer, Merger
from .providers import bundled_model, entry_name, provider_kind
from .reading import MissingVariable, shorten
from .related import Provider
from .remote_facts import REMOTE_FACTS
from .schema import BUILT_IN_PROVIDERS, BUNDLED_MODELS, MemorySearch
from .section import MOST

MULTIMODAL_MODELS = ("gemini-embedding-2", "gemini-embedding-2-preview")


def check_search(search: MemorySearch, providers: Mapping[str, Provider], merger: Merger) -> None:
    """The checks within one agent's memory search."""
    chunking = search.chunking
    if chunking.overlap >= chunking.tokens:
        allowed = f"less than chunking.tokens, which is {chunking.tokens}"
        raise _refusal(merger, "chunking.overlap", chunking.overlap, allowed)
    _check_provider("provider", search.provider, providers, merger)
    _check_provider("fallback", search.fallback, providers, merger)
    if search.provider == "bundled" and bundled_model(search.model) is None:
        raise _refusal(
            merger, "model", search.model, f"{', '.join(BUNDLED_MODELS)} with the provider bundled"
        )
    _check_dimensions(search, providers, merger)
    if search.multimodal.enabled:
        _check_multimodal(search, providers, merger)


def _refusal(merger: Merger, key: str, value: object, allowed: str) -> ConfigError:
    origin = merger.origins.get(f"memorySearch.{key}")
    place = origin.place if origin else f"agents.defaults.memorySearch.{key}"
    return merger.reader.refusal(place, value, allowed)


def _check_provider(key: str, name: str, providers: Mapping[str, Provider], merger: Merger) -> None:
    built_in = [known for known in BUILT_IN_PROVIDERS if key == "provider" or known != "auto"]
    if name in built_in or (name != "auto" and provider_kind(name, providers) is not None):
        return
    if name in providers:
        api = providers[name].api
        said = f"has api {shorten(api)}, without embeddings" if api else "says neither api nor baseUrl"
        raise merger.reader.error(
            f"models.providers.{name} cannot be the {key}: it {said}; "
            'set its api to the kind of its endpoint, such as "openai-compatible"'
        )
    known = ", ".join([*built_in, *providers])
    raise _refusal(merger, key, name, f"{known}, or the id of an entry added to models.providers")


def _check_dimensions(search: MemorySearch, providers: Mapping[str, Provider], merger: Merger) -> None:
    facts = REMOTE_FACTS.get(provider_kind(search.provider, providers) or "")
    if facts is None or facts.takes_dimensions(search.output_dimensionality):
        return
    least, most = facts.dimensions or (1, MOST)
    allowed = f"from {least} to {most} with the provider {search.provider}"
    raise _refusal(merger, "outputDimensionality", search.output_dimensionality, allowed)


def _check_multimodal(search: MemorySearch, providers: Mapping[str, Provider], merger: Merger) -> None:
    if provider_kind(search.provider, providers) != "gemini":
        allowed = f'true only with provider "gemini"; it is "{search.provider}"'
        raise _refusal(merger, "multimodal.enabled", True, allowed)
    model = search.model or ""
    for prefix in {"gemini", entry_name("gemini"), search.provider}:
        model = model.removeprefix(f"{prefix}/")
    if model not in MULTIMODAL_MODELS:
        allowed = f"true only with model {' or '.join(MULTIMODAL_MODELS)}; it is {model or 'not set'}"
        raise _refusal(merger, "multimodal.enabled", True, allowed)
    if search.fallback != "none":
        allowed = '"none" while multimodal.enabled is true, since no other provider takes images and audio'
        raise _refusal(merger, "fallback", search.fallback, allowed)


def check_store_is_file(path: Path, merger: Merger) -> None:
    """The index is a file of its own: SQLite would write into a device, and says little of a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return  # there is nothing yet, or the index will say why it cannot be reached
    if not stat.S_ISREG(mode):
        found = "a folder is there" if stat.S_ISDIR(mode) else "a pipe, device or socket is there"
        raise _refusal(merger, "store.path", str(path), f"a new file or an index made before; {found}")


def check_store_is_own(agent_id: str, agents: Agents, root: Layer, merger: Merger) -> None:
    """Two agents must not share an index file: each would throw away what the other one wrote."""
    paths = {name: _stored_at(entries, root, merger) for name, entries in agents.entries.items()}
    path = paths.pop(agent_id)
    if path is None or "{agentId}" in path or path not in paths.values():
        return
    other = next(name for name, theirs in paths.items() if theirs == path)
    allowed = f'a path with {{agentId}} in it, because agent "{other}" has the same'
    raise _refusal(merger, "store.path", path, allowed)


def _stored_at(entries: Sequence[Layer], root: Layer, merger: Merger) -> str | None:
    """What the file says of an agent's index file, unread."""
    quiet = Merger(merger.reader)
    for layer in search_layers(root, agent_holders(root, entries, quiet), quiet):
        store = layer.values.get("store")
        if isinstance(store, dict) and "path" in store:
            return store["path"] if isinstance(store["path"], str) else None
    return None


# ---- keys and hosts ----------------------------------------------------------------------------------


def check_key_stays_home(search: MemorySearch, layers: Sequence[Layer], merger: Merger) -> None:
    """An endpoint must not be sent a key or header that a weaker place holds for another host."""
    given, agent, file = (_remote(layers, level) for level in ("flag", "agent", "file"))
    own, shared = (given, _over(agent, file)) if given.get("baseUrl") else (_over(given, agent), file)
    if (
        not own.get("baseUrl")
        or not search.remote.base_url
        or search.provider in {"none", "bundled", "local"}
    ):
        return
    replaced = {name.lower() for name in own.get("headers", {})}
    inherited = ["apiKey"] if shared.get("apiKey") and "apiKey" not in own else []
    inherited += [
        f"headers.{name}"
        for name in shared.get("headers", {})
        if is_secret(name) and name.lower() not in replaced
    ]
    try:
        address = merger.reader.substituted(shared.get("baseUrl") or "", "remote.baseUrl")
    except MissingVariable:
        address = ""  # nothing else needs it here
    if inherited and server_of(search.remote.base_url) != server_of(address):
        raise _refusal(
            merger,
            "remote.baseUrl",
            search.remote.base_url,
            f"the host that the defaults' remote.{inherited[0]} is for, or any with one of its own beside it",
        )


def _remote(layers: Sequence[Layer], level: str) -> dict[str, Any]:
    """`remote` as one level of the file says it. Its form has been checked already."""
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        if layer.level == level:
            merged |= layer.values.get("remote", {})
    return merged


def _over(stronger: dict[str, Any], weaker: dict[str, Any]) -> dict[str, Any]:
    """Two `remote` groups in one; headers of both are sent."""
    headers = {**weaker.get("headers", {}), **stronger.get("headers", {})}
    return {**weaker, **stronger, "headers": headers}
