"""`memlane forget`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageError
from ...tools import value_json
from .options import Place, harmless, memory_options, print_json, print_text

if TYPE_CHECKING:
    from ...forget.plan import Forgetting


_STAYS = "stays; no longer remembered"


@click.command("forget")
@click.argument("phrase", required=False)
@click.option("--path", help="Forget a note, or all below a folder (memory/old/).")
@click.option("--session", help="Forget a session, named by key, id or path.")
@click.option("--notes", is_flag=True, help="Take it out of the Markdown too. There is no copy.")
@click.option("--transcripts", is_flag=True, help="Take it out of transcripts too. There is no copy.")
@click.option("--yes", is_flag=True, help="Do it; without this, what would go is shown.")
@click.option("--list", "listing", is_flag=True, help="List what is forgotten.")
@click.option("--undo", metavar="ID", help="Take back what has this id in the list.")
@memory_options
def forget_command(
    place: Place,
    phrase: str | None,
    path: str | None,
    session: str | None,
    notes: bool,
    transcripts: bool,
    yes: bool,
    listing: bool,
    undo: str | None,
) -> int:
    """Forget a phrase, a note or a session in all that is derived. PHRASE may be -: standard input."""
    asked = [one is not None for one in (phrase, path, session, undo)]
    if sum(asked) + listing != 1:
        raise UsageError(
            "say one thing: a phrase, --path, --session, --list or --undo",
            hint='such as: memlane forget "the old address"',
        )
    if listing:
        return _list(place)
    if undo is not None:
        return _take_back(place, undo)
    wanted = _standard_input() if phrase == "-" else phrase
    return forget(
        place, yes=yes, phrase=wanted, path=path, session_named=session, notes=notes, transcripts=transcripts
    )


def forget(place: Place, *, yes: bool, **wanted: Any) -> int:  # noqa: ANN401
    """Forget what is wanted (arguments of `Memory.forget`), or show what would go. Gives the exit code."""
    reports = []
    for agent in place.agents():
        with place.open(agent) as memory:
            reports.append(memory.forget(**wanted, dry_run=not yes))
    if place.as_json:
        print_json({"agents": [value_json(report) for report in reports]})
    else:
        for report in reports:
            print_text(harmless("\n".join(_lines(report))))
        if not yes:
            click.echo("Nothing was changed. Say --yes to forget this.", err=True)
    return 1 if any(report.status == "incomplete" for report in reports) else 0


def _list(place: Place) -> int:
    found = {}
    for agent in place.agents():
        with place.open(agent) as memory:
            found[agent] = memory.forgotten()
    if place.as_json:
        print_json({"agents": {agent: [value_json(one) for one in ones] for agent, ones in found.items()}})
        return 0
    for agent, ones in found.items():
        for one in ones:
            size = f", {one.length} characters" if one.kind == "phrase" else ""
            click.echo(f"{one.id}  {agent}  {one.made_at}  {one.kind}{size}")
    if not any(found.values()):
        click.echo("Nothing is forgotten.", err=True)
    return 0


def _take_back(place: Place, which: str) -> int:
    with place.open() as memory:
        stone = memory.unforget(which)
    if place.as_json:
        print_json(value_json(stone))
    else:
        click.echo(f"Took back {stone.id} ({stone.kind}); the next pass reads what is still there.")
    return 0


def _lines(report: Forgetting) -> list[str]:
    """A plan or a receipt for people."""
    dry = report.status == "planned"
    lines = [f"Agent {report.agent}: {'this would be forgotten' if dry else 'forgotten'} ({report.kind})."]
    for file in report.files:
        what = ("would be deleted" if dry else "deleted") if file.deleted else _STAYS
        lines.append(f"  {file.path}: {what}")
    for found in report.places:
        what = ("would be taken out" if dry else "taken out") if found.changed else _STAYS
        last = f"-{found.end_line}" if found.end_line > found.start_line else ""
        lines.append(f"  {found.path}:{found.start_line}{last}: {what}")
        lines += [f"    | {line}" for line in found.text.split("\n")] if found.text else []
    if report.warning:
        lines.append(f"  {report.warning}")
    if dry:
        if not (report.files or report.places or report.warning):
            lines.append("  Nothing holds it now; it would be kept out from now on.")
        return lines
    lines += [f"  session {key}: taken out of sessions.json" for key in report.sessions]
    went = report.derived
    lines.append(
        f"  removed: {went.files} files, {went.chunks} chunks and {went.vectors} vectors of the index,"
        f" {went.cached} cached embeddings, {went.half_built} unfinished indexes"
    )
    lines += [f"  deleted: {name}" for name in went.swept]
    lines += [f"  STILL THERE: {path}" for path in report.remaining]
    lines.append(f"  tombstone {report.tombstone}; memlane forget --undo {report.tombstone} takes it back")
    return lines


def _standard_input() -> str:
    if sys.stdin is None:
        raise UsageError("standard input is closed", hint="give the phrase as an argument")
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8: invalid byte at {error.start}") from error
