"""The session store: read as it stands, changed one entry at a time."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memlane.errors import SessionError
from memlane.transcripts.store import SessionStore, housekeeping_stems
from memlane.values import SessionKind

SESSIONS: dict[str, Any] = {
    "agent:main:main": {"sessionId": "a1", "updatedAt": 1770726600000, "odd": {"deep": [1]}},
    "agent:main:discord:group:7": {"sessionId": "b2", "sessionFile": "/x/b2-topic-9.jsonl"},
    "agent:main:cron:daily:run:1": {"sessionId": "c3"},
    "agent:main:subagent:x": {"sessionId": "d4"},
    "agent:main:main:heartbeat": {"sessionId": "e5"},
    "agent:main:direct:kim": {"sessionId": "f6", "spawnedBy": "agent:main:main"},
    "agent:main:slack:channel:heartbeat": {"sessionId": "g7"},
}


@pytest.fixture
def store(folder: Path) -> SessionStore:
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text(json.dumps(SESSIONS), "utf-8")
    return SessionStore(folder, agent="main")


def stored(store: SessionStore) -> Any:
    return json.loads(store.path.read_text("utf-8"))


def test_sessions_with_what_their_keys_say(store: SessionStore) -> None:
    records = store.records()
    assert [record.session.kind for record in records] == [
        SessionKind.MAIN,
        SessionKind.GROUP,
        SessionKind.CRON,
        SessionKind.SUBAGENT,
        SessionKind.UNKNOWN,
        SessionKind.DIRECT,
        SessionKind.CHANNEL,
    ]
    assert records[0].updated == datetime(2026, 2, 10, 12, 30, tzinfo=UTC)
    assert [record.stem for record in records] == ["a1", "b2-topic-9", "c3", "d4", "e5", "f6", "g7"]


def test_sessions_in_which_nobody_talks(store: SessionStore, folder: Path) -> None:
    assert housekeeping_stems(folder) == {"c3", "d4", "e5", "f6"}


def test_no_file_is_no_session(folder: Path) -> None:
    assert SessionStore(folder).records() == []
    assert housekeeping_stems(folder) == frozenset()
    SessionStore(folder).update("agent:main:main", {"sessionId": "n"})
    assert stored(SessionStore(folder)) == {"agent:main:main": {"sessionId": "n"}}


def test_one_entry_changes_and_the_rest_survives(store: SessionStore) -> None:
    store.update("AGENT:MAIN:MAIN", {"compactionCount": 2})

    def count(entry: dict[str, Any]) -> None:
        entry["compactionCount"] += 1

    assert store.update("agent:main:main", count).data["compactionCount"] == 3
    expected = {**SESSIONS, "agent:main:main": {**SESSIONS["agent:main:main"], "compactionCount": 3}}
    assert stored(store) == expected
    assert sorted(path.name for path in store.path.parent.iterdir()) == [".memlane.lock", "sessions.json"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"{", "Expecting property name enclosed in double quotes in line 1, column 2"),
        (b"[]", "it is no object of sessions"),
        (b"", "Expecting value in line 1, column 1"),
        (b'{"a": "\xff"}', "invalid UTF-8 at byte 7"),
        (b'{"a":' * 100_000, "it is nested too deeply"),
    ],
)
def test_a_broken_file_is_named_and_left_alone(
    store: SessionStore, folder: Path, text: bytes, what: str
) -> None:
    store.path.write_bytes(text)
    for call in (store.records, lambda: store.update("a", {}), lambda: housekeeping_stems(folder)):
        with pytest.raises(SessionError) as caught:
            call()
        assert str(caught.value) == f"{store.path} cannot be understood: {what}"
    assert store.path.read_bytes() == text


def test_an_entry_that_is_no_object_is_named(store: SessionStore) -> None:
    store.path.write_text('{"a": 5, "b": {"sessionId": 7}}')
    assert [record.key for record in store.records()] == ["b"]
    assert housekeeping_stems(store.path.parent) == frozenset()
    with pytest.raises(SessionError, match="the entry of a is no object"):
        store.update("a", {"x": 1})


def test_what_another_program_writes_meanwhile_is_kept(store: SessionStore) -> None:
    calls: list[int] = []

    def change(entry: dict[str, Any]) -> None:
        calls.append(1)
        if len(calls) == 1:
            other = {**SESSIONS, "agent:main:new": {"sessionId": "z"}}
            store.path.write_text(json.dumps(other), "utf-8")
        entry["x"] = 1

    store.update("agent:main:main", change)
    assert len(calls) == 2
    assert stored(store)["agent:main:new"] == {"sessionId": "z"}
    assert stored(store)["agent:main:main"]["x"] == 1


def test_a_program_that_never_rests_is_told_of(store: SessionStore) -> None:
    def change(entry: dict[str, Any]) -> None:
        os.utime(store.path, ns=(0, store.path.stat().st_mtime_ns + 10**9))

    before = store.path.read_bytes()
    with pytest.raises(SessionError, match="another program keeps changing it"):
        store.update("agent:main:main", change)
    assert store.path.read_bytes() == before


def test_another_process_that_never_ends_is_told_of(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import filelock

    monkeypatch.setattr("memlane.transcripts.folder._PATIENCE", 0.0)
    before = store.path.read_bytes()
    with (
        filelock.FileLock(store.path.parent / ".memlane.lock"),
        pytest.raises(SessionError, match=r"another process has been writing to .*sessions"),
    ):
        store.update("agent:main:main", {"a": 1})
    assert store.path.read_bytes() == before


def test_no_change_is_lost_among_threads(store: SessionStore) -> None:
    def count(entry: dict[str, Any]) -> None:
        entry["n"] = entry.get("n", 0) + 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.update("agent:main:main", count), range(40)))
    assert stored(store)["agent:main:main"]["n"] == 40
