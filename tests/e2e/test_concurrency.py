"""Many processes on one index at the same time."""

from __future__ import annotations

from pathlib import Path

from benchmarks.freshness.actors import ROLES, race


def test_processes_that_write_read_watch_and_rebuild_get_along(tmp_path: Path) -> None:
    seen = race(tmp_path, seconds=5, pause=0.1)
    assert [one["errors"] for one in seen] == [[]] * (len(ROLES) + 1)
    assert all(one["rounds"] > 0 for one in seen[:-1])
