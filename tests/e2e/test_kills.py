"""`kill -9` at any moment loses nothing: see `crash_harness`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).resolve().parents[1] / "crash_harness.py"


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_fifty_kills_lose_nothing_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HARNESS), str(tmp_path), "50", "7"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["kills"] == 50
    assert seen["completed passes"] > 0
    assert seen["entries kept"] > 0
    assert seen["texts paid twice"] == 0
    assert seen["files set aside as damaged"] == 0
