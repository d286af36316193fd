"""`memlane recall`."""

from __future__ import annotations

import click

from ...tools import recalled_json
from .options import Place, memory_options, print_json, print_text, session_option


@click.command("recall")
@click.argument("message")
@session_option
@memory_options
def recall_command(place: Place, message: str, session: str | None) -> None:
    """Print the few memories that a message calls for, fenced for a prompt; often none."""
    with place.open(observer=place.observer()) as memory:
        recalled = memory.recall(message, session=session)
    if place.as_json:
        print_json(recalled_json(recalled))
    elif recalled.text:
        print_text(recalled.text)
