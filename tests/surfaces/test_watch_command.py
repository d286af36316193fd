"""`memlane watch` as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

PROGRAM = (sys.executable, "-m", "memlane", "watch")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


class Watching:
    """A running `memlane watch`."""

    def __init__(self, notes: Path, state: Path, *more: str) -> None:
        config = {"agents": {"defaults": {"memorySearch": {"sync": {"watchDebounceMs": 30}}}}}
        state.mkdir(exist_ok=True)
        (state / "openclaw.json").write_text(json.dumps(config))
        self.process = subprocess.Popen(
            [*PROGRAM, "--workspace", str(notes), "--state-dir", str(state), *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.out: IO[str] = self.process.stdout

    def until(self, text: str) -> str:
        """The next line that holds a text."""
        for line in self.out:
            if text in line:
                return line.rstrip("\n")
        raise AssertionError(
            f"it ended without {text!r}: {self.process.stderr and self.process.stderr.read()}"
        )

    def end(self, number: int) -> tuple[int, str]:
        """The exit code after a signal, and what is told last on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@pytest.fixture
def watch(notes: Path, tmp_path: Path) -> Iterator[type[Watching]]:
    running: list[Watching] = []

    def begin(*more: str) -> Watching:
        running.append(Watching(notes, tmp_path / "state", *more))
        return running[-1]

    yield begin  # type: ignore[misc]
    for one in running:
        one.process.kill()
        one.process.communicate()


@posix
def test_it_tells_what_changed_and_what_was_done(watch, write, notes: Path) -> None:
    write("memory/a.md", "green tea\n")
    running = watch()
    assert "  memory/a.md: 1 indexed, 1 chunks embedded in " in running.until("a.md")
    assert running.until("watching").endswith(f"watching {notes}; Ctrl-C stops")
    note = write("memory/b.md", "black coffee\n")
    assert "  memory/b.md: 1 indexed, 1 chunks embedded in " in running.until("b.md")
    note.unlink()
    assert "  memory/b.md: 1 removed in " in running.until("removed")
    assert running.end(signal.SIGINT) == (130, "Stopped. What is indexed is kept.\n")


@posix
def test_as_json_a_document_a_line(watch, write, notes: Path) -> None:
    write("memory/a.md", "green tea\n")
    running = watch("--json")
    first = json.loads(running.until("pass"))
    assert (first["event"], first["agent"], first["reasons"]) == ("pass", "main", ["first look"])
    assert first["report"]["indexed"] == 1
    assert json.loads(running.until("watching"))["workspace"] == str(notes)
    write("memory/차.md", "black coffee\n")
    second = json.loads(running.until("pass"))
    assert second["report"]["changed"] == ["memory/차.md"]
    running.process.send_signal(signal.SIGTERM)
    assert json.loads(running.until("stopped")) == {"event": "stopped"}
    assert running.process.wait(30) == 0


@posix
def test_one_of_several_agents_that_fails_does_not_stop_the_others(
    watch, write, notes: Path, tmp_path: Path
) -> None:
    write("memory/a.md", "green tea\n")
    agents = [{"id": "one", "workspace": str(tmp_path / "gone")}, {"id": "two", "workspace": str(notes)}]
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/openclaw.json").write_text(json.dumps({"agents": {"list": agents}}))
    process = subprocess.Popen(
        [*PROGRAM, "--state-dir", str(tmp_path / "agents")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert f"  one: failed: there is no workspace folder {tmp_path}/gone\n" in lines[0]
    assert any("  two: memory/a.md: 1 indexed" in line for line in lines)
    assert process.returncode == 0


def test_a_workspace_that_is_not_there(watch, notes: Path) -> None:
    (notes / "memory").rmdir()
    notes.rmdir()
    running = watch()
    _, errors = running.process.communicate(timeout=60)
    assert running.process.returncode == 1
    assert f"there is no workspace folder {notes}" in errors


def test_switched_off(watch, notes: Path, tmp_path: Path) -> None:
    running = watch()
    running.process.kill()
    (tmp_path / "state/openclaw.json").write_text("{memory: {search: {enabled: false}}}")
    done = subprocess.run(
        [*PROGRAM, "--workspace", str(notes), "--state-dir", str(tmp_path / "state")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "main: Memory search disabled.\n")
