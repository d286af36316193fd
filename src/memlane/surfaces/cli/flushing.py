"""`memlane flush`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from ...errors import ChatError, UsageError
from ...memory import Memory
from ...tools import value_json
from .options import Place, memory_options, print_json

if TYPE_CHECKING:
    from ...sessions.chat import ChatModel


@click.command("flush")
@click.option("--session", help="Session key; without one, the main session.")
@click.option(
    "--model", "named", help="The chat model: MODULE:NAME of one in Python, or of a function giving one."
)
@memory_options
def flush_command(place: Place, session: str | None, named: str | None) -> int:
    """Have a session's model write down what should last, as before a compaction; once a cycle."""
    with place.open() as memory:
        key = session or f"agent:{memory.agent}:main"
        _check_session(memory, key)
        with memory.life(session=key, model=_model(named)) as life:
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


def _model(named: str | None) -> ChatModel:
    """The chat model that the user names. Raises UsageError, ChatError."""
    if named is None:
        raise UsageError("there is no chat model to ask", hint="name one: --model mypackage.models:chat")
    module, _, name = named.partition(":")
    if not module or not name:
        raise UsageError(f"{named!r} names no model", hint="write MODULE:NAME, such as mypackage.models:chat")
    sys.path.insert(0, os.curdir)  # what `python -m` would find, a console script does not
    try:
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{named!r} cannot be imported: {error}") from error
    except Exception as error:
        raise ChatError(f"{named!r} failed while it was imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(os.curdir)
    model = found() if callable(found) and not hasattr(found, "reply") else found
    if isinstance(model, type) or not hasattr(model, "reply"):
        raise UsageError(f"{named!r} is no chat model", hint="see memlane.sessions.chat.ChatModel")
    return model
