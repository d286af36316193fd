"""Where the key of a remote provider comes from, and to whom it may be sent.

A key is looked for in `remote.apiKey`, the agent's auth profiles, the environment, and the provider's entry
in `models.providers`. Each is for one server: the one its owner configured beside it, else the provider's
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from .auth_profiles import AuthProfiles
from .hosts import Server, host_of, server_of
from .kinds import Secret
from .providers import entry_name, provider_kind
from .related import Provider
from .remote_facts import REMOTE_FACTS
from .schema import Remote
from .settings import AgentSettings

_REMOTE_KEY = "memorySearch.remote.apiKey"


class UnusableKey(Exception):  # noqa: N818 - reads as a statement of fact
    """Why there is no key. Attributes: `hint`, what to do about it."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Key(Struct, frozen=True):
    """A key and what is known of it."""

    value: Secret
    origin: str
    """Where it comes from, in words; never the key."""
    home: Server | None = None
    """The only server it is sent to; None for the one that is configured."""


def find_key(
    name: str,
    settings: AgentSettings,
    profiles: AuthProfiles,
    *,
    base_url: str,
    remote: Remote,
    is_fallback: bool = False,
) -> Key | None:
    """The key that the provider `name` is to be sent at `base_url`; None where it can do without.

    Raises UnusableKey where it needs one and none is for that server, or where `remote.apiKey` gives none.
    """
    environ = settings.surroundings.environ
    if remote.api_key:
        place = settings.origin(_REMOTE_KEY).place
        return read_key(remote.api_key, place, environ, None)
    offered = list(_offers(name, settings, profiles))
    problems = []
    for offer in offered:
        if isinstance(offer, UnusableKey):
            problems.append(offer)
        elif offer.home == server_of(base_url):
            return offer
    if problems:
        raise problems[0]
    if not needs_key(name, settings, base_url):
        return None
    keys = [offer for offer in offered if isinstance(offer, Key)]
    if keys:
        raise _withheld(name, keys[0], base_url, by_remote=remote.base_url is not None)
    missing = _missing(name, is_fallback=is_fallback)
    if unreadable := unreadable_profile(name, profiles):
        raise UnusableKey(unreadable, hint=missing.hint)
    raise missing


def unreadable_profile(name: str, profiles: AuthProfiles) -> str:
    """What is said of a provider's profile that holds no key to be read; empty when there is none."""
    return next((profiles.unreadable[alias] for alias in _aliases(name) if alias in profiles.unreadable), "")


def _aliases(name: str) -> Iterator[str]:
    """The names under which a provider's profiles may stand."""
    yield entry_name(name).lower()
    yield name.lower()


def needs_key(name: str, settings: AgentSettings, base_url: str) -> bool:
    """Whether the provider refuses who has no key. Servers of one's own may do without."""
    facts = REMOTE_FACTS[provider_kind(name, settings.providers) or name]
    at_home = server_of(base_url) == server_of(facts.base_url)
    return facts.needs_key and (name in REMOTE_FACTS or at_home)


def _offers(name: str, settings: AgentSettings, profiles: AuthProfiles) -> Iterator[Key | UnusableKey]:
    """The keys that there are for a provider, in order, and those that should be there and are not."""
    facts = REMOTE_FACTS[provider_kind(name, settings.providers) or name]
    entry = settings.providers.get(entry_name(name), Provider())
    environ = settings.surroundings.environ
    is_built_in = name in REMOTE_FACTS
    own = facts.base_url if is_built_in else entry.base_url or facts.base_url
    if own is not None:
        for alias in dict.fromkeys(_aliases(name)):
            if found := profiles.keys.get(alias):
                yield _tried(found.text, f"the profile {found.profile} in {found.file}", environ, own)
    for variable in facts.key_variables:
        if text := environ.get(variable, "").strip():
            yield _tried(text, f"the environment variable {variable}", {}, facts.base_url)
    if entry.api_key:
        place = f"models.providers.{entry_name(name)}.apiKey"
        yield _tried(entry.api_key, place, environ, entry.base_url or facts.base_url)


def _tried(text: str, place: str, environ: Mapping[str, str], home: str | None) -> Key | UnusableKey:
    try:
        return read_key(text, place, environ, home)
    except UnusableKey as error:
        return error


def read_key(text: str, place: str, environ: Mapping[str, str], home: str | None) -> Key:
    """The key that `text`, which stands at `place`, is or names. Raises UnusableKey."""
    origin = place
    if variable := named_variable(text, environ):
        value = environ.get(variable, "")
        origin = f"the environment variable {variable}, named by {place}"
        if not value.strip():
            raise UnusableKey(
                f"{place} names the environment variable {variable}, which is not set",
                hint=f"set {variable}, or write the key itself",
            )
        text = value
    text = text.strip()
    if not all("!" <= character <= "~" for character in text):
        raise UnusableKey(
            f"the key from {origin} holds blanks or characters that no key has",
            hint="copy the key once more, without anything around it",
        )
    return Key(Secret(text), origin, None if home is None else server_of(home))


def named_variable(text: str, environ: Mapping[str, str]) -> str | None:
    """The environment variable that stands in place of a key.

    One that is not set is told from a key by its form, so that `OPENAI_API_KEY` is not sent as a key.
    """
    if found := re.fullmatch(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", text):
        return found[1]
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) and text in environ:
        return text
    return text if re.fullmatch(r"[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET)", text) else None


def _withheld(name: str, key: Key, base_url: str, *, by_remote: bool) -> UnusableKey:
    host = host_of(base_url)
    place = "memorySearch.remote" if by_remote else f"models.providers.{entry_name(name)}"
    return UnusableKey(
        f"{place}.baseUrl leads to {host}, and the key from {key.origin} is not for that host: "
        "it was not sent",
        hint=f"set {place}.apiKey to the key for {host}",
    )


def _missing(name: str, *, is_fallback: bool) -> UnusableKey:
    """Names the places that were looked into; `remote.apiKey` is none of a fallback's."""
    variables = REMOTE_FACTS[name].key_variables if name in REMOTE_FACTS else ()
    named = " or ".join(variables)
    places = ["auth profiles"] if is_fallback else [_REMOTE_KEY, "auth profiles"]
    places += [f"the environment ({named})"] if named else []
    entry = f"models.providers.{entry_name(name)}.apiKey"
    return UnusableKey(
        f"no key in {', '.join(places)} or {entry}",
        hint=f"set {named or (entry if is_fallback else _REMOTE_KEY)}",
    )
