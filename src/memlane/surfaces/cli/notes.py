"""The commands that read and write notes: `init`, `get`, `remember`, `context`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...errors import UsageError
from ...tools import value_json, written_json
from .options import (
    Place,
    harmless,
    memory_options,
    print_excerpt,
    print_json,
    print_text,
    session_option,
)


@click.command("init")
@memory_options
def init_command(place: Place) -> None:
    """Make a workspace; what exists already is left as it is."""
    from ...workspace import create_workspace

    with place.open() as memory:
        made = [
            str(Path(item)) for item in create_workspace(memory.workspace.root, today=memory.clock.today())
        ]
        root = memory.workspace.root
    if place.as_json:
        print_json({"workspace": str(root), "made": made})
    elif made:
        click.echo(f"Made in {root}:")
        click.echo("\n".join(f"  {item}" for item in made))
    else:
        click.echo(f"{root} is a workspace already; nothing was changed.")


@click.command("get")
@click.argument("path")
@click.option("--from", "start", type=click.IntRange(min=1), default=1, show_default=True, help="First line.")
@click.option("--lines", type=click.IntRange(min=1), help="How many lines.")
@session_option
@memory_options
def get_command(place: Place, path: str, start: int, lines: int | None, session: str | None) -> None:
    """Print exact lines of a note."""
    with place.open() as memory:
        excerpt = memory.get(path, start=start, lines=lines, session=session)
    print_excerpt(place, path, excerpt)


_BULLET = "\u2060"
"""A word joiner before a bullet, so that `- [ ] call the vet` is not read as an option."""


class TextCommand(click.Command):
    """A command whose text may begin like a bullet."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Mark bullets as text; `remember_command` takes the mark off again."""
        return super().parse_args(
            ctx, [_BULLET + text if text.startswith(("- ", "-\t")) else text for text in args]
        )


@click.command("remember", cls=TextCommand)
@click.argument("text", nargs=-1)
@click.option("--durable", is_flag=True, help="Write to MEMORY.md instead of today's log.")
@click.option("--heading", help="With --durable: the section, made when it is missing.")
@session_option
@memory_options
def remember_command(
    place: Place, text: tuple[str, ...], durable: bool, heading: str | None, session: str | None
) -> None:
    """Append to today's log, or to MEMORY.md. TEXT may be - to read standard input."""
    if heading and not durable:
        raise UsageError("--heading goes with --durable", hint="a day's log is written in order of time")
    entry = _standard_input() if text == ("-",) else " ".join(part.removeprefix(_BULLET) for part in text)
    with place.open() as memory:
        written = memory.remember(entry, durable=durable, heading=heading, session=session)
    if place.as_json:
        print_json(written_json(written))
    elif written.added:
        click.echo(f"Remembered in {written.path}, line {written.line}.")
    else:
        click.echo(f"Stands in {written.path} already, line {written.line}; nothing was added.")


@click.command("context")
@session_option
@memory_options
def context_command(place: Place, session: str | None) -> None:
    """Print what an agent should know when a session starts."""
    with place.open() as memory:
        context = memory.context(session)
    if place.as_json:
        print_json(
            {
                "sessionKind": context.session_kind,
                "files": [value_json(part) for part in context.parts],
                "withheld": list(context.withheld),
                "text": context.text,
            }
        )
    elif context.text:
        print_text(harmless(context.text))
    else:
        click.echo("There is nothing to show yet.", err=True)


def _standard_input() -> str:
    if sys.stdin is None:
        raise UsageError("standard input is closed", hint="give the text as an argument")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8: invalid byte at {error.start}") from error
