"""The rules that say which sessions may search."""

from __future__ import annotations

from typing import Any

import pytest

from memlane.config.related import Match, Rule, Scope
from memlane.transcripts.keys import session_from_key
from memlane.transcripts.scope import scope_decision


def scope(default: str, *rules: tuple[str, dict[str, str]]) -> Scope:
    return Scope(default=default, rules=tuple(Rule(action, Match(**match)) for action, match in rules))  # type: ignore[arg-type]


KEY = "agent:main:discord:channel:42"
TABLE: list[tuple[Scope, str | None, bool, int | None]] = [
    (scope("deny"), None, False, None),
    (scope("allow"), KEY, True, None),
    (Scope(), None, True, 1),
    (Scope(), "agent:main:main", True, 1),
    (Scope(), "agent:main:direct:kim", True, 1),
    (Scope(), "agent:main:telegram:dm:kim", True, 1),
    (Scope(), "agent:main:telegram:dm:kim:thread:5", True, 1),
    (Scope(), KEY, False, None),
    (Scope(), "agent:main:cron:x", False, None),
    (Scope(), "agent:main:subagent:x", False, None),
    (Scope(), "whatever", False, None),
    (scope("deny", ("allow", {})), "whatever", True, 1),
    (scope("allow", ("deny", {"channel": "Discord"})), KEY, False, 1),
    (scope("allow", ("deny", {"channel": "discord", "chat_type": "group"})), KEY, True, None),
    (scope("allow", ("deny", {"channel": "discord", "chat_type": "channel"})), KEY, False, 1),
    (scope("allow", ("deny", {"chat_type": "channel"})), f"{KEY}:thread:9", False, 1),
    (scope("deny", ("allow", {"key_prefix": "discord:channel:4"})), KEY, True, 1),
    (scope("deny", ("allow", {"key_prefix": "DISCORD:"})), KEY.upper(), True, 1),
    (scope("deny", ("allow", {"key_prefix": "main"})), KEY, False, None),
    (scope("deny", ("allow", {"key_prefix": "agent:main:discord:"})), KEY, True, 1),
    (scope("deny", ("allow", {"key_prefix": "agent:main:discord:"})), "discord:channel:42", False, None),
    (scope("deny", ("allow", {"raw_key_prefix": "agent:main:"})), KEY, True, 1),
    (scope("deny", ("allow", {"raw_key_prefix": "discord:"})), KEY, False, None),
    (scope("deny", ("allow", {"raw_key_prefix": "agent:", "key_prefix": "slack"})), KEY, False, None),
    (scope("deny", ("deny", {"channel": "slack"}), ("allow", {"channel": "discord"})), KEY, True, 2),
    (scope("deny", ("deny", {"channel": "discord"}), ("allow", {"channel": "discord"})), KEY, False, 1),
]


@pytest.mark.parametrize(("rules", "key", "allowed", "rule"), TABLE)
def test_the_first_rule_that_matches_decides(
    rules: Scope, key: str | None, allowed: bool, rule: int | None
) -> None:
    found = scope_decision(rules, session_from_key(key))
    assert (found.allowed, found.rule) == (allowed, rule)


@pytest.mark.parametrize(
    ("given", "channel", "chat_type"),
    [
        ({}, "discord", "channel"),
        ({"channel": "Slack", "chat_type": "GROUP"}, "slack", "group"),
        ({"chat_type": "direct"}, "discord", "direct"),
    ],
)
def test_what_the_store_knows_wins(given: dict[str, Any], channel: str, chat_type: str) -> None:
    found = scope_decision(Scope(), session_from_key(KEY), **given)
    assert (found.channel, found.chat_type) == (channel, chat_type)
    assert found.allowed == (chat_type == "direct")
