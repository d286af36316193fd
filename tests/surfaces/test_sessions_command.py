"""`memlane sessions`: the owner's look at what was said."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.said import put, store, transcript

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path, notes: Path) -> Path:
    """Two sessions, an archive of each kind, one without a transcript, and one of a scheduled job."""
    folder = tmp_path / "state" / "agents" / "main" / "sessions"
    put(folder, "abc1.jsonl", transcript(("user", "the zebra"), ("assistant", "password=hunter2 is yours")))
    put(folder, "abd2.jsonl", transcript(("user", "the walrus")))
    put(folder, "abc1.jsonl.reset.2026-01-01T00-00-00.000Z", transcript(("user", "the old zebra")))
    put(folder, "gone.jsonl.deleted.2026-01-01T00-00-00.000Z", transcript(("user", "the secret zebra")))
    put(folder, "notes.txt", "no transcript")
    sessions = {
        "agent:main:main": {"sessionId": "abc1", "updatedAt": 1770726600000},
        "agent:main:cron:daily": {"sessionId": "abd2", "updatedAt": 1770726500000},
        "agent:main:discord:group:1": {"sessionId": "none", "updatedAt": 1770726400000},
    }
    store(folder, sessions)
    section = {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}
    (tmp_path / "state" / "openclaw.json").write_text(
        json.dumps({"agents": {"defaults": {"workspace": str(notes), "memorySearch": section}}})
    )
    return folder


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    environment.pop("MEMLANE_WORKSPACE")

    def process(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memlane", "sessions", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return process


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_list(run: Run, folder: Path) -> None:
    found = answer(run("list", "--json"))["sessions"]
    by_name = {info["path"] or info["key"]: info for info in found}
    assert set(by_name) == {
        "sessions/abc1.jsonl",
        "sessions/abd2.jsonl",
        "sessions/abc1.jsonl.reset.2026-01-01T00-00-00.000Z",
        "sessions/gone.jsonl.deleted.2026-01-01T00-00-00.000Z",
        "agent:main:discord:group:1",
    }
    main = by_name["sessions/abc1.jsonl"]
    assert main == {
        "sessionId": "abc1",
        "key": "agent:main:main",
        "kind": "main",
        "path": "sessions/abc1.jsonl",
        "size": (folder / "abc1.jsonl").stat().st_size,
        "updated": "2026-02-10T12:30:00.000Z",
        "archive": None,
        "housekeeping": False,
    }
    assert by_name["sessions/abd2.jsonl"]["housekeeping"]
    text = run("list").stdout
    assert "agent:main:main  sessions/abc1.jsonl" in text
    assert "no transcript yet" in text
    assert text.count("\n") == 5


@pytest.mark.parametrize(
    "name", ["agent:main:main", "AGENT:main:MAIN", "main", "abc1", "sessions/abc1.jsonl"]
)
def test_show_by_any_name(run: Run, folder: Path, name: str) -> None:
    assert run("show", name).stdout == "User: the zebra\nAssistant: password=[masked] is yours\n"


def test_show_some_lines(run: Run, folder: Path) -> None:
    found = answer(run("show", "abc1", "--from", "2", "--lines", "1", "--json"))
    assert found == {
        "path": "sessions/abc1.jsonl",
        "text": "User: the zebra",
        "from": 2,
        "lines": 1,
        "exists": True,
        "truncated": True,
        "nextFrom": 3,
    }
    assert run("show", "abc1", "--from", "9").stderr == "sessions/abc1.jsonl ends before line 9.\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("zzz", "there is no session 'zzz'"),
        ("ab", "'ab' names 3 sessions: "),
        ("agent:main:discord:group:1", "the session agent:main:discord:group:1 has no transcript yet"),
        ("gone", "the session 'gone' was deleted"),
    ],
)
def test_names_that_will_not_do(run: Run, folder: Path, name: str, message: str) -> None:
    for command in ("show", "export"):
        done = run(command, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"memlane: {message}")


def test_search(run: Run, folder: Path) -> None:
    found = answer(run("search", "zebra", "--json"))["results"]
    assert {hit["path"] for hit in found} == {
        "sessions/abc1.jsonl",
        "sessions/abc1.jsonl.reset.2026-01-01T00-00-00.000Z",
    }
    assert "the zebra" in run("search", "zebra", "--since", "2026-02-09").stdout
    assert run("search", "zebra", "--since", "soon").returncode == 2


def test_search_while_session_memory_is_off(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "state" / "openclaw.json").unlink()
    done = run("search", "zebra")
    assert done.returncode == 2
    assert "session memory is off" in done.stderr
    assert "experimental.sessionMemory" in done.stderr


EXPORTED = """\
# Session abc1

- key: agent:main:main
- file: sessions/abc1.jsonl

## User, 2026-02-09 10:00

the zebra

## Assistant, 2026-02-09 10:01

password=[masked] is yours
"""


def test_export(run: Run, folder: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    environment["TZ"] = "UTC"
    assert run("export", "main").stdout == EXPORTED
    assert answer(run("export", "main", "--json")) == {"text": EXPORTED}
    output = tmp_path / "said.md"
    assert run("export", "main", "--output", str(output)).stdout == ""
    assert output.read_text("utf-8") == EXPORTED
    if os.name != "nt":
        assert stat.S_IMODE(output.stat().st_mode) == 0o600
    again = run("export", "main", "--output", str(output))
    assert again.returncode == 2
    assert f"{output} is there already" in again.stderr


def test_no_sessions_and_a_broken_store(run: Run, folder: Path) -> None:
    (folder / "sessions.json").write_text("{")
    done = run("list", "--json")
    assert done.returncode == 1
    failure = json.loads(done.stdout)["error"]
    assert failure["code"] == "session"
    assert failure["message"].startswith(f"{folder / 'sessions.json'} cannot be understood")
    for path in folder.iterdir():
        path.unlink()
    assert answer(run("list", "--json")) == {"sessions": []}
    assert run("list").stderr == "There are no sessions yet.\n"
