"""The platform's file of keys, in the form of docs.openclaw.ai/concepts/model-failover as of 2026-12-01."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memlane.config.auth_profiles import auth_profile_files, read_auth_profiles

OPENAI = {"type": "api_key", "provider": "openai", "key": "sk-openai"}


def put(state: Path, document: object, *, agent: str | None = "main") -> Path:
    own, shared = auth_profile_files(state, agent or "main")
    file = own if agent else shared
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return file


def keys(state: Path) -> dict[str, str]:
    return {name: str(key.text) for name, key in read_auth_profiles(state, "main").keys.items()}


def test_the_files_are_the_agents_own_and_the_shared_one() -> None:
    state = Path("/state")
    own, shared = auth_profile_files(state, "work")
    assert own == state / "agents/work/agent/auth-profiles.json"
    assert shared == state / "auth-profiles.json"


def test_keys_are_read_and_chat_products_left_out(tmp_path: Path) -> None:
    profiles = {
        "openai-codex:me@example.org": {"type": "oauth", "provider": "openai", "access": "no"},
        "openai:work": {"type": "token", "provider": "openai", "token": "no"},
        "openai:default": OPENAI,
        "google:default": {"mode": "api_key", "provider": "Google", "key": "AIza"},
        "voyage:default": {"type": "api_key", "key": "pa-1"},
        "mistral:default": {
            "type": "api_key", "provider": "mistral",
            "keyRef": {"source": "env", "provider": "default", "id": "MY_MISTRAL"},
        },
    }  # fmt: skip
    put(tmp_path, {"version": 1, "profiles": profiles, "usageStats": {}})
    assert keys(tmp_path) == {
        "openai": "sk-openai",
        "google": "AIza",
        "voyage": "pa-1",
        "mistral": "${MY_MISTRAL}",
    }
    assert read_auth_profiles(tmp_path, "main").problems == ()
    assert read_auth_profiles(tmp_path, "another").keys == {}


def test_an_agents_own_key_goes_first_and_the_shared_file_fills_in(tmp_path: Path) -> None:
    put(tmp_path, {"profiles": {"openai:default": OPENAI}})
    shared = {"openai:x": OPENAI | {"key": "sk-shared"}, "voyage:x": OPENAI | {"provider": "voyage"}}
    put(tmp_path, {"profiles": shared}, agent=None)
    assert keys(tmp_path) == {"openai": "sk-openai", "voyage": "sk-openai"}


def test_the_order_of_the_file_decides_among_several(tmp_path: Path) -> None:
    profiles = {"openai:a": OPENAI, "openai:b": OPENAI | {"key": "sk-b"}}
    put(tmp_path, {"profiles": profiles, "order": {"openai": ["openai:gone", "openai:b", 7], "x": None}})
    assert keys(tmp_path) == {"openai": "sk-b"}
    put(tmp_path, {"profiles": profiles, "order": "b"})
    assert keys(tmp_path) == {"openai": "sk-openai"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not JSON"),
        ('{"profiles": {"openai:default": {"key": "sk-secret"', "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ('["sk-secret"]', "it does not hold an object"),
        ('{"profiles": ["sk-secret"]}', "its profiles are not an object"),
        ("\ud800", "it is not JSON"),
    ],
)
def test_a_broken_file_is_named_and_the_other_one_still_read(tmp_path: Path, text: str, why: str) -> None:
    file = put(tmp_path, {})
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    put(tmp_path, {"profiles": {"openai:default": OPENAI}}, agent=None)
    found = read_auth_profiles(tmp_path, "main")
    assert found.problems == (f"{file}: {why}; its keys are not used",)
    assert list(found.keys) == ["openai"]


@pytest.mark.parametrize("key", [None, "", "  ", 7, ["sk-secret"], {"source": "exec", "id": "vault"}])
def test_a_profile_without_a_readable_key_is_named(tmp_path: Path, key: object) -> None:
    profiles = {"openai:vault": {"type": "api_key", "provider": "openai", "key": key}, "odd": 7}
    file = put(tmp_path, {"profiles": profiles})
    found = read_auth_profiles(tmp_path, "main")
    assert found.keys == {}
    assert found.problems == ()
    assert found.unreadable == {
        "openai": f"{file}: the profile openai:vault has no key that can be read here"
    }


def test_a_profile_whose_provider_is_no_name_is_named(tmp_path: Path) -> None:
    file = put(tmp_path, {"profiles": {"odd": {"type": "api_key", "provider": 7, "key": "sk-secret"}}})
    assert read_auth_profiles(tmp_path, "main").problems == (
        f"{file}: the provider of the profile odd is no name; it is not used",
    )


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    put(tmp_path, "\ufeff" + json.dumps({"profiles": {"openai:default": OPENAI}}))
    assert keys(tmp_path) == {"openai": "sk-openai"}


def test_what_is_no_file_is_named_without_waiting_for_it(tmp_path: Path) -> None:
    own, shared = auth_profile_files(tmp_path, "main")
    own.parent.mkdir(parents=True)
    shared.mkdir()
    os.mkfifo(own)
    assert read_auth_profiles(tmp_path, "main").problems == tuple(
        f"{file}: it is not a file; its keys are not used" for file in (own, shared)
    )


def test_keys_are_dots_in_every_repr(tmp_path: Path) -> None:
    put(tmp_path, {"profiles": {"openai:default": OPENAI}})
    assert "sk-openai" not in repr(read_auth_profiles(tmp_path, "main"))
