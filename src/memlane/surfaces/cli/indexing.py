"""The commands about the index itself, over every configured agent unless one is named."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import click

from ...errors import MemlaneError, UsageError
from ...tools import value_json
from ...values import Value
from .options import Place, memory_options, print_json
from .terminating import at_terminate

_PARTLY = 3


@click.command("index")
@click.option("--force", is_flag=True, help="Read and store every note again.")
@click.option("--plan", is_flag=True, help="Tell what would be read and embedded; write and send nothing.")
@click.option("--verbose", is_flag=True, help="Name what was skipped.")
@click.option(
    "--batch-status", is_flag=True, help="Only look at the batch jobs, and take over what they have made."
)
@memory_options
def index_command(place: Place, force: bool, plan: bool, verbose: bool, batch_status: bool) -> int:
    """Bring the index up to date with the notes."""
    if batch_status and (force or plan):
        raise UsageError(
            f"--batch-status only looks at the batch jobs: leave out {'--force' if force else '--plan'}"
        )
    if batch_status:
        return _for_each_agent(place, lambda agent: _batch_status(place, agent))
    from ..planned import plan_text
    from ..render import report_text

    def index(agent: str) -> Answer:
        with place.open(agent) as memory:
            if not memory.settings.enabled:
                return Answer({"disabled": True}, f"{agent}: Memory search disabled.")
            if plan:
                planned = memory.plan(force=force)
                return Answer(value_json(planned), plan_text(agent, planned))
            report = memory.sync(force=force, reason="command")
        code = _PARTLY if report.failed or not report.complete else 0
        return Answer(value_json(report), report_text(agent, report, verbose=verbose), code)

    with at_terminate(signal.default_int_handler):  # as Ctrl-C does
        return _for_each_agent(place, index)


@click.command("status")
@click.option("--deep", is_flag=True, help="Try the embedding provider and check the model's files.")
@click.option("--index", "index_first", is_flag=True, help="Index first when notes have changed.")
@memory_options
def status_command(place: Place, deep: bool, index_first: bool) -> int:
    """Tell what is indexed, how fresh it is, and by which provider."""
    from ..render import status_text

    def tell(agent: str) -> Answer:
        with place.open(agent) as memory:
            if not memory.settings.enabled:
                reason = memory.settings.disabled_reason
                return Answer({"enabled": False}, f"{agent}: Memory search disabled. {reason}".rstrip())
            report = memory.sync(reason="status") if index_first else None
            status = memory.status(deep=deep)
        partly = report is not None and (report.failed or not report.complete)
        return Answer(value_json(status), status_text(status), _PARTLY if partly else 0)

    return _for_each_agent(place, tell)


def _batch_status(place: Place, agent: str) -> Answer:
    from ..batch_text import batches_text

    with place.open(agent) as memory:
        if not memory.settings.enabled:
            return Answer({"disabled": True}, f"{agent}: Memory search disabled.")
        report = memory.batches()
    return Answer(value_json(report), batches_text(agent, report))


class Answer(Value, frozen=True):
    """What one agent's part of a command gives."""

    document: dict[str, Any]
    text: str
    code: int = 0


def _for_each_agent(place: Place, work: Callable[[str], Answer]) -> int:
    """Do the work for every agent; one that fails does not stop the others. Gives the exit code."""
    agents = place.agents()
    documents = []
    code = 0
    for agent in agents:
        try:
            answer = work(agent)
        except MemlaneError as error:
            if len(agents) == 1:
                raise
            failure = {"code": error.code, "message": str(error), "hint": error.hint}
            answer = Answer({"error": failure}, f"{agent}: failed: {error}\n  {error.hint}".rstrip(), _PARTLY)
        documents.append({"agent": agent, **answer.document})
        code = max(code, answer.code)
        if not place.as_json:
            click.echo(answer.text)
    if place.as_json:
        print_json({"agents": documents})
    return code
