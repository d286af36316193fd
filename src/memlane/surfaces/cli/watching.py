"""`memlane watch`: the index kept fresh in the foreground."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import click

from ...errors import MemlaneError
from ...memory import Memory
from ...tools import value_json
from ...values import Pass
from .options import Place, memory_options
from .terminating import at_terminate

_INTERRUPTED = 130
_TICK_SECONDS = 0.5
_START = ("first look",)


@click.command("watch")
@memory_options
def watch_command(place: Place) -> int:
    """Keep the index fresh until stopped by Ctrl-C. With --json, one JSON document a line."""
    stopped = threading.Event()
    with ExitStack() as opened:
        memories = []
        for agent in place.agents():
            memory = opened.enter_context(place.open(agent))
            if memory.settings.enabled:
                memories.append(memory)
            elif not place.as_json:
                click.echo(f"{agent}: Memory search disabled.")
        told = _Teller(place.as_json, many=len(memories) > 1, stopped=stopped)
        try:
            with at_terminate(lambda *_: stopped.set()):
                for memory in memories:
                    told.passed(memory, _first_pass(memory, alone=len(memories) == 1))
                    memory.start(told.listener(memory), watch=True)
                    told.watching(memory)
                while memories and not stopped.wait(_TICK_SECONDS):
                    pass
        except KeyboardInterrupt:
            opened.close()
            told.stopped()
            return _INTERRUPTED
    told.stopped()
    return 0


def _first_pass(memory: Memory, *, alone: bool) -> Pass:
    """Bring an index up to date before it is watched. One of several that fails does not stop the others."""
    try:
        return Pass(_START, (), memory.sync(reason=_START[0]))
    except MemlaneError as error:
        if alone:
            raise
        return Pass(_START, (), None, str(error))


class _Teller:
    """Tells of passes on standard output, from whichever thread they come."""

    def __init__(self, as_json: bool, *, many: bool, stopped: threading.Event) -> None:
        self._as_json = as_json
        self._many = many
        self._stopped = stopped
        self._guard = threading.Lock()

    def listener(self, memory: Memory) -> Callable[[Pass], None]:
        """What to call with each pass of a memory."""
        return lambda done: self.passed(memory, done)

    def passed(self, memory: Memory, done: Pass) -> None:
        """Tell of a pass, when there is anything to tell."""
        from ..render import did_something, pass_text

        if done.report is not None and done.reasons != _START and not did_something(done.report):
            return
        now = memory.clock.now()
        told: dict[str, Any] = {"reasons": list(done.reasons)}
        if done.report is not None:
            told["report"] = value_json(done.report)
        if done.failure:
            told["failure"] = done.failure
        self._tell(memory, "pass", now, told, pass_text(done))

    def watching(self, memory: Memory) -> None:
        """Tell that a workspace is being watched."""
        root = str(memory.workspace.root)
        text = f"watching {root}; Ctrl-C stops"
        self._tell(memory, "watching", memory.clock.now(), {"workspace": root}, text)

    def stopped(self) -> None:
        """Tell that all is over."""
        if self._as_json:
            click.echo(json.dumps({"event": "stopped"}))
        else:
            click.echo("Stopped. What is indexed is kept.", err=True)

    def _tell(self, memory: Memory, event: str, now: datetime, more: dict[str, Any], text: str) -> None:
        if self._as_json:
            time = now.isoformat(timespec="seconds")
            line = json.dumps(
                {"event": event, "agent": memory.agent, "time": time, **more}, ensure_ascii=False
            )
        else:
            line = f"{now:%H:%M:%S}  {f'{memory.agent}: ' if self._many else ''}{text}"
        try:
            with self._guard:
                click.echo(line.encode("utf-8", "replace").decode("utf-8"))
        except OSError:
            self._stopped.set()  # nobody reads this any more
