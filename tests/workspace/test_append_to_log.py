from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from memlane.clock import FixedClock
from memlane.errors import UsageError, WorkspaceError
from memlane.values import Written
from memlane.workspace import Workspace, append_to_log, remember

CLOCK = FixedClock(datetime(2026, 2, 10, 9, 5, tzinfo=timezone(timedelta(hours=1))))
LOG = "memory/2026-02-10.md"


def test_what_is_made_of_the_old_text_goes_to_the_end(workspace: Workspace, root: Path) -> None:
    seen: list[str] = []

    def compose(old: str, now: datetime) -> str:
        seen.append(old)
        return f"- {now:%H:%M} entry {len(seen)}\n"

    assert append_to_log(workspace, compose, clock=CLOCK) == Written(LOG, 3, added=True)
    assert append_to_log(workspace, compose, clock=CLOCK) == Written(LOG, 4, added=True)
    assert seen == ["", "# 2026-02-10\n\n- 09:05 entry 1\n"]
    assert (root / LOG).read_text() == "# 2026-02-10\n\n- 09:05 entry 1\n- 09:05 entry 2\n"


def test_nothing_to_append_leaves_no_file(workspace: Workspace, root: Path) -> None:
    assert append_to_log(workspace, lambda *_: "", clock=CLOCK) == Written(LOG, 3, added=False)
    assert not (root / LOG).exists()


def test_a_failure_in_between_leaves_the_log_as_it_was(workspace: Workspace, root: Path, write) -> None:
    write(LOG, "- old")

    def compose(*_: object) -> str:
        raise UsageError("no")

    with pytest.raises(UsageError):
        append_to_log(workspace, compose, clock=CLOCK)
    assert (root / LOG).read_text() == "- old"


def test_a_log_in_another_encoding_is_not_touched(workspace: Workspace, root: Path, write) -> None:
    write(LOG, b"caf\xe9\n")
    with pytest.raises(WorkspaceError, match="not UTF-8"):
        append_to_log(workspace, lambda *_: "- x\n", clock=CLOCK)
    assert (root / LOG).read_bytes() == b"caf\xe9\n"


def test_it_waits_its_turn_with_other_writers(workspace: Workspace, root: Path) -> None:
    def one(number: int) -> None:
        if number % 2:
            remember(workspace, f"remembered {number}", clock=CLOCK)
        else:
            append_to_log(workspace, lambda *_: f"- appended {number}\n", clock=CLOCK)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(60)))
    lines = (root / LOG).read_text().splitlines()
    assert len(lines) == 62
    assert len(set(lines[2:])) == 60
