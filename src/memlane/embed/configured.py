"""The endpoint that configuration gives a remote provider: address, model, key, headers."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from ..config import AgentSettings, MemorySearch, Provider, provider_kind
from ..config.auth_profiles import AuthProfiles
from ..config.hosts import is_secret, server_of
from ..config.keys import Key, UnusableKey, find_key
from ..config.kinds import laid_over
from ..config.providers import entry_name
from ..config.remote_facts import REMOTE_FACTS, RemoteFacts
from ..config.schema import Remote
from ..errors import ProviderUnavailable
from .endpoint import Endpoint


def endpoint_for(
    name: str, settings: AgentSettings, profiles: AuthProfiles, *, is_fallback: bool = False
) -> Endpoint:
    """Where the provider `name` is reached under these settings and what it is asked for.

    A fallback has its own usual model, endpoint and key: what is said of model, dimensions, input types and
    `remote` belongs to the configured provider. Raises ProviderUnavailable where something is missing.
    """
    search = MemorySearch() if is_fallback else settings.memory_search
    kind = provider_kind(name, settings.providers) or ""
    if kind not in REMOTE_FACTS:
        raise ProviderUnavailable(f"{name} is not a remote provider of embeddings")
    facts = REMOTE_FACTS[kind]
    entry = settings.providers.get(entry_name(name), Provider())
    base_url = search.remote.base_url or entry.base_url or facts.base_url
    if base_url is None:
        place = "" if is_fallback else "memorySearch.remote.baseUrl or "
        raise ProviderUnavailable(
            f"{name} has no address of its own",
            hint=f"set {place}models.providers.{entry_name(name)}.baseUrl",
        )
    headers = _headers(search.remote, entry, facts, base_url)
    key, origin = _key(
        name,
        settings,
        profiles,
        base_url=base_url,
        remote=search.remote,
        headers=headers,
        is_fallback=is_fallback,
    )
    _check_dimensions(search.output_dimensionality, facts)
    takes_input_type = kind == "openai-compatible"
    return Endpoint(
        provider=name,
        kind=kind,
        base_url=_tidy(base_url, kind),
        model=_model(name, search.model, facts, is_fallback=is_fallback),
        key=key.value if key else None,
        key_origin=origin,
        headers=headers,
        dimensions=search.output_dimensionality,
        query_input_type=(search.query_input_type or search.input_type) if takes_input_type else None,
        document_input_type=(search.document_input_type or search.input_type) if takes_input_type else None,
    )


def _headers(remote: Remote, entry: Provider, facts: RemoteFacts, base_url: str) -> dict[str, str]:
    """The entry's headers under those of `remote`. What lets somebody in stays with the entry's server."""
    at_home = server_of(base_url) == server_of(entry.base_url or facts.base_url)
    inherited = {name: value for name, value in entry.headers.items() if at_home or not is_secret(name)}
    return laid_over(inherited, remote.headers)


def _key(
    name: str,
    settings: AgentSettings,
    profiles: AuthProfiles,
    *,
    base_url: str,
    remote: Remote,
    headers: dict[str, str],
    is_fallback: bool,
) -> tuple[Key | None, str]:
    """The key and where it comes from; a header that lets somebody in does for one. Raises otherwise."""
    stand_in = next((f"the header {header}" for header in headers if is_secret(header)), "")
    try:
        key = find_key(name, settings, profiles, base_url=base_url, remote=remote, is_fallback=is_fallback)
    except UnusableKey as error:
        if stand_in and not remote.api_key:
            return None, stand_in
        raise ProviderUnavailable(str(error), hint=error.hint) from error
    return key, key.origin if key else stand_in


def _model(name: str, model: str | None, facts: RemoteFacts, *, is_fallback: bool) -> str:
    """The model's name as the service knows it: without the provider's prefix."""
    if model is None:
        if facts.model is None:
            hint = "choose a fallback that has one" if is_fallback else "set memorySearch.model"
            raise ProviderUnavailable(f"{name} has no usual model", hint=hint)
        return facts.model
    prefixes = [name, facts.entry] if name in REMOTE_FACTS else [name]
    for prefix in prefixes:
        if model.startswith(f"{prefix}/"):
            return model.removeprefix(f"{prefix}/")
    return model


def _check_dimensions(wanted: int | None, facts: RemoteFacts) -> None:
    if facts.dimensions and not facts.takes_dimensions(wanted):
        least, most = facts.dimensions
        raise ProviderUnavailable(
            f"memorySearch.outputDimensionality is {wanted}, and it takes {least} to {most}"
        )


def _tidy(base_url: str, kind: str) -> str:
    """Without a slash at the end of its path, and for Ollama without the path of its other interface."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    if kind == "ollama":
        path = path.removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
