"""The secrets among the values in force, so that they can be masked wherever they turn up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .hosts import is_secret
from .kinds import Secret
from .settings import AgentSettings

_VARIABLE = re.compile("[A-Z][A-Z0-9_]*")
"""A key given as the name of an environment variable is no secret itself."""


def configured_secrets(settings: AgentSettings) -> tuple[Secret, ...]:
    """The keys and secret headers of every endpoint that an agent's settings name."""
    remote = settings.memory_search.remote
    endpoints = [(remote.api_key, remote.headers)]
    endpoints += [(provider.api_key, provider.headers) for provider in settings.providers.values()]
    return tuple(dict.fromkeys(secret for key, headers in endpoints for secret in _secrets(key, headers)))


def _secrets(key: str | None, headers: Mapping[str, str]) -> Iterator[Secret]:
    if key and not _VARIABLE.fullmatch(key):
        yield Secret(key)
    for name, value in headers.items():
        if is_secret(name):
            yield Secret(value)
            yield Secret(value.rpartition(" ")[2])  # without its scheme, such as Bearer
