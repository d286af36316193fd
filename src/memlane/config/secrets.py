"""The secrets among the values in force, so that they can be masked wherever they turn up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .auth_profiles import read_auth_profiles
from .hosts import is_secret
from .keys import named_variable
from .kinds import Secret
from .remote_facts import REMOTE_FACTS
from .settings import AgentSettings


def configured_secrets(settings: AgentSettings) -> tuple[Secret, ...]:
    """Every key and secret header that an agent's endpoints may be sent.

    Those of the configuration, of the auth profiles and of the environment variables that providers are known
    for, but not what an address holds. Reads the files of the profiles; what cannot be read there is passed
    over.
    """
    environ = settings.surroundings.environ
    remote = settings.memory_search.remote
    found = list(_of_endpoint(remote.api_key, remote.headers, environ))
    for provider in settings.providers.values():
        found += _of_endpoint(provider.api_key, provider.headers, environ)
    for key in read_auth_profiles(settings.state_dir, settings.agent_id).keys.values():
        found += _of_endpoint(key.text, {}, environ)
    variables = (name for facts in REMOTE_FACTS.values() for name in facts.key_variables)
    found += [Secret(environ[name].strip()) for name in variables if name in environ]
    return tuple(dict.fromkeys(secret for secret in found if secret))


def _of_endpoint(key: str | None, headers: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[Secret]:
    if key:
        variable = named_variable(key, environ)
        yield Secret(environ.get(variable, "").strip() if variable else key)
    for name, value in headers.items():
        if is_secret(name):
            yield Secret(value)
            yield Secret(value.rpartition(" ")[2])  # without its scheme, such as Bearer
