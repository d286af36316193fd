"""Which values in force are secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlane.config import configured_secrets, load_config


def test_keys_from_everywhere_and_nothing_else(tmp_path: Path) -> None:
    state = tmp_path / "state"
    (state / "agents" / "main" / "agent").mkdir(parents=True)
    section = {
        "provider": "mine",
        "fallback": "openai",
        "remote": {
            "baseUrl": "https://example.org/v1",
            "apiKey": "MY_KEY",
            "headers": {"X-Api-Token": "Bearer token-of-header", "Accept": "application/json"},
        },
    }
    document = {
        "agents": {"defaults": {"memorySearch": section}},
        "models": {
            "providers": {
                "mine": {
                    "api": "openai-completions",
                    "baseUrl": "https://example.org/v1",
                    "apiKey": "key-of-mine",
                }
            }
        },
    }
    (state / "openclaw.json").write_text(json.dumps(document))
    profile = {"type": "api_key", "provider": "openai", "key": "key-of-profile"}
    (state / "agents" / "main" / "agent" / "auth-profiles.json").write_text(
        json.dumps({"version": 1, "profiles": {"openai:default": profile}})
    )
    environ = {"MY_KEY": "key-of-variable", "VOYAGE_API_KEY": "key-of-voyage", "EDITOR": "an-editor"}
    settings = load_config(environ=environ, home=tmp_path, state_dir=state).agent(None)
    assert set(configured_secrets(settings)) == {
        "key-of-variable",
        "Bearer token-of-header",
        "token-of-header",
        "key-of-mine",
        "key-of-profile",
        "key-of-voyage",
    }
    assert "key-of" not in repr(configured_secrets(settings))


def test_a_variable_that_is_not_set_gives_no_secret(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    section = {"remote": {"apiKey": "OPENAI_API_KEY"}}
    document = {"agents": {"defaults": {"memorySearch": section}}}
    (state / "openclaw.json").write_text(json.dumps(document))
    settings = load_config(environ={}, home=tmp_path, state_dir=state).agent(None)
    assert configured_secrets(settings) == ()


@pytest.mark.parametrize(
    ("written", "secret"),
    [
        ("my_key", "key-of-variable"),
        ("ABCD1234EFGH5678", "ABCD1234EFGH5678"),
        ("${my_key}", "key-of-variable"),
    ],
)
def test_what_counts_as_a_key_is_what_is_sent(tmp_path: Path, written: str, secret: str) -> None:
    state = tmp_path / "state"
    state.mkdir()
    document = {"agents": {"defaults": {"memorySearch": {"remote": {"apiKey": written}}}}}
    (state / "openclaw.json").write_text(json.dumps(document))
    settings = load_config(environ={"my_key": "key-of-variable"}, home=tmp_path, state_dir=state).agent(None)
    assert configured_secrets(settings) == (secret,)
