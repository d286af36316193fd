"""A memory whose sessions live in a temporary state folder, and what tests look at in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memlane import Memory
from memlane.sessions.life import Life
from memlane.testing import RecordingObserver, ScriptedChat


class MovableClock:
    """A clock that is set by hand."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment

    def today(self) -> Any:
        return self.moment.date()

    def monotonic(self) -> float:
        return self.moment.timestamp()

    def pass_time(self, **span: float) -> None:
        self.moment += timedelta(**span)


@pytest.fixture
def hands() -> MovableClock:
    """Tuesday 10 February 2026, noon in Berlin."""
    return MovableClock(datetime(2026, 2, 10, 12, 0, tzinfo=ZoneInfo("Europe/Berlin")))


LiveIn = Callable[..., Life]


@pytest.fixture
def live(tmp_path: Path, notes: Path, hands: MovableClock, observer: RecordingObserver) -> Iterator[LiveIn]:
    """Opens a memory with `agents.defaults` as keyword arguments, and gives the life of a session of it."""
    opened: list[Any] = []

    def open_life(
        model: ScriptedChat | None, *, session: str | None = None, clock: Any = None, **defaults: Any
    ) -> Life:
        options = {
            name: defaults.pop(name)
            for name in ("model_named", "system", "compaction_reserve")
            if name in defaults
        }
        state = tmp_path / "state"
        state.mkdir(exist_ok=True)
        defaults = {"workspace": str(notes), **defaults}
        defaults.setdefault("memorySearch", {})
        defaults["memorySearch"] = {"provider": "none", **defaults["memorySearch"]}
        (state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": defaults}}), "utf-8")
        memory = Memory.open(state_dir=state, environ={}, clock=clock or hands, observer=observer)
        life = memory.life(session=session, model=model, **options)
        opened.extend((life, memory))
        return life

    yield open_life
    for one in opened:
        one.close()


@pytest.fixture
def store(tmp_path: Path) -> Callable[[], dict[str, Any]]:
    """The entry of the main session in sessions.json."""

    def read(key: str = "agent:main:main") -> dict[str, Any]:
        text = (tmp_path / "state/agents/main/sessions/sessions.json").read_text("utf-8")
        return json.loads(text)[key]

    return read


def entries(life: Life) -> list[dict[str, Any]]:
    """The lines of a life's transcript."""
    return [json.loads(line) for line in life.transcript.read_text("utf-8").splitlines()]
