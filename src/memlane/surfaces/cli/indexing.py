"""The commands about the index itself, over every configured agent unless one is named."""

from __future__ import annotations

import click

from ...tools import value_json
from .options import Place, memory_options, print_json

_PARTLY = 3


@click.command("index")
@click.option("--force", is_flag=True, help="Read and store every note again.")
@click.option("--verbose", is_flag=True, help="Name what was skipped.")
@memory_options
def index_command(place: Place, force: bool, verbose: bool) -> int:
    """Bring the index up to date with the notes."""
    from ..render import report_text

    documents = []
    code = 0
    for agent in place.agents():
        with place.open(agent) as memory:
            if not memory.settings.enabled:
                documents.append({"agent": agent, "disabled": True})
                _say(place, f"{agent}: Memory search disabled.")
                continue
            report = memory.sync(force=force, reason="command")
        documents.append({"agent": agent, **value_json(report)})
        _say(place, report_text(agent, report, verbose=verbose))
        if report.failed or not report.complete:
            code = _PARTLY
    if place.as_json:
        print_json({"agents": documents})
    return code


@click.command("status")
@click.option("--deep", is_flag=True, help="Try the embedding provider and check the model's files.")
@click.option("--index", "index_first", is_flag=True, help="Index first when notes have changed.")
@memory_options
def status_command(place: Place, deep: bool, index_first: bool) -> None:
    """Tell what is indexed, how fresh it is, and by which provider."""
    from ..render import status_text

    documents = []
    for agent in place.agents():
        with place.open(agent) as memory:
            if not memory.settings.enabled:
                documents.append({"agent": agent, "enabled": False})
                _say(place, f"{agent}: Memory search disabled. {memory.settings.disabled_reason}".rstrip())
                continue
            if index_first:
                memory.sync(reason="status")
            status = memory.status(deep=deep)
        documents.append(value_json(status))
        _say(place, status_text(status))
    if place.as_json:
        print_json({"agents": documents})


def _say(place: Place, text: str) -> None:
    if not place.as_json:
        click.echo(text)
