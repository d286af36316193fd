"""What several commands share: their options, and opening memory by them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from ...memory import Memory
from ...values import Excerpt, Value
from ...wiring import read_configuration
from ..render import TerminalObserver, with_visible_controls

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Place(Value, frozen=True):
    """Which memory a command is about, and how it answers."""

    agent: str | None
    workspace: str | None
    config: str | None
    state_dir: str | None
    as_json: bool

    def open(
        self,
        agent: str | None = None,
        *,
        workspace: str | Path | None = None,
        config: str | None = None,
        memory_search: Mapping[str, Any] | None = None,
        observer: TerminalObserver | None = None,
        background: bool = False,
    ) -> Memory:
        """Open the memory of an agent; what is not given is as the command line says."""
        return Memory.open(
            agent=agent or self.agent,
            workspace=workspace or self.workspace,
            config=config or self.config,
            state_dir=self.state_dir,
            memory_search=memory_search,
            observer=observer or self.observer(),
            background=background,
        )

    def observer(self) -> TerminalObserver:
        """Shows progress and warnings on standard error, as the command's output allows."""
        return TerminalObserver(progress=sys.stderr.isatty() and not self.as_json)

    def agents(self) -> tuple[str, ...]:
        """The agent named on the command line, else every configured one."""
        if self.agent:
            return (self.agent,)
        configuration = read_configuration(
            workspace=self.workspace, config=self.config, state_dir=self.state_dir
        )
        # A workspace named on the command line is one agent's.
        return (configuration.default_agent,) if self.workspace else configuration.agent_ids


def memory_options(command: _Command) -> _Command:
    """Add the options that say which memory is meant, and pass them on as one `Place`."""

    @click.option("--agent", help="Agent id; the default agent unless given.")
    @click.option(
        "--workspace", type=click.Path(), help="Folder with the notes, instead of the configured one."
    )
    @click.option("--config", type=click.Path(), help="Configuration file.")
    @click.option("--state-dir", type=click.Path(), help="Where indexes are kept.")
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    @click.option("--debug", is_flag=True, help="Show where an error arose.")
    @wraps(command)
    def with_place(
        agent: str | None,
        workspace: str | None,
        config: str | None,
        state_dir: str | None,
        as_json: bool,
        debug: bool,
        **options: object,
    ) -> object:
        if debug:
            import logging

            logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
        return command(Place(agent, workspace, config, state_dir, as_json), **options)

    return with_place  # type: ignore[return-value]  # wraps() keeps the name, not the signature


session_option = click.option(
    "--session", help="Key of the session that asks; without one, the owner's main session."
)


def print_excerpt(place: Place, path: str, excerpt: Excerpt) -> None:
    """Lines of a note or transcript, and where to go on."""
    if place.as_json:
        from ...tools import excerpt_json

        print_json(excerpt_json(excerpt))
        return
    if not excerpt.exists:
        click.echo(f"{path} does not exist yet.", err=True)
    elif excerpt.eof:
        click.echo(f"{path} ends before line {excerpt.start}.", err=True)
    elif excerpt.lines:
        print_text(harmless(excerpt.text))
    if excerpt.truncated:
        click.echo(f"… more follows: --from {excerpt.next_start}", err=True)


def print_json(document: object) -> None:
    """The one document of a `--json` command. Text that is not valid Unicode is replaced."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    click.echo(text.encode("utf-8", "replace").decode("utf-8"))


def print_text(text: str) -> None:
    """Text on standard output just as it is: nothing is stripped from notes on their way to a pipe."""
    click.echo(text, color=True)


def harmless(text: str) -> str:
    """Text of a note for standard output: exact in a pipe, its control signs made visible on a terminal."""
    return with_visible_controls(text) if sys.stdout.isatty() else text


def wants_colour() -> bool:
    """Whether standard output is a terminal whose user has not asked for plain text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
