from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def environment(tmp_path: Path, notes: Path) -> dict[str, str]:
    """What a command sees: a home, a state folder and the workspace of the test."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MEMLANE_STATE_DIR": str(tmp_path / "state"),
        "MEMLANE_WORKSPACE": str(notes),
    }
