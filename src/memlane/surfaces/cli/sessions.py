"""`memlane sessions list`, `show`, `search` and `export`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from ...errors import SessionError, UsageError
from ...tools import day_argument, value_json
from .forgetting import forget
from .options import Place, harmless, memory_options, print_excerpt, print_json, print_text
from .searching import print_result


@click.group("sessions")
def sessions_command() -> None:
    """List, show, search and export what was said in sessions."""


@sessions_command.command("list")
@memory_options
def list_command(place: Place) -> None:
    """List the agent's sessions, the last used first."""
    from ..render import sessions_text

    with place.open() as memory:
        found = memory.sessions()
    if place.as_json:
        print_json({"sessions": [value_json(info) for info in found]})
    elif found:
        print_text(harmless(sessions_text(found)))
    else:
        click.echo("There are no sessions yet.", err=True)


@sessions_command.command("show")
@click.argument("session")
@click.option("--from", "start", type=click.IntRange(min=1), default=1, show_default=True, help="First line.")
@click.option("--lines", type=click.IntRange(min=1), help="How many lines of the file.")
@memory_options
def show_command(place: Place, session: str, start: int, lines: int | None) -> None:
    """Print what was said in a session, named by key, id or path. Secrets are masked."""
    with place.open() as memory:
        excerpt = memory.transcript(session, start=start, lines=lines)
    print_excerpt(place, excerpt.path, excerpt)


@sessions_command.command("search")
@click.argument("query")
@click.option("--max-results", type=click.IntRange(min=1), help="At most this many results.")
@click.option("--since", help="Only what was said on this day (YYYY-MM-DD) or later.")
@click.option("--until", help="Only what was said on this day (YYYY-MM-DD) or earlier.")
@memory_options
def search_sessions_command(
    place: Place, query: str, max_results: int | None, since: str | None, until: str | None
) -> None:
    """Find passages of transcripts: memlane search --source sessions."""
    observer = place.observer()
    with place.open(observer=observer) as memory:
        if "sessions" not in memory.settings.memory_search.sources:
            raise UsageError(
                "session memory is off: transcripts are not searched",
                hint="in memorySearch, set experimental.sessionMemory to true and add sessions to sources",
            )
        result = memory.search(
            query,
            max_results=max_results,
            source="sessions",
            since=day_argument("--since", since),
            until=day_argument("--until", until),
        )
    print_result(place, result, told=observer.told)


@sessions_command.command("export")
@click.argument("session")
@click.option(
    "--output", type=click.Path(dir_okay=False), help="File to write; standard output unless given."
)
@memory_options
def export_command(place: Place, session: str, output: str | None) -> None:
    """Write a whole session as Markdown. Secrets are masked."""
    with place.open() as memory:
        pieces = memory.export_session(session)
        if output is not None:
            _write(Path(output), pieces)
        elif place.as_json:
            print_json({"text": "".join(pieces)})
        else:
            for piece in pieces:
                print_text(harmless(piece.removesuffix("\n")))
    if output is not None and place.as_json:
        print_json({"output": output})


@sessions_command.command("forget")
@click.argument("session")
@click.option("--transcripts", is_flag=True, help="Delete the transcript too. There is no copy.")
@click.option("--yes", is_flag=True, help="Do it; without this, what would go is shown.")
@memory_options
def forget_session_command(place: Place, session: str, transcripts: bool, yes: bool) -> int:
    """Forget a session, named by key, id or path: memlane forget --session."""
    return forget(place, yes=yes, session_named=session, transcripts=transcripts)


def _write(path: Path, pieces: Iterator[str]) -> None:
    """Write a new file of the owner's alone; what stands there already is never replaced."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
    except FileExistsError:
        raise UsageError(f"{path} is there already", hint="name another file, or remove it") from None
    except OSError as error:
        raise SessionError(f"cannot write {path}: {error.strerror or error}") from error
