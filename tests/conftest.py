"""What many tests need: a folder of notes, and an index over it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, settings

from memlane import Memory
from memlane.clock import FixedClock
from memlane.config.remote_facts import REMOTE_FACTS
from memlane.testing import RecordingObserver

# How long an example takes says nothing of the code on a machine that does other things too.
settings.register_profile("memlane", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memlane")

# No test may spend the developer's money: without its key no provider is chosen.
for facts in REMOTE_FACTS.values():
    for variable in facts.key_variables:
        os.environ.pop(variable, None)

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NOON = datetime(2026, 2, 10, 12, 0, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.fixture
def clock() -> FixedClock:
    """Tuesday 10 February 2026, noon."""
    return FixedClock(NOON)


@pytest.fixture
def observer() -> RecordingObserver:
    return RecordingObserver()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """An empty workspace."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    return root


@pytest.fixture
def write(notes: Path) -> Callable[[str, str], Path]:
    """Writes a note below the workspace."""

    def put(path: str, text: str) -> Path:
        file = notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="")
        return file

    return put


@pytest.fixture
def open_memory(
    tmp_path: Path, notes: Path, clock: FixedClock, observer: RecordingObserver
) -> Iterator[Callable[..., Memory]]:
    """Opens the memory of the workspace, with a `memorySearch` section as keyword arguments.

    `embedder` and `reranker` go to `Memory.open`. Every memory opened is closed at the end of the test.
    """
    import json

    opened: list[Memory] = []

    def open_one(
        *, embedder: object = None, reranker: object = None, agent: str | None = None, **search: object
    ) -> Memory:
        state = tmp_path / "state"
        state.mkdir(exist_ok=True)
        config = {"agents": {"defaults": {"workspace": str(notes), "memorySearch": search}}}
        (state / "openclaw.json").write_text(json.dumps(config), "utf-8")
        memory = Memory.open(
            agent=agent,
            state_dir=state,
            environ={},
            clock=clock,
            observer=observer,
            embedder=embedder,  # type: ignore[arg-type]
            reranker=reranker,  # type: ignore[arg-type]
        )
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()
