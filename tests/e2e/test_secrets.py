"""A secret that was said is in no byte of anything that is derived from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.said import put, transcript

from memlane import Memory
from memlane.testing import HashEmbedder, RecordingObserver

PLANTED = {
    "sk-TESTplanted0123456789abcdef": "the key is {} indeed",
    "AKIAPLANTED7EXAMPLE1": "aws {}",
    "ghp_planted6C7e42F292c6912E7710c8383478": "{}",
    "MIIEplantedIBAAKCAQEA7bq1": "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
    "plantedpassword": "postgres://admin:{}@db.example.org/x",
    "plantedhunter2": "password={}",
    "configured-planted-value": "I use {} at work",
    "header-planted-value": "and {} too",
    "toolplanted0123456789": "sk-{}",
}


def test_no_byte_of_a_secret_is_derived(
    open_memory: Callable[..., Memory],
    tmp_path: Path,
    write: Callable[[str, str], Path],
    observer: RecordingObserver,
) -> None:
    folder = tmp_path / "state" / "agents" / "main" / "sessions"
    turns: list[Any] = [("user", f"zebra {said.format(secret)}") for secret, said in PLANTED.items()]
    turns.append(("assistant", "x " * 900 + " ".join(said.format(one) for one, said in PLANTED.items())))
    turns.append('{"broken sk-TESTplanted0123456789abcdef')
    original = transcript(*turns)
    put(folder, "a.jsonl", original)
    write("memory/a.md", "zebra\n")
    embedder = HashEmbedder()
    remote = {
        "apiKey": "configured-planted-value",
        "headers": {"Authorization": "Bearer header-planted-value"},
        "baseUrl": "https://example.org/v1",
    }
    memory = open_memory(
        experimental={"sessionMemory": True},
        sources=["memory", "sessions"],
        remote=remote,
        embedder=embedder,
    )
    memory.sync()
    memory.context()
    said = [
        repr(memory.search(f"zebra {word}", explain=True, max_results=50)) for word in ("key", "password")
    ]
    said.append(repr(memory.get("sessions/a.jsonl")))
    said.append(repr(memory.transcript("a")))
    said.append("".join(memory.export_session("a")))
    said += [json.dumps(tool({"query": "zebra", "path": "sessions/a.jsonl"})) for tool in memory.tools()]
    said += [*embedder.documents, *embedder.queries, *observer.warnings]
    memory.close()
    assert any("zebra" in one for one in said)
    derived = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    derived = [path for path in derived if path.suffix not in {".jsonl", ".json"}]
    assert any(path.name.endswith("embeddings.sqlite") for path in derived)
    for secret in PLANTED:
        assert all(secret not in one for one in said), secret
        for path in derived:
            assert secret.encode() not in path.read_bytes(), (secret, path)
    assert (folder / "a.jsonl").read_text("utf-8") == original
