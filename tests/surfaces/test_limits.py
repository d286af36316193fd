"""The command line under limits of the system: no file may grow, few may be open."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="ulimit is the shell's")


def limited(limit: str, command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", f"ulimit {limit}; '{sys.executable}' -m memlane {command}"],
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},  # it would be cut short for everybody
        capture_output=True,
        check=False,
    )


def test_a_note_that_may_not_grow_is_left_as_it_was(
    environment: dict[str, str], notes: Path, write: Write
) -> None:
    curated = write("MEMORY.md", "# Memory\n" + "- a fact that stands here\n" * 100)
    before = curated.read_bytes()
    done = limited("-f 1", "remember --durable 'one fact more'", environment)
    assert done.returncode == 1
    assert b"cannot write" in done.stderr
    assert str(curated).encode() in done.stderr
    assert curated.read_bytes() == before
    assert [path.name for path in notes.iterdir() if path.name.endswith(".tmp")] == []
    assert limited("-f unlimited", "remember --durable 'one fact more'", environment).returncode == 0
    assert curated.read_bytes().startswith(before)


@pytest.mark.parametrize("command", ["index", "search lighthouse", "status", "doctor", "remember tea"])
@pytest.mark.parametrize("limit", ["-f 0", "-n 8"])
def test_no_limit_gives_a_traceback_or_harms_the_index(
    environment: dict[str, str], write: Write, limit: str, command: str
) -> None:
    write("memory/a.md", "the lighthouse keeper\n")
    if limit.startswith("-n"):  # an index to be read, not one to be begun
        assert limited("-n 1024", "index", environment).returncode == 0
    done = limited(limit, command, environment)
    assert done.returncode in {0, 1}
    assert b"Traceback" not in done.stderr
    assert b"unexpected" not in done.stderr
    assert done.returncode == 0 or done.stdout + done.stderr
    found = limited("-n 1024", "search 'lighthouse keeper'", environment)
    assert b"memory/a.md" in found.stdout
    assert b"damaged" not in found.stderr
