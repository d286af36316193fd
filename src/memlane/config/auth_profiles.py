"""The keys in the platform's `auth-profiles.json`: an agent's own file, then the one all agents share.

The form is that of https://docs.openclaw.ai/concepts/model-failover as of 2026-12-01:
`{version, profiles: {"openai:default": {type: "api_key", provider, key}}, order?: {provider: [profile]}}`.
A key may also be `keyRef: {source: "env", id}`, the name of an environment variable. Profiles of chat
products (`oauth`, `token`) are none of embedding's business.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .kinds import Secret

_MOST_BYTES = 10_000_000


class ProfileKey(Struct, frozen=True):
    """The key of one profile, as it stands there."""

    text: Secret
    """The key itself, or `${NAME}`."""
    profile: str
    file: Path


class AuthProfiles(Struct, frozen=True):
    """What the files hold that embedding can use."""

    keys: Mapping[str, ProfileKey]
    """By the platform's name of the provider, in lower case."""
    problems: tuple[str, ...]
    """What could not be read, naming the file."""
    unreadable: Mapping[str, str]
    """By provider, the profile that holds no key which could be read here, such as one that a vault keeps."""


def auth_profile_files(state_dir: Path, agent_id: str) -> tuple[Path, Path]:
    """Where the profiles of an agent are, its own file first."""
    name = "auth-profiles.json"
    return state_dir / "agents" / agent_id / "agent" / name, state_dir / name


def read_auth_profiles(state_dir: Path, agent_id: str) -> AuthProfiles:
    """The usable profiles of an agent. What cannot be read is a problem, never an error."""
    keys: dict[str, ProfileKey] = {}
    problems: list[str] = []
    unreadable: dict[str, str] = {}
    for file in auth_profile_files(state_dir, agent_id):
        try:
            for provider, name, text in _api_keys(file, _document(file), problems):
                if text is None:
                    problem = f"{file}: the profile {name} has no key that can be read here"
                    unreadable.setdefault(provider, problem)
                else:
                    keys.setdefault(provider, ProfileKey(Secret(text), name, file))
        except _Unreadable as error:
            problems.append(f"{file}: {error}; its keys are not used")
    return AuthProfiles(keys, tuple(problems), unreadable)


class _Unreadable(Exception):  # noqa: N818 - never leaves the module
    """Why a file cannot be used. Never quotes it: it holds keys."""


def _document(file: Path) -> dict[str, Any]:
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _Unreadable("it is not a file")
        if found.st_size > _MOST_BYTES:
            raise _Unreadable(f"it has more than {_MOST_BYTES:,} bytes")
        document = msgspec.json.decode(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _Unreadable(f"it cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _Unreadable("it is not JSON") from error
    if not isinstance(document, dict):
        raise _Unreadable("it does not hold an object")
    return document


def _api_keys(
    file: Path, document: dict[str, Any], problems: list[str]
) -> Iterator[tuple[str, str, str | None]]:
    """The profiles for API keys: provider, name, key; those first that the file's own order names first."""
    profiles = document.get("profiles", {})
    if not isinstance(profiles, dict):
        raise _Unreadable("its profiles are not an object")
    for name in _in_order(profiles, document.get("order")):
        profile = profiles[name]
        if not isinstance(profile, dict) or profile.get("type", profile.get("mode")) != "api_key":
            continue
        provider = profile.get("provider", name.partition(":")[0])
        if isinstance(provider, str):
            yield provider.strip().lower(), name, _key_text(profile)
        else:
            problems.append(f"{file}: the provider of the profile {name} is no name; it is not used")


def _in_order(profiles: dict[str, Any], order: object) -> list[str]:
    """The profiles' names, those first that `order` lists for some provider."""
    lists = [names for names in order.values() if isinstance(names, list)] if isinstance(order, dict) else []
    first = [name for names in lists for name in names if isinstance(name, str) and name in profiles]
    return list(dict.fromkeys((*first, *profiles)))


def _key_text(profile: dict[str, Any]) -> str | None:
    """The key, or a reference to the environment; None for one that some vault keeps."""
    text = profile.get("key", profile.get("apiKey"))
    if isinstance(text, str) and text.strip():
        return text
    match profile.get("keyRef"):
        case {"source": "env", "id": str(variable)}:
            return f"${{{variable}}}"
    return None
