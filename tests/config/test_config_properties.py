from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memlane.config import AgentSettings, describe, json_schema
from memlane.errors import ConfigError

TELLING = [
    *("none", "auto", "gemini", "mine", "memory", "image", "rw", "on", "a"),
    *("~", "~/x", "/", "..", "{agentId}", "hf:a", "http://h", "http://[", "5m", "2mb"),
    *("${A}", "${B}", "$${B}", "a\0", "\ud800"),
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10),
    st.integers(),
    st.floats(),
    st.just(10**30),
    st.text(max_size=6),
    st.sampled_from(TELLING),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["path", "id", "action", "x", "\ud800"]), inner),
    ),
    max_leaves=5,
)

DEFINITIONS = json_schema()["$defs"]


def paths_in(name: str, *path: str) -> Iterator[tuple[str, ...]]:
    """The paths of all keys, groups included, of one definition of the JSON Schema."""
    for key, entry in DEFINITIONS[name]["properties"].items():
        yield (*path, key)
        if "$ref" in entry:
            yield from paths_in(entry["$ref"].rsplit("/", 1)[1], *path, key)


PATHS = [
    *paths_in("File"),
    ("agents", "list", "0"),
    ("agents", "entries", "work"),
    *paths_in("ListedAgent", "agents", "list", "0"),
    *paths_in("Agent", "agents", "entries", "work"),
    *paths_in("Provider", "models", "providers", "mine"),
    ("memorySearch",),
]


def put(document: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    """Set a value in nested objects, of which `list` holds a list. What is in the way is replaced."""
    *above, last = path
    place: Any = document
    for name in above:
        if isinstance(place, list):
            place = place[0]
            continue
        wanted: Any = [{"id": "a"}] if name == "list" else {}
        if not isinstance(place.get(name), type(wanted)) or not place[name] or not _is_holder(place[name]):
            place[name] = wanted
        place = place[name]
    if isinstance(place, list):
        place[0] = value
    else:
        place[last] = value


def _is_holder(value: object) -> bool:
    return isinstance(value[0], dict) if isinstance(value, list) else True


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PATHS), VALUES), min_size=1, max_size=4))
def test_any_value_anywhere_gives_settings_or_a_config_error(shared_machine, changes: list[Any]) -> None:
    document: dict[str, Any] = {}
    for path, value in changes:
        put(document, path, copy.deepcopy(value))
    try:
        configuration = shared_machine.load(document, environ={"A": "value"})
    except ConfigError as error:
        assert str(shared_machine.file) in str(error)
        return
    for agent_id in configuration.agent_ids:
        try:
            resolved = configuration.agent(agent_id)
        except ConfigError as error:
            assert str(shared_machine.file) in str(error)
        else:
            json.dumps(describe(resolved))


# Another value for every key of an agent that no other key depends on.
OTHER: dict[str, object] = {
    "memorySearch.enabled": False,
    "memorySearch.provider": "none",
    "memorySearch.model": "m",
    "memorySearch.outputDimensionality": 256,
    "memorySearch.inputType": "a",
    "memorySearch.queryInputType": "b",
    "memorySearch.documentInputType": "c",
    "memorySearch.fallback": "bundled",
    "memorySearch.remote.baseUrl": "http://h",
    "memorySearch.remote.apiKey": "k",
    "memorySearch.remote.headers": {"X": "y"},
    "memorySearch.remote.pricePerMillionTokens": 0.5,
    "memorySearch.remote.batch.enabled": True,
    "memorySearch.remote.batch.wait": False,
    "memorySearch.remote.batch.concurrency": 3,
    "memorySearch.remote.batch.pollIntervalMs": 0,
    "memorySearch.remote.batch.timeoutMinutes": 1,
    "memorySearch.local.modelPath": "hf:x",
    "memorySearch.local.modelCacheDir": "/c",
    "memorySearch.multimodal.modalities": ["audio"],
    "memorySearch.multimodal.maxFileBytes": 1,
    "memorySearch.store.path": "/s/{agentId}",
    "memorySearch.store.vector.enabled": False,
    "memorySearch.store.vector.extensionPath": "/v",
    "memorySearch.extraPaths": ["/e"],
    "memorySearch.chunking.tokens": 500,
    "memorySearch.chunking.overlap": 0,
    "memorySearch.sync.onSessionStart": False,
    "memorySearch.sync.onSearch": False,
    "memorySearch.sync.watch": False,
    "memorySearch.sync.watchDebounceMs": 0,
    "memorySearch.sync.intervalMinutes": 9,
    "memorySearch.sync.sessions.deltaBytes": 0,
    "memorySearch.sync.sessions.deltaMessages": 0,
    "memorySearch.sync.sessions.postCompactionForce": False,
    "memorySearch.query.maxResults": 20,
    "memorySearch.query.minScore": 0,
    "memorySearch.query.rerank.enabled": False,
    "memorySearch.query.rerank.model": "/m",
    "memorySearch.query.rerank.candidates": 1,
    "memorySearch.query.rerank.deadlineMs": 0,
    "memorySearch.query.hybrid.enabled": False,
    "memorySearch.query.hybrid.candidateMultiplier": 20,
    "memorySearch.query.hybrid.fusion": "rrf",
    "memorySearch.query.hybrid.mmr.enabled": True,
    "memorySearch.query.hybrid.mmr.lambda": 1,
    "memorySearch.query.hybrid.temporalDecay.enabled": True,
    "memorySearch.query.hybrid.temporalDecay.halfLifeDays": 0.5,
    "memorySearch.cache.enabled": False,
    "memorySearch.cache.maxEntries": 1,
    "memorySearch.cache.maxBytes": 1,
    "memorySearch.recall.enabled": True,
    "memorySearch.recall.maxResults": 2,
    "memorySearch.recall.maxChars": 99,
    "memorySearch.recall.minConfidence": 0.25,
    "memorySearch.experimental.sessionMemory": True,
    "compaction.reserveTokensFloor": 0,
    "compaction.postIndexSync": "await",
    "compaction.memoryFlush.enabled": False,
    "compaction.memoryFlush.softThresholdTokens": 0,
    "compaction.memoryFlush.forceFlushTranscriptBytes": 0,
    "compaction.memoryFlush.systemPrompt": "s",
    "compaction.memoryFlush.prompt": "p",
    "compaction.memoryFlush.model": "m",
    "sandbox.workspaceAccess": "ro",
    "userTimezone": "Asia/Seoul",
    "contextTokens": 1,
    "model": "own/small",
    "workspace": "/w",
}
ENTANGLED = {
    "memorySearch.sources",  # with session memory
    "memorySearch.multimodal.enabled",  # with provider and model
    "memorySearch.store.driver",  # has one usable value
    "memorySearch.query.hybrid.vectorWeight",  # scaled together
    "memorySearch.query.hybrid.textWeight",
}
PLACES = [("agents", "defaults"), ("agents", "list", "0"), ("agents", "entries", "a")]


def rows(resolved: AgentSettings) -> dict[str, object]:
    return {key: value for key, value, _ in describe(resolved)}


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(OTHER)), st.sampled_from(PLACES), min_size=1, max_size=5))
def test_keys_set_in_any_place_change_themselves_alone(
    shared_machine, chosen: dict[str, tuple[str, ...]]
) -> None:
    document: dict[str, Any] = {"agents": {"list": [{"id": "a"}]}}
    plain = rows(shared_machine.agent(document))
    for key, place in chosen.items():
        put(document, (*place, *key.split(".")), copy.deepcopy(OTHER[key]))
    shared_remote = chosen.get("memorySearch.remote.apiKey") == PLACES[0]
    if shared_remote and chosen.get("memorySearch.remote.baseUrl", PLACES[0]) != PLACES[0]:
        chosen.pop("memorySearch.remote.apiKey")  # refused on purpose: the key would go to another host
        del document["agents"]["defaults"]["memorySearch"]["remote"]["apiKey"]
    resolved = shared_machine.agent(document)
    changed = rows(resolved)
    assert {key for key in changed if changed[key] != plain[key]} == set(chosen)
    assert {key for key in changed if resolved.origin(key).kind in {"file", "agent"}} == {*chosen, "agent"}


def test_the_other_values_cover_every_key_that_stands_alone(shared_machine) -> None:
    of_an_agent = {key for key in rows(shared_machine.agent()) if not key.startswith(("memory.", "plugins."))}
    assert of_an_agent - ENTANGLED - {"config", "stateDir", "agent"} == set(OTHER)
