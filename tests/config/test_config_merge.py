from __future__ import annotations

import pytest

from memlane.config import ExtraPath
from memlane.errors import ConfigError


def two(own: object, defaults: object) -> dict[str, object]:
    return {"agents": {"defaults": {"memorySearch": defaults}, "list": [{"id": "main", "memorySearch": own}]}}


def test_an_agent_overrides_leaf_by_leaf(machine) -> None:
    settings = machine.agent(
        two(
            {"query": {"hybrid": {"mmr": {"lambda": 0.2}}}},
            {"query": {"minScore": 0.1, "hybrid": {"mmr": {"enabled": True, "lambda": 0.9}}}},
        )
    )
    query = settings.memory_search.query
    assert (query.hybrid.mmr.lambda_, query.hybrid.mmr.enabled, query.min_score) == (0.2, True, 0.1)
    assert query.max_results == 6
    assert query.hybrid.candidate_multiplier == 4


def test_one_partial_setting_leaves_every_other_default(machine) -> None:
    plain = machine.agent({}).memory_search
    changed = machine.search({"query": {"hybrid": {"temporalDecay": {"enabled": True}}}}).memory_search
    assert changed.query.hybrid.temporal_decay.enabled
    assert changed.query.hybrid.temporal_decay.half_life_days == 30
    assert changed.query.hybrid.mmr == plain.query.hybrid.mmr
    assert changed.query.hybrid.vector_weight == 0.7
    assert changed.sync == plain.sync


def test_origins_tell_which_place_decided(machine) -> None:
    settings = machine.agent(
        two({"query": {"maxResults": 3}}, {"query": {"maxResults": 4, "minScore": 0.5}, "model": "m"})
    )
    own, shared = (
        settings.origin("memorySearch.query.maxResults"),
        settings.origin("memorySearch.query.minScore"),
    )
    assert (own.kind, own.place) == ("agent", "agents.list[0].memorySearch.query.maxResults")
    assert (shared.kind, shared.place) == ("file", "agents.defaults.memorySearch.query.minScore")
    assert str(shared) == f"{machine.file}: agents.defaults.memorySearch.query.minScore"
    assert str(settings.origin("memorySearch.cache.enabled")) == "built-in default"
    assert str(settings.origin("agent")) == f"{machine.file}: agents.list[0]"


def test_extra_paths_are_joined_defaults_first_trimmed_and_once(machine) -> None:
    settings = machine.agent(two({"extraPaths": [" /b ", "/c", "/a/"]}, {"extraPaths": ["/a", "/b"]}))
    assert [entry.path for entry in settings.memory_search.extra_paths] == ["/a", "/b", "/c"]
    assert settings.origin("memorySearch.extraPaths").place == (
        "agents.defaults.memorySearch.extraPaths + agents.list[0].memorySearch.extraPaths"
    )


def test_an_agent_may_say_more_of_a_path_of_the_defaults(machine) -> None:
    own = {"extraPaths": [{"path": "/a", "evergreen": False}, {"path": "/a", "pattern": "*.txt"}]}
    settings = machine.agent(two(own, {"extraPaths": ["/a", "/b"]}))
    assert settings.memory_search.extra_paths == (
        ExtraPath("/a", evergreen=False),
        ExtraPath("/b"),
        ExtraPath("/a", pattern="*.txt"),
    )


def test_headers_are_joined_and_the_agents_win_in_any_case(machine) -> None:
    settings = machine.agent(
        two(
            {"remote": {"headers": {"x-team": "mine"}}},
            {"remote": {"headers": {"X-Team": "all", "X-Org": "o"}}},
        )
    )
    assert settings.memory_search.remote.headers == {"X-Org": "o", "x-team": "mine"}


def test_null_unsets_where_unset_is_possible(machine) -> None:
    assert machine.agent(two({"model": None}, {"model": "m"})).memory_search.model is None
    with pytest.raises(ConfigError, match=r"query.maxResults is null; allowed: a whole number at least 1"):
        machine.search({"query": {"maxResults": None}})


def test_an_overridden_value_is_checked_all_the_same(machine) -> None:
    with pytest.raises(ConfigError, match=r"agents.defaults.memorySearch.query.maxResults is 0"):
        machine.agent(two({"query": {"maxResults": 3}}, {"query": {"maxResults": 0}}))


def test_other_keys_of_an_agent_override_too(machine) -> None:
    document = {
        "agents": {
            "defaults": {
                "userTimezone": "Asia/Seoul",
                "contextTokens": 100000,
                "sandbox": {"workspaceAccess": "ro", "mode": "all"},
                "compaction": {"reserveTokensFloor": 1, "memoryFlush": {"prompt": "p", "enabled": False}},
            },
            "list": [
                {
                    "id": "a",
                    "sandbox": {"workspaceAccess": "none"},
                    "compaction": {"memoryFlush": {"enabled": True, "forceFlushTranscriptBytes": "3mb"}},
                }
            ],
        }
    }
    settings = machine.agent(document)
    assert settings.workspace_access == "none"
    assert settings.user_timezone == "Asia/Seoul"
    assert settings.context_tokens == 100000
    flush = settings.compaction.memory_flush
    assert (settings.compaction.reserve_tokens_floor, flush.prompt, flush.enabled) == (1, "p", True)
    assert flush.force_flush_transcript_bytes == 3 * 1024 * 1024
    assert settings.warnings == ()


# ---- two spellings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"agents": {"defaults": {"memorySearch": {"model": "m"}}}}, "agents.defaults.memorySearch.model"),
        ({"memory": {"search": {"model": "m"}}}, "memory.search.model"),
        (
            {"agents": {"list": [{"id": "main", "memorySearch": {"model": "m"}}]}},
            "agents.list[0].memorySearch.model",
        ),
        (
            {"agents": {"entries": {"main": {"memory": {"search": {"model": "m"}}}}}},
            "agents.entries.main.memory.search.model",
        ),
    ],
)
def test_each_spelling_means_the_same(machine, document: object, place: str) -> None:
    settings = machine.agent(document)
    assert settings.memory_search.model == "m"
    assert settings.origin("memorySearch.model").place == place
    assert settings.warnings == ()


def test_both_spellings_complement_each_other(machine) -> None:
    settings = machine.agent(
        {
            "agents": {"defaults": {"memorySearch": {"query": {"maxResults": 3}}}},
            "memory": {"search": {"query": {"minScore": 0.1}}, "citations": "off"},
        }
    )
    assert (settings.memory_search.query.max_results, settings.memory_search.query.min_score) == (3, 0.1)
    assert settings.memory.citations == "off"
    assert settings.warnings == ()


def test_of_two_spellings_of_one_key_the_documented_one_wins(machine) -> None:
    settings = machine.agent(
        {"agents": {"defaults": {"memorySearch": {"model": "a"}}}, "memory": {"search": {"model": "b"}}}
    )
    assert settings.memory_search.model == "a"
    assert settings.warnings == (
        f"{machine.file}: memory.search.model is ignored, because agents.defaults.memorySearch.model "
        "sets the same; keep one of them",
    )


def test_an_agents_later_spelling_wins_over_the_documented_defaults(machine) -> None:
    settings = machine.agent(
        {
            "agents": {
                "defaults": {"memorySearch": {"model": "a"}},
                "entries": {"main": {"memory": {"search": {"model": "b"}}}},
            }
        }
    )
    assert settings.memory_search.model == "b"
    assert settings.warnings == ()


def test_the_conflict_is_named_among_three_places(machine) -> None:
    settings = machine.agent(
        {
            "agents": {
                "defaults": {"memorySearch": {"extraPaths": ["/a"]}},
                "list": [{"id": "main", "memorySearch": {"extraPaths": ["/c"]}}],
            },
            "memory": {"search": {"extraPaths": ["/b"]}},
        }
    )
    assert [entry.path for entry in settings.memory_search.extra_paths] == ["/a", "/c"]
    (warning,) = settings.warnings
    assert "memory.search.extraPaths is ignored, because agents.defaults.memorySearch.extraPaths" in warning


@pytest.mark.parametrize(
    ("document", "place"),
    [({"memorySearch": {}}, "memorySearch"), ({"agents": {"memorySearch": {}}}, "agents.memorySearch")],
)
def test_memory_search_in_the_wrong_place_is_an_error(machine, document: object, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.load(document)
    assert str(caught.value) == (
        f"{machine.file}: {place} has no effect there; move it to agents.defaults.memorySearch"
    )


# ---- unknown keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "said"),
    [
        ({"quary": {}}, 'quary is not known and ignored; did you mean "query"?'),
        ({"extra_paths": []}, 'extra_paths is not known and ignored; did you mean "extraPaths"?'),
        ({"minScore": 0.1}, 'minScore is not known and ignored; did you mean "query.minScore"?'),
        ({"query": {"mmr": {}}}, 'query.mmr is not known and ignored; did you mean "hybrid.mmr"?'),
        (
            {"cache": {"zzz": 1}},
            "cache.zzz is not known and ignored; known here: enabled, maxEntries, maxBytes",
        ),
        (
            {"extraPaths": [{"path": "/a", "evergren": True}]},
            'extraPaths[0].evergren is not known and ignored; did you mean "evergreen"?',
        ),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest_name(machine, search: object, said: str) -> None:
    settings = machine.search(search)
    assert settings.warnings == (f"{machine.file}: agents.defaults.memorySearch.{said}",)


def test_unknown_keys_of_the_backend_and_its_rules(machine) -> None:
    settings = machine.agent(
        {
            "memory": {
                "citation": "on",
                "qmd": {"scope": {"rules": [{"action": "deny", "match": {"chattype": "group"}}]}},
            }
        }
    )
    assert settings.warnings == (
        f"{machine.file}: memory.qmd.scope.rules[0].match.chattype is not known and ignored; "
        'did you mean "chatType"?',
        f'{machine.file}: memory.citation is not known and ignored; did you mean "citations"?',
    )


def test_what_belongs_to_others_is_none_of_our_business(machine) -> None:
    settings = machine.agent(
        {
            "channels": {"memory": "${NOT_SET}", "x": None},
            "gateway": 7,
            "tools": [],
            "agents": {
                "defaults": {
                    "model": "x/y",
                    "heartbeat": {"every": "${NOT_SET}"},
                    "compaction": {"mode": "safeguard"},
                },
                "list": [{"id": "main", "tools": {"profile": "full"}, "name": 3}],
            },
            "plugins": {"slots": {"contextEngine": "legacy"}, "entries": {}},
            "models": {
                "mode": "merge",
                "providers": {"anthropic": {"apiKey": "${NOT_SET}", "models": [], "auth": 1}},
            },
        }
    )
    assert settings.warnings == ()


@pytest.mark.parametrize("name", ["memorysearch", "memory_search", "memory-search", "MemorySearch"])
def test_a_misspelt_name_among_foreign_keys_is_still_said(machine, name: str) -> None:
    settings = machine.agent({"agents": {"defaults": {name: {"provider": "none"}}}})
    assert settings.warnings == (
        f'{machine.file}: agents.defaults.{name} is not known and ignored; write "memorySearch"',
    )


def test_includes_are_not_followed_and_said(machine) -> None:
    configuration = machine.load({"$include": "./base.json5"})
    assert configuration.warnings == (
        f"{machine.file}: $include is not followed; memory's settings must stand in the file itself",
    )
    assert configuration.agent().warnings == configuration.warnings


def test_an_agents_memory_holds_search_only(machine) -> None:
    settings = machine.agent({"agents": {"entries": {"main": {"memory": {"citations": "on"}}}}})
    assert settings.memory.citations == "auto"
    assert settings.warnings == (
        f"{machine.file}: agents.entries.main.memory.citations is ignored; "
        "only search can be set for an agent there",
    )
