"""`memlane forget` from the command line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from tests.said import put, transcript

from memlane.surfaces.cli.run import run


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    folder = tmp_path / "notes" / "memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("- Quaxel lives here\n- the router hums\n", "utf-8")
    return ["--workspace", str(tmp_path / "notes"), "--state-dir", str(tmp_path / "state")]


def test_shown_first_then_done_then_taken_back(
    place: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["index", *place]) == 0
    capsys.readouterr()
    assert run(["forget", "QUAXEL lives", *place]) == 0
    shown = capsys.readouterr()
    assert "memory/a.md:1: stays; no longer remembered\n    | - Quaxel lives here\n" in shown.out
    assert shown.err == "Nothing was changed. Say --yes to forget this.\n"
    assert run(["forget", "QUAXEL lives", *place, "--yes", "--json"]) == 0
    (receipt,) = json.loads(capsys.readouterr().out)["agents"]
    assert (receipt["status"], receipt["remaining"], receipt["places"][0]["text"]) == ("done", [], "")
    assert "uaxel" not in json.dumps(receipt).lower()
    assert run(["forget", "--list", *place, "--json"]) == 0
    (stone,) = json.loads(capsys.readouterr().out)["agents"]["main"]
    assert stone["id"] == receipt["tombstone"] and stone["length"] == 12
    assert run(["get", "memory/a.md", *place]) == 0
    assert capsys.readouterr().out == "\n- the router hums\n"
    assert run(["forget", "--undo", stone["id"], *place]) == 0
    capsys.readouterr()
    assert run(["search", "Quaxel", *place]) == 0
    assert "Quaxel lives here" in capsys.readouterr().out


def test_what_cannot_be_read_is_named_and_nothing_else_claimed(
    place: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "notes/memory/b.md").write_bytes("Zyxel".encode("utf-16"))
    assert run(["forget", "Zyxel", "--notes", *place]) == 0
    shown = capsys.readouterr().out
    assert "b.md" in shown
    assert "Nothing holds it" not in shown


def test_a_phrase_from_standard_input(
    place: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"quaxel\n")))
    assert run(["forget", "-", *place]) == 0
    assert "memory/a.md:1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say one thing: a phrase, --path, --session, --list or --undo"),
        (["x y", "--list"], "say one thing: a phrase, --path, --session, --list or --undo"),
        (["x"], "a phrase has at least 2 characters"),
        (["--session", "nobody"], "there is no session 'nobody'"),
        (["--undo", "ff"], "'ff' names no tombstone"),
    ],
)
def test_what_cannot_be_meant(
    place: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["forget", *arguments, *place]) == 2
    assert message in capsys.readouterr().err


def test_a_session_is_forgotten_from_its_own_command_too(
    place: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "state" / "agents" / "main" / "sessions"
    put(folder, "a.jsonl", transcript(("user", "the zebra")))
    assert run(["sessions", "forget", "a", *place]) == 0
    assert capsys.readouterr().err == "Nothing was changed. Say --yes to forget this.\n"
    assert (folder / "a.jsonl").exists()
    assert run(["sessions", "forget", "a", "--transcripts", "--yes", *place]) == 0
    assert not (folder / "a.jsonl").exists()
