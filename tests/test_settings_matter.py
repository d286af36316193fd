"""Every setting that is in force changes something a user can see."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.embeddings_api import OpenAiService, served
from tests.media_embedder import MediaEmbedder
from tests.media_files import png, wav
from tests.said import line, put, store, transcript

from memlane import Memory, SearchResult
from memlane.clock import FixedClock
from memlane.config import describe
from memlane.testing import HashEmbedder, WordReranker

Observe = Callable[[Memory], object]


def search(query: str, **options: Any) -> Callable[[Memory], SearchResult]:
    return lambda memory: memory.search(query, **options)


def paths(query: str) -> Observe:
    return lambda memory: [hit.path for hit in memory.search(query)]


def scores(query: str) -> Observe:
    return lambda memory: [round(hit.score, 6) for hit in memory.search(query)]


def synced(memory: Memory) -> Memory:
    memory.sync()
    return memory


# Key → (a value other than the default, what to look at). Values are those of `memorySearch`.
VISIBLE: dict[str, tuple[object, Observe]] = {
    "enabled": (False, lambda memory: memory.search("tea").why),
    "extraPaths": (["../team"], paths("windmill")),
    "provider": ("none", lambda memory: memory.search("tea").mode),
    "model": ("e5", lambda memory: memory.status().provider_reasons),
    "local.modelPath": ("/nowhere/model.gguf", lambda memory: memory.status().provider_reasons),
    "store.path": ("{state}/elsewhere-{agentId}.sqlite", lambda memory: synced(memory).status().store_path),
    "store.vector.enabled": (False, lambda memory: synced(memory).status().vector_engine),
    "store.vector.extensionPath": ("/nowhere/vec0", lambda memory: synced(memory).status().vector_engine),
    "chunking.tokens": (64, lambda memory: memory.sync().chunks),
    "chunking.overlap": (
        0,
        lambda memory: [hit.start_line for hit in memory.search("orchard", max_results=20)],
    ),
    "sync.onSearch": (False, paths("tea")),
    "sync.onSessionStart": (
        False,
        lambda memory: (memory.context(), memory.search("tea", sync=False).why)[1],
    ),
    "query.maxResults": (2, lambda memory: len(memory.search("orchard", min_score=0.0))),
    "query.minScore": (0.999, lambda memory: len(memory.search("orchard"))),
    "query.rerank.enabled": (False, scores("orchard tea")),
    "query.rerank.model": ("/nowhere/model", lambda memory: memory.search("orchard tea").warning),
    "query.hybrid.enabled": (False, lambda memory: memory.search("tea").mode),
    "query.hybrid.vectorWeight": (0.1, scores("orchard tea")),
    "query.hybrid.textWeight": (0.9, scores("orchard tea")),
    "query.hybrid.candidateMultiplier": (1, lambda memory: memory.search("note").totals.keyword_candidates),
    "query.hybrid.fusion": ("rrf", scores("orchard tea")),
    "query.hybrid.mmr.enabled": (True, paths("router VLAN")),
    "query.hybrid.temporalDecay.enabled": (True, scores("dated harbour")),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    notes = {
        "memory/tea.md": "green tea and tea cups\n",
        "memory/2025-06-01.md": "the dated harbour note\n",
        "memory/long.md": "\n".join(f"line {number} on the orchard and its trees" for number in range(120))
        + "\n",
        "memory/a.md": "router VLAN devices kitchen\n",
        "memory/b.md": "kitchen devices VLAN router\n",
        "memory/c.md": "router VLAN attic windows and the blue ladder\n",
        **{f"memory/notes/{number}.md": f"note {number}\n" for number in range(60)},
    }
    for path, text in notes.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    (tmp_path / "team").mkdir()
    (tmp_path / "team/shared.md").write_text("the windmill\n")
    return root


def observed(
    tree: Path, state: Path, search_settings: dict[str, Any], look: Observe, **options: Any
) -> object:
    state.mkdir(exist_ok=True)
    text = json.dumps({"agents": {"defaults": {"workspace": str(tree), "memorySearch": search_settings}}})
    (state / "openclaw.json").write_text(text.replace("{state}", str(state)), "utf-8")
    clock = FixedClock(datetime(2026, 2, 10, 12, tzinfo=UTC))
    with Memory.open(state_dir=state, environ={}, clock=clock, **options) as memory:
        return look(memory)


def nested(key: str, value: object) -> dict[str, Any]:
    *groups, leaf = key.split(".")
    section: dict[str, Any] = {leaf: value}
    for group in reversed(groups):
        section = {group: section}
    return section


@pytest.mark.parametrize("key", VISIBLE)
def test_a_setting_changes_what_a_user_sees(tree: Path, tmp_path: Path, key: str) -> None:
    value, look = VISIBLE[key]
    default = observed(tree, tmp_path / "one", {}, look)
    changed = observed(tree, tmp_path / "two", nested(key, value), look)
    assert str(changed).replace("/two/", "/one/") != str(default)


def test_lambda_and_half_life_matter_where_their_step_is_on(tree: Path, tmp_path: Path) -> None:
    looks: dict[str, tuple[dict[str, Any], dict[str, Any], Observe]] = {
        "mmr": ({"lambda": 0.7}, {"lambda": 1.0}, paths("router VLAN")),
        "temporalDecay": ({"halfLifeDays": 30}, {"halfLifeDays": 300}, scores("dated harbour")),
    }
    for step, (one, other, look) in looks.items():
        results = [
            observed(
                tree,
                tmp_path / f"{step}-{name}",
                nested(f"query.hybrid.{step}", {"enabled": True, **part}),
                look,
            )
            for name, part in (("one", one), ("other", other))
        ]
        assert results[0] != results[1]


def test_how_many_a_reranking_model_reads_and_how_many_at_a_time_matters(tree: Path, tmp_path: Path) -> None:
    def calls(memory: Memory) -> list[int]:
        memory.search("note 7", min_score=0.0)
        return [len(texts) for _, texts in model.calls]

    found = []
    parts: dict[str, dict[str, object]] = {"one": {}, "two": {"candidates": 6}, "three": {"deadlineMs": 0}}
    for name, part in parts.items():
        model = WordReranker()
        settings = {"query": {"rerank": part}}
        found.append(observed(tree, tmp_path / name, settings, calls, reranker=model))
    assert found == [[4, 4, 4, 4, 4], [4, 2], [20]]


def test_the_settings_of_session_memory_matter(tree: Path, tmp_path: Path) -> None:
    on = {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}
    parts: dict[str, tuple[dict[str, Any], str | None]] = {
        "all": (on, None),
        "off": ({"sources": ["memory", "sessions"]}, None),
        "unnamed": ({"experimental": {"sessionMemory": True}}, None),
        "alone": ({**on, "sources": ["sessions"]}, None),
        "messages": ({**on, "sync": {"sessions": {"deltaMessages": 1}}}, None),
        "bytes": ({**on, "sync": {"sessions": {"deltaBytes": 0}}}, None),
        "named": (on, "main"),
    }

    def look(folder: Path, session: str | None) -> Callable[[Memory], object]:
        def grow(memory: Memory) -> object:
            memory.sync()
            with (folder / "a.jsonl").open("a") as file:
                file.write(f"{line('user', 'the windmill')}\n")
            memory.sync(session=session)
            counts = memory.status().statistics.by_source
            found = [hit.path for hit in memory.search("windmill", source="sessions")]
            return counts.get("memory", 0) > 0, counts.get("sessions", 0), len(found)

        return grow

    seen = {}
    for name, (settings, session) in parts.items():
        folder = tmp_path / name / "agents" / "main" / "sessions"
        put(folder, "a.jsonl", transcript(("user", "the harbour")))
        store(folder, {"agent:main:main": {"sessionId": "a"}})
        seen[name] = observed(tree, tmp_path / name, settings, look(folder, session))
    assert seen == {
        "all": (True, 1, 0),
        "off": (True, 0, 0),
        "unnamed": (True, 0, 0),
        "alone": (False, 1, 0),
        "messages": (True, 1, 1),
        "bytes": (True, 1, 1),
        "named": (True, 1, 1),
    }


def test_the_cache_settings_matter(tree: Path, tmp_path: Path) -> None:
    def entries(memory: Memory) -> object:
        memory.sync()
        return memory.status().cache_entries

    kept = observed(tree, tmp_path / "one", {}, entries, embedder=HashEmbedder())
    none = observed(tree, tmp_path / "two", nested("cache.enabled", False), entries, embedder=HashEmbedder())
    few = observed(tree, tmp_path / "three", nested("cache.maxEntries", 5), entries, embedder=HashEmbedder())
    small = observed(
        tree, tmp_path / "four", nested("cache.maxBytes", 3770), entries, embedder=HashEmbedder()
    )
    assert (none, few, small) == (0, 5, 10)
    assert isinstance(kept, int)
    assert kept > 60


def test_which_images_and_audio_are_indexed_matters(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "team/photo.png").write_bytes(png())
    (tmp_path / "team/photo.wav").write_bytes(wav())
    assert len(png()) > len(wav())

    def found(memory: Memory) -> object:
        memory.sync()
        return {hit.path.rpartition("/")[2] for hit in memory.search("photo") if "photo" in hit.path}

    gemini = {"provider": "gemini", "model": "gemini-embedding-2", "extraPaths": [str(tmp_path / "team")]}
    expected: list[tuple[dict[str, object], set[str]]] = [
        ({}, set()),
        ({"enabled": True}, {"photo.png", "photo.wav"}),
        ({"enabled": True, "modalities": ["image"]}, {"photo.png"}),
        ({"enabled": True, "maxFileBytes": len(png())}, {"photo.png", "photo.wav"}),
        ({"enabled": True, "maxFileBytes": len(png()) - 1}, {"photo.wav"}),
    ]
    for number, (part, names) in enumerate(expected):
        settings = {**gemini, "multimodal": part}
        state = tmp_path / f"state-{number}"
        assert observed(tree, state, settings, found, embedder=MediaEmbedder({})) == names


class Lenient(OpenAiService):
    """Takes whatever it is sent."""

    def check(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        """No key is wrong."""

    def texts_of(self, path: str, body: Any) -> list[str]:
        return list(body["input"])


# Key → a value other than the one below, for what a server is sent.
SENT: dict[str, object] = {
    "remote.baseUrl": "{url}/v2?api-version=1",
    "remote.apiKey": "sk-another-one",
    "remote.headers": {"X-Team": "gardeners"},
    "model": "bge-large",
    "outputDimensionality": 16,
    "inputType": "passage",
    "queryInputType": "question",
    "documentInputType": "passage",
}


@pytest.mark.parametrize("key", SENT)
def test_a_setting_of_a_remote_provider_changes_what_is_sent(tmp_path: Path, key: str) -> None:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "notes/memory/tea.md").write_text("green tea\n")
    service = Lenient()
    basis = {"provider": "openai-compatible", "model": "bge-m3", "remote": {"baseUrl": "{url}/v1"}}

    def sent(memory: Memory) -> list[object]:
        service.calls.clear()
        memory.sync()
        memory.search("tea", sync=False)
        ours = ("authorization", "x-team")
        return [
            (call.path, [(name, call.headers.get(name)) for name in ours], call.body)
            for call in service.calls
        ]

    with served(service) as url:
        found = []
        for name, changes in (("one", {}), ("two", nested(key, SENT[key]))):
            section = {**basis, **changes}
            section["remote"] = {**basis["remote"], **changes.get("remote", {})}  # type: ignore[dict-item]
            settings = json.loads(json.dumps(section).replace("{url}", url))
            found.append(observed(tmp_path / "notes", tmp_path / name, settings, sent))
    one, two = found
    assert len(one) == len(two) == 2  # type: ignore[arg-type]
    assert one != two


def test_a_price_is_told_by_the_plan(tree: Path, tmp_path: Path) -> None:
    def cost(memory: Memory) -> object:
        return memory.plan().cost

    assert observed(tree, tmp_path / "one", {}, cost) is None
    price = nested("remote.pricePerMillionTokens", 20)
    told = observed(tree, tmp_path / "two", price, cost, embedder=HashEmbedder())
    assert isinstance(told, float)
    assert 0 < told < 1


# The same for what the life cycle of a session goes by. Each is looked at in a session of one long turn.
LIVED: dict[str, tuple[object, str]] = {
    "contextTokens": (3_000, "threshold"),
    "model": ("mine/small", "chosen"),
    "compaction.reserveTokensFloor": (30_000, "threshold"),
    "compaction.postIndexSync": ("off", "indexed"),
    "compaction.memoryFlush.enabled": (False, "reason"),
    "compaction.memoryFlush.softThresholdTokens": (8_000, "threshold"),
    "compaction.memoryFlush.forceFlushTranscriptBytes": ("4kb", "reason"),
    "compaction.memoryFlush.systemPrompt": ("Write it down.", "asked"),
    "compaction.memoryFlush.prompt": ("What lasts?", "asked"),
    "compaction.memoryFlush.model": ("small", "model"),
    "sandbox.workspaceAccess": ("ro", "reason"),
    "memorySearch.sync.sessions.postCompactionForce": (False, "indexed"),
}


def lived(tree: Path, state: Path, settings: dict[str, Any], look: str) -> object:
    """One aspect of a session: a long turn, a decision, a flush, a compaction."""
    from msgspec.structs import replace

    from memlane.sessions.chat import Message
    from memlane.sessions.models import choose
    from memlane.testing import ScriptedChat

    state.mkdir()
    defaults = {"workspace": str(tree), **settings}
    (state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": defaults}}), "utf-8")
    clock = FixedClock(datetime(2026, 2, 10, 12, tzinfo=UTC))
    chat, small = (
        ScriptedChat(lambda messages: "summary" if "summarise" in messages[0].text else "NO_REPLY")
        for _ in range(2)
    )
    seen: dict[str, object] = {}
    with Memory.open(state_dir=state, environ={}, clock=clock) as memory:
        with memory.life(model=chat, model_named=lambda _: small) as life:
            indexed: list[bool] = []
            life.keeping.around = replace(life.keeping.around, index=lambda _, force: indexed.append(force))
            life.before_turn("word " * 2_000)
            life.after_turn([Message("assistant", "yes")])
            decision = life.before_turn("and now?").flush.decision
            seen["reason"], seen["threshold"] = decision.reason, decision.threshold
            life.flush()
            asked = [messages for messages, _ in [*chat.requests, *small.requests]]
            seen["asked"] = [(messages[0].text[:60], messages[-1].text) for messages in asked]
            seen["model"] = len(small.requests)
            life.compact()
        seen["indexed"] = indexed
        seen["chosen"] = memory.settings.chat_model and choose(memory.settings).name
    return seen[look]


@pytest.mark.parametrize("key", LIVED)
def test_a_setting_changes_the_life_of_a_session(tree: Path, tmp_path: Path, key: str) -> None:
    value, look = LIVED[key]
    default = lived(tree, tmp_path / "one", {}, look)
    assert lived(tree, tmp_path / "two", nested(key, value), look) != default


def test_every_key_of_compaction_is_looked_at(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with Memory.open(workspace=tree, state_dir=tmp_path / "state", environ={}) as memory:
        keys = {
            key for key, _, _ in describe(memory.settings) if "compaction" in key or key == "contextTokens"
        }
    assert {key.removeprefix("agents.defaults.") for key in keys} <= set(LIVED)


def test_every_key_is_looked_at_or_waits_for_its_feature(tree: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    with Memory.open(workspace=tree, state_dir=state, environ={}) as memory:
        keys = {
            key.removeprefix("memorySearch.")
            for key, _, _ in describe(memory.settings)
            if "memorySearch" in key
        }
    elsewhere = {
        "query.rerank.candidates",
        "query.rerank.deadlineMs",
        "query.hybrid.mmr.lambda",
        "query.hybrid.temporalDecay.halfLifeDays",
        "cache.enabled",
        "cache.maxEntries",
        "cache.maxBytes",
        "fallback",  # index/test_fallback
        "local.modelCacheDir",  # embed/test_select
        "remote.pricePerMillionTokens",
        "multimodal.enabled",
        "multimodal.modalities",
        "multimodal.maxFileBytes",
        "sync.watch",  # these three: test_background
        "sync.watchDebounceMs",
        "sync.intervalMinutes",
        "experimental.sessionMemory",
        "sources",
        "sync.sessions.deltaBytes",
        "sync.sessions.deltaMessages",
        "sync.sessions.postCompactionForce",  # LIVED
        "recall.enabled",  # these four: sessions/test_recall
        "recall.maxResults",
        "recall.maxChars",
        "recall.minConfidence",
        "remote.batch.enabled",  # these five: embed/batch
        "remote.batch.wait",
        "remote.batch.concurrency",
        "remote.batch.pollIntervalMs",
        "remote.batch.timeoutMinutes",
    }
    later = ("store.driver",)
    unseen = keys - set(VISIBLE) - set(SENT) - elsewhere
    assert {key for key in unseen if not key.startswith(later)} == set()
