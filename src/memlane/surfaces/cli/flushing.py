"""`memlane flush`."""

from __future__ import annotations

from contextlib import ExitStack

import click

from ...errors import UsageError
from ...memory import Memory
from ...tools import value_json
from .model_options import ModelOptions, model_options
from .options import Place, memory_options, print_json


@click.command("flush")
@click.option("--session", help="Session key; without one, the main session.")
@memory_options
@model_options
def flush_command(place: Place, chosen: ModelOptions, session: str | None) -> int:
    """Have a session's model write down what should last, as before a compaction; once a cycle."""
    with place.open() as memory, ExitStack() as held:
        key = session or f"agent:{memory.agent}:main"
        _check_session(memory, key)
        life, _ = chosen.live(memory, key, held)
        life.session_start()
        report = life.flush()
    if place.as_json:
        print_json(value_json(report))
    elif report.done:
        click.echo(f"Flushed: {report.blocks} new block{'' if report.blocks == 1 else 's'} in the day's log.")
        if report.reply:
            click.echo(report.reply)
    elif report.failure:
        click.echo(report.notice or f"Not flushed: {report.failure}", err=True)
    else:
        click.echo(f"Not flushed: {_REASONS[report.decision.reason]}.")
    return 1 if report.failure else 0


_REASONS = {
    "disabled": "the flush, or memory as a whole, is switched off",
    "not-writable": "the workspace may not be written",
    "cron": "nobody talks in a scheduled job's session",
    "subagent": "nobody talks in a sub-agent's session",
    "heartbeat": "nobody talks in a heartbeat",
    "unknown": "it is not known who is in a session with this key",
    "empty": "nothing has been said in this session",
    "flushed": "it has been done already since the last compaction",
    "failed": "it has failed three times since the last compaction",
    "below": "there is room left",
}


def _check_session(memory: Memory, key: str) -> None:
    """Refuse a key that no session has, rather than begin one."""
    from ...transcripts.names import sessions_folder
    from ...transcripts.store import SessionStore

    store = SessionStore(sessions_folder(memory.settings.state_dir, memory.agent), agent=memory.agent)
    if store.record(key) is None:
        known = ", ".join(record.key for record in store.records()[:5])
        raise UsageError(
            f"there is no session {key!r}",
            hint=f"there are: {known}" if known else f"none is recorded in {store.path}",
        )
