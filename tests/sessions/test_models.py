"""Which chat model is meant by which words, and which key goes where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlane import Memory, UsageError
from memlane.config import AgentSettings
from memlane.sessions.models import ModelChoice, choose

KEY = "sk-configured-0123456789"
PROVIDERS = {
    "mine": {"baseUrl": "http://mine.example/v1", "apiKey": "MINE_KEY", "headers": {"x-team": "blue"}},
    "boxed": {"api": "ollama", "baseUrl": "http://box.example:11434"},
    "anthropic": {"apiKey": KEY},
    "proxy": {"api": "anthropic-messages", "baseUrl": "http://proxy.example"},
    "odd": {"api": "carrier-pigeon", "baseUrl": "http://odd.example"},
    "sized": {
        "baseUrl": "http://sized.example/v1",
        "models": [{"id": "a/b", "contextWindow": 9000, "contextTokens": 5000}, {"id": "c", "cost": {}}],
    },
}
Configured = Callable[..., AgentSettings]


@pytest.fixture
def configured(tmp_path: Path, notes: Path) -> Configured:
    def settings(**defaults: Any) -> AgentSettings:
        config = {
            "agents": {"defaults": {"workspace": str(notes), **defaults}},
            "models": {"providers": PROVIDERS},
        }
        (tmp_path / "openclaw.json").write_text(json.dumps(config), "utf-8")
        environ = {"MINE_KEY": KEY, "OTHER": "sk-other"}
        with Memory.open(state_dir=tmp_path, environ=environ) as memory:
            return memory.settings

    return settings


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("mine/a/b:c", ModelChoice("a/b:c", base_url="http://mine.example/v1", headers={"x-team": "blue"})),
        ("boxed/llama3:8b", ModelChoice("llama3:8b", base_url="http://box.example:11434/v1")),
        ("ollama/llama3:8b", ModelChoice("llama3:8b", base_url="http://127.0.0.1:11434/v1")),
        ("anthropic/claude", ModelChoice("claude", provider="anthropic")),
        ("proxy/claude", ModelChoice("claude", provider="anthropic", base_url="http://proxy.example")),
        ("sized/a/b", ModelChoice("a/b", base_url="http://sized.example/v1", context_tokens=5000)),
        ("sized/c", ModelChoice("c", base_url="http://sized.example/v1")),
        ("openai:gpt", ModelChoice("gpt", provider="openai")),
        ("google-gla:gemini", ModelChoice("gemini", provider="google")),
        ("openrouter:meta/llama", ModelChoice("meta/llama", provider="openrouter")),
        ("groq/llama", ModelChoice("llama", provider="groq")),
        ("package.models:chat", ModelChoice("chat", provider="package.models")),
    ],
)
def test_a_model_is_known_by_its_name(configured: Configured, named: str, expected: ModelChoice) -> None:
    from msgspec.structs import replace

    assert replace(choose(configured(), model=named), key=None) == expected


def test_keys_go_to_their_own_servers_only(configured: Configured) -> None:
    settings = configured()
    assert choose(settings, model="mine/a").key == KEY
    assert choose(settings, model="anthropic/claude").key == KEY
    assert choose(settings, model="mine/a", base_url="http://else.example/v1").key is None
    assert choose(settings, model="a", base_url="http://h/v1", key_variable="OTHER").key == "sk-other"
    assert choose(settings, model="mine/a", key_variable="OTHER").key == "sk-other"
    assert KEY not in repr(choose(settings, model="mine/a"))


@pytest.mark.parametrize("model", ["mine/small", {"primary": "mine/small", "fallbacks": ["odd/x"]}])
def test_the_configured_model_is_meant_where_none_is_named(configured: Configured, model: Any) -> None:
    assert choose(configured(model=model)).model == "small"
    assert choose(configured(model=model), model="boxed/other").model == "other"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no chat model is named"),
        ({"model": "  "}, "no chat model is named"),
        ({"model": "small"}, "it is not known where the model 'small' is to be had"),
        ({"model": "odd/x"}, 'models.providers.odd.api is "carrier-pigeon"'),
        ({"model": "a", "base_url": "ftp://h"}, "--base-url is no address"),
        ({"model": "a", "base_url": "http://[::1"}, "--base-url is no address"),
        ({"model": "a", "key_variable": "NOT_SET"}, "NOT_SET is not set"),
    ],
)
def test_what_names_no_model_is_told(configured: Configured, options: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose(configured(), **options)
    assert words in str(caught.value)
    assert caught.value.hint


def test_a_configured_model_that_is_no_name_is_refused(configured: Configured) -> None:
    with pytest.raises(UsageError, match=r"agents\.defaults\.model\.primary is 5; allowed: provider/model"):
        configured(model={"primary": 5})
