"""A clock and a folder of sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlane.clock import FixedClock


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 2, 10, 12, 30, tzinfo=UTC))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "agents" / "main" / "sessions"
