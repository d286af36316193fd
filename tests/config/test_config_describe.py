from __future__ import annotations

import json

import jsonschema
import pytest

from memlane.config import describe, json_schema
from memlane.errors import ConfigError

LOCAL_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"

DEFAULTS: dict[str, object] = {
    "userTimezone": None,
    "contextTokens": None,
    "model": None,
    "sandbox.workspaceAccess": "rw",
    "compaction.reserveTokensFloor": 20000,
    "compaction.postIndexSync": "async",
    "compaction.memoryFlush.enabled": True,
    "compaction.memoryFlush.softThresholdTokens": 4000,
    "compaction.memoryFlush.forceFlushTranscriptBytes": 2 * 1024 * 1024,
    "compaction.memoryFlush.systemPrompt": "Session nearing compaction. Store durable memories now.",
    "compaction.memoryFlush.prompt": (
        "Write any lasting notes to memory/YYYY-MM-DD.md; reply with NO_REPLY if nothing to store."
    ),
    "compaction.memoryFlush.model": None,
    "memorySearch.enabled": True,
    "memorySearch.sources": ["memory"],
    "memorySearch.extraPaths": [],
    "memorySearch.provider": "auto",
    "memorySearch.model": None,
    "memorySearch.outputDimensionality": None,
    "memorySearch.inputType": None,
    "memorySearch.queryInputType": None,
    "memorySearch.documentInputType": None,
    "memorySearch.fallback": "none",
    "memorySearch.remote.baseUrl": None,
    "memorySearch.remote.apiKey": None,
    "memorySearch.remote.headers": {},
    "memorySearch.remote.pricePerMillionTokens": None,
    "memorySearch.remote.batch.enabled": False,
    "memorySearch.remote.batch.wait": True,
    "memorySearch.remote.batch.concurrency": 2,
    "memorySearch.remote.batch.pollIntervalMs": 2000,
    "memorySearch.remote.batch.timeoutMinutes": 60,
    "memorySearch.local.modelPath": LOCAL_MODEL,
    "memorySearch.multimodal.enabled": False,
    "memorySearch.multimodal.modalities": ["image", "audio"],
    "memorySearch.multimodal.maxFileBytes": 10000000,
    "memorySearch.store.driver": "sqlite",
    "memorySearch.store.vector.enabled": True,
    "memorySearch.store.vector.extensionPath": None,
    "memorySearch.chunking.tokens": 400,
    "memorySearch.chunking.overlap": 80,
    "memorySearch.sync.onSessionStart": True,
    "memorySearch.sync.onSearch": True,
    "memorySearch.sync.watch": True,
    "memorySearch.sync.watchDebounceMs": 1500,
    "memorySearch.sync.intervalMinutes": 0,
    "memorySearch.sync.sessions.deltaBytes": 100000,
    "memorySearch.sync.sessions.deltaMessages": 50,
    "memorySearch.sync.sessions.postCompactionForce": True,
    "memorySearch.query.maxResults": 6,
    "memorySearch.query.minScore": 0.35,
    "memorySearch.query.rerank.enabled": True,
    "memorySearch.query.rerank.model": None,
    "memorySearch.query.rerank.candidates": 20,
    "memorySearch.query.rerank.deadlineMs": 250,
    "memorySearch.query.hybrid.enabled": True,
    "memorySearch.query.hybrid.vectorWeight": 0.7,
    "memorySearch.query.hybrid.textWeight": 0.3,
    "memorySearch.query.hybrid.candidateMultiplier": 4,
    "memorySearch.query.hybrid.fusion": "adaptive",
    "memorySearch.query.hybrid.mmr.enabled": False,
    "memorySearch.query.hybrid.mmr.lambda": 0.7,
    "memorySearch.query.hybrid.temporalDecay.enabled": False,
    "memorySearch.query.hybrid.temporalDecay.halfLifeDays": 30,
    "memorySearch.cache.enabled": True,
    "memorySearch.cache.maxEntries": 50000,
    "memorySearch.cache.maxBytes": 1_000_000_000,
    "memorySearch.recall.enabled": False,
    "memorySearch.recall.maxResults": 3,
    "memorySearch.recall.maxChars": 1500,
    "memorySearch.recall.minConfidence": 0.7,
    "memorySearch.experimental.sessionMemory": False,
    "memory.backend": "builtin",
    "memory.citations": "auto",
    "memory.qmd.command": ["qmd"],
    "memory.qmd.searchMode": "search",
    "memory.qmd.includeDefaultMemory": True,
    "memory.qmd.paths": [],
    "memory.qmd.sessions.enabled": False,
    "memory.qmd.sessions.exportDir": None,
    "memory.qmd.sessions.retentionDays": None,
    "memory.qmd.update.interval": 300,
    "memory.qmd.update.debounceMs": 15000,
    "memory.qmd.update.onBoot": True,
    "memory.qmd.update.waitForBootSync": False,
    "memory.qmd.update.embedInterval": 3600,
    "memory.qmd.update.commandTimeoutMs": 30000,
    "memory.qmd.update.updateTimeoutMs": 120000,
    "memory.qmd.update.embedTimeoutMs": 120000,
    "memory.qmd.limits.maxResults": 6,
    "memory.qmd.limits.maxSnippetChars": 700,
    "memory.qmd.limits.maxInjectedChars": 4000,
    "memory.qmd.limits.timeoutMs": 4000,
    "memory.qmd.scope.default": "deny",
    "plugins.slots.memory": "memory-core",
}


def test_every_key_has_its_documented_default(machine) -> None:
    rows = {key: value for key, value, _ in describe(machine.agent(environ={"XDG_CACHE_HOME": "/cache"}))}
    state = machine.state_dir
    direct = {"channel": None, "chatType": "direct", "keyPrefix": None, "rawKeyPrefix": None}
    models = rows.pop("memorySearch.local.modelCacheDir")
    assert str(models).endswith("models")
    assert rows == DEFAULTS | {
        "config": str(machine.file),
        "stateDir": str(state),
        "agent": "main",
        "workspace": str(state / "workspace"),
        "memorySearch.store.path": str(state / "memory" / "main.sqlite"),
        "memory.qmd.scope.rules": [{"action": "allow", "match": direct}],
    }


def test_each_row_has_its_origin(machine, tmp_path) -> None:
    configuration = machine.load(
        {
            "agents": {
                "defaults": {"memorySearch": {"model": "m"}, "userTimezone": "Asia/Seoul"},
                "list": [{"id": "main", "memorySearch": {"query": {"minScore": 0}}}],
            }
        },
        environ={"MEMLANE_WORKSPACE": str(tmp_path / "w")},
        config_file=machine.file,
    )
    origins = {key: origin for key, _, origin in describe(configuration.agent())}
    assert origins["config"] == "--config"
    assert origins["stateDir"] == "built-in default"
    assert origins["workspace"] == "environment variable MEMLANE_WORKSPACE"
    assert origins["userTimezone"] == f"{machine.file}: agents.defaults.userTimezone"
    assert origins["memorySearch.model"] == f"{machine.file}: agents.defaults.memorySearch.model"
    assert (
        origins["memorySearch.query.minScore"]
        == f"{machine.file}: agents.list[0].memorySearch.query.minScore"
    )
    assert origins["memorySearch.query.maxResults"] == "built-in default"


def test_no_secret_is_listed_and_every_value_is_json(machine) -> None:
    remote = {
        "apiKey": "${KEY}",
        "baseUrl": "https://user:sk-b@h.example/v1?api-version=1&api-key=sk-c",
        "headers": {"Authorization": "sk-d", "x-goog-api-key": "sk-e", "X-Team": "blue"},
    }
    search = {"provider": "mine", "extraPaths": ["a"], "remote": remote}
    entry = {"api": "openai", "apiKey": "sk-f", "headers": {"Cookie": "sk-g"}}
    settings = machine.agent(
        {"memory": {"search": search}, "models": {"providers": {"mine": entry}}}, environ={"KEY": "sk-a"}
    )
    listed = json.dumps(describe(settings))
    assert "sk-" not in listed
    rows = {key: value for key, value, _ in describe(settings)}
    assert rows["memorySearch.remote.apiKey"] == "•••"
    assert rows["memorySearch.remote.headers"] == {
        "Authorization": "•••",
        "x-goog-api-key": "•••",
        "X-Team": "blue",
    }
    assert rows["memorySearch.remote.baseUrl"] == "https://•••@h.example/v1?api-version=1&api-key=•••"
    assert rows["models.providers.mine.apiKey"] == "•••"


# ---- JSON Schema -------------------------------------------------------------------------------------


def test_the_schema_is_one_and_plain_json() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def test_every_key_of_the_schema_says_what_it_is_for() -> None:
    for name, definition in json_schema()["$defs"].items():
        for key, entry in definition["properties"].items():
            assert len(entry["description"]) > 5, f"{name}.{key}"


COMPLETE = {
    "channels": {"discord": {}},
    "agents": {
        "defaults": {
            "model": "x/y",
            "workspace": "~/notes",
            "userTimezone": "Asia/Seoul",
            "contextTokens": 100000,
            "memorySearch": {
                "provider": "none",
                "extraPaths": ["../team", {"path": "/srv/notes", "pattern": "*.md", "evergreen": False}],
                "query": {"minScore": 0.2, "hybrid": {"mmr": {"enabled": True, "lambda": 0.5}}},
                "remote": {"headers": {"X-Team": "blue"}},
                "somethingNew": 1,
            },
            "compaction": {"mode": "safeguard", "memoryFlush": {"forceFlushTranscriptBytes": "2mb"}},
        },
        "list": [{"id": "main", "default": True, "memorySearch": {"enabled": True}, "tools": {}}],
        "entries": {"work": {"memory": {"search": {"query": {"maxResults": 3}}}}},
    },
    "memory": {
        "citations": "on",
        "search": {"sync": {"watch": False}},
        "qmd": {
            "command": ["npx", "qmd"],
            "update": {"interval": "5m", "embedInterval": 60},
            "paths": [{"path": "~/docs", "name": "docs"}],
            "scope": {"rules": [{"action": "deny", "match": {"keyPrefix": "discord:channel:"}}]},
        },
    },
    "models": {"providers": {"mine": {"api": "openai-completions", "baseUrl": "http://h/v1", "models": []}}},
    "plugins": {"slots": {"memory": "memory-core"}},
}


def test_the_schema_takes_what_is_taken(machine) -> None:
    assert machine.agent(COMPLETE).enabled
    jsonschema.validate(COMPLETE, json_schema())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("agents.defaults.memorySearch.query.minScore", 7),
        ("agents.defaults.memorySearch.query.maxResults", 0),
        ("agents.defaults.memorySearch.sources", ["web"]),
        ("agents.defaults.memorySearch.sources", []),
        ("agents.defaults.memorySearch.extraPaths", [3]),
        ("agents.defaults.memorySearch.extraPaths", [{}]),
        ("agents.defaults.memorySearch.store.driver", "mysql"),
        ("agents.defaults.memorySearch.sync.watch", "yes"),
        ("agents.defaults.sandbox.workspaceAccess", "all"),
        ("agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes", "2 parsecs"),
        ("agents.entries.work.memory.search.query.maxResults", 0),
        ("agents.list", [{}]),
        ("memory.search.query.maxResults", 0),
        ("memory.backend", "other"),
        ("memory.qmd.command", 3),
        ("memory.qmd.update.interval", "soon"),
        ("memory.qmd.scope.rules", [{"action": "let"}]),
        ("plugins.slots.memory", "other"),
    ],
)
def test_the_schema_refuses_what_is_refused(machine, path: str, value: object) -> None:
    document: object = value
    for name in reversed(path.split(".")):
        document = {name: document}
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document)
    with pytest.raises(ConfigError):
        machine.agent(document)
