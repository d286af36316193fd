"""What a session may have of memory: every kind, on every way there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.said import put, transcript

from memlane import Memory, PathRefused, UsageError
from memlane.surfaces.cli.run import cli
from memlane.transcripts.gate import Access, access_of
from memlane.transcripts.keys import session_from_key

KEYS = {
    "main": "agent:main:main",
    "owner": None,
    "direct": "agent:main:telegram:direct:kim",
    "group": "agent:main:discord:group:1",
    "channel": "agent:main:slack:channel:general",
    "thread": "agent:main:slack:channel:general:thread:5",
    "subagent": "agent:main:subagent:x",
    "cron": "agent:main:cron:daily",
    "unknown": "agent:main:whatever",
    "other agent": "agent:other:main",
}
PRIVATE = {"main", "owner"}
FLUSHED = {"main", "owner", "direct", "group", "channel", "thread"}
SECTION = {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}


@pytest.fixture
def memory(open_memory: Callable[..., Memory], write: Callable[[str, str], Path], tmp_path: Path) -> Memory:
    write("MEMORY.md", "the curated zebra\n")
    write("memory/2026-02-10.md", "the logged zebra\n")
    put(
        tmp_path / "state" / "agents" / "main" / "sessions", "s.jsonl", transcript(("user", "the said zebra"))
    )
    opened = open_memory(**SECTION)
    opened.sync()
    return opened


@pytest.mark.parametrize("kind", KEYS)
def test_the_table(kind: str) -> None:
    session = session_from_key(KEYS[kind], agent="main")
    private = kind in PRIVATE
    assert access_of(session) == Access(curated=private, transcripts=private, flush=kind in FLUSHED)


def test_the_owners_own_direct_chat_is_private() -> None:
    session = session_from_key(KEYS["direct"], owner_is_only_peer=True)
    assert access_of(session) == Access(curated=True, transcripts=True, flush=True)


@pytest.mark.parametrize("kind", KEYS)
def test_in_python(memory: Memory, kind: str) -> None:
    key, private = KEYS[kind], kind in PRIVATE
    expected = {"memory/2026-02-10.md"} | ({"MEMORY.md", "sessions/s.jsonl"} if private else set())
    assert {hit.path for hit in memory.search("zebra", session=key)} == expected
    context = memory.context(key)
    assert ("curated zebra" in context.text) == private
    assert "logged zebra" in context.text
    assert "said zebra" not in context.text
    assert context.withheld == (() if private else ("MEMORY.md",))
    assert memory.get("memory/2026-02-10.md", session=key).exists
    calls: list[Callable[[], Any]] = [
        lambda: memory.get("MEMORY.md", session=key),
        lambda: memory.get("memory.md", session=key),
        lambda: memory.get("sessions/s.jsonl", session=key),
        lambda: memory.get("sessions/nowhere.jsonl", session=key),
        lambda: memory.sessions(session=key),
        lambda: memory.transcript("s", session=key),
        lambda: memory.export_session("s", session=key),
    ]
    for call in calls:
        if private:
            call()
        else:
            with pytest.raises(PathRefused, match="private sessions only"):
                call()
    assert memory.remember("a new fact", session=key).path == "memory/2026-02-10.md"
    if private:
        assert memory.remember("a lasting fact", durable=True, session=key).path == "MEMORY.md"
    else:
        with pytest.raises(UsageError, match="private sessions alone"):
            memory.remember("a lasting fact", durable=True, session=key)


@pytest.mark.parametrize("kind", KEYS)
def test_as_tools(memory: Memory, kind: str) -> None:
    private = kind in PRIVATE
    tools = {tool.name: tool for tool in memory.tools(session=KEYS[kind])}
    said = json.dumps(
        [
            tools["memory_search"]({"query": "zebra"}),
            tools["memory_search"]({"query": "zebra", "source": "sessions"}),
            tools["memory_get"]({"path": "MEMORY.md"}),
            tools["memory_get"]({"path": "sessions/s.jsonl"}),
        ]
    )
    assert ("curated zebra" in said) == ("said zebra" in said) == private
    assert "logged zebra" in said
    written = tools["memory_write"]({"text": "lasting", "durable": True})
    assert ("error" in written) == (not private)


@pytest.mark.parametrize("kind", KEYS)
def test_on_the_command_line(memory: Memory, tmp_path: Path, kind: str) -> None:
    private = kind in PRIVATE
    key = KEYS[kind]
    options = ["--state-dir", str(tmp_path / "state"), *(["--session", key] if key else [])]

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, [*arguments, *options], standalone_mode=False)
        failed = isinstance(done.exception, PathRefused | UsageError)
        assert failed or done.exception is None
        return int(failed), done.stdout

    found = run("search", "zebra")[1]
    assert ("curated" in found) == ("said" in found) == private
    assert "logged" in found
    assert ("curated" in run("context")[1]) == private
    for path in ("MEMORY.md", "sessions/s.jsonl"):
        assert run("get", path)[0] == (0 if private else 1)
    assert run("get", "memory/2026-02-10.md")[0] == 0
    assert run("remember", "a fact")[0] == 0
    assert run("remember", "--durable", "a fact")[0] == (0 if private else 1)
