"""The memory that indexing takes does not grow with a transcript."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.said import line, put, transcript

SCRIPT = """
import sys
from pathlib import Path
from memlane import Memory
with Memory.open(state_dir=sys.argv[1], environ={}) as memory:
    memory.sync()
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    print(len(memory.search("ostrich")), peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_200_megabytes_with_a_line_of_50_stay_under_150(tmp_path: Path, notes: Path) -> None:
    state = tmp_path / "state"
    path = put(state / "agents" / "main" / "sessions", "a.jsonl", transcript(("user", "the zebra")))
    result = f"{line('toolResult', 'r' * 100_000)}\n" * 10
    with path.open("a") as file:
        for number in range(145):
            file.write(f"{line('user', f'question {number} ' + 'words and more words ' * 400)}\n{result}")
        file.write('{"type":"message","message":{"role":"toolResult","content":"')
        for _ in range(50):
            file.write("x" * 10**6)
        file.write(f'"}}}}\n{line("user", "the ostrich")}\n')
    assert path.stat().st_size > 195 * 10**6
    section = {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}
    (state / "openclaw.json").write_text(
        json.dumps({"agents": {"defaults": {"workspace": str(notes), "memorySearch": section}}})
    )
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(state)], capture_output=True, text=True, check=True
    )
    found, kilobytes = map(int, done.stdout.split())
    assert found
    assert kilobytes < 150_000
