"""`memlane hook`: the hooks of a coding agent, and putting them into its settings."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from shutil import which
from typing import Any

import click

from ...errors import MemlaneError
from .options import Place, harmless, memory_options, print_json

_MOST_INPUT = 2**20


class HookCommand(click.Command):
    """A command that an agent runs as a hook.

    Exit code 2 would forbid the agent what it is about to do, such as a compaction, so every failure is 1:
    told, and not in the way.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - as click has it
    ) -> click.Context:
        """Read the options; wrong ones are told without forbidding anything."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.ClickException as error:
            raise _failed(error.format_message()) from error

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Run the hook; whatever fails is told in one line."""
        try:
            return super().invoke(ctx)
        except MemlaneError as error:
            raise _failed(f"{error} {error.hint}".strip()) from error
        except OSError as error:
            raise _failed(error.strerror or str(error)) from error


def _failed(message: str) -> click.exceptions.Exit:
    click.echo(f"memlane: {' '.join(message.split())}", err=True)
    return click.exceptions.Exit(1)


@click.group("hook")
def hook_command() -> None:
    """The hooks of a coding agent (Claude Code), and putting them into its settings."""


@hook_command.command("session-start", cls=HookCommand)
@memory_options
def session_start_command(place: Place) -> None:
    """Answer with the owner's notes, and with what the session before left."""
    from ...sessions.hooks import NOTES_CHARACTERS, start_answer, start_context
    from ...sessions.unsaved import UnsavedPieces

    call = _call()
    with place.open() as memory:
        if not memory.settings.enabled:
            return
        notes = memory.context(limit=NOTES_CHARACTERS).text
        pieces = UnsavedPieces(memory.settings, clock=memory.clock)
        context, handed_over = start_context(call, notes, pieces)
    print_json(start_answer(context))
    sys.stdout.flush()
    for piece in handed_over:
        pieces.saved(piece)


@hook_command.command("user-prompt", cls=HookCommand)
@memory_options
def user_prompt_command(place: Place) -> None:
    """Answer with what of the notes the prompt calls for, where recall is switched on: mostly nothing.

    Commands of the agent itself, which begin with a slash, call for nothing.
    """
    from ...sessions.hooks import MOST_CHARACTERS, NOTES_CHARACTERS, prompt_answer

    call = _call()
    with place.open() as memory:
        if not memory.settings.memory_search.recall.enabled or call.prompt.startswith("/"):
            return
        shown = memory.context(limit=NOTES_CHARACTERS).text
        found = memory.recall(call.prompt, shown=f"{shown}\n{call.prompt}")
    if 0 < len(found.text) <= MOST_CHARACTERS:
        print_json(prompt_answer(found.text))


@hook_command.command("pre-compact", cls=HookCommand)
@memory_options
def pre_compact_command(place: Place) -> None:
    """Keep the end of what was said, for the session start that follows."""
    _keep(place, "compaction")


@hook_command.command("session-end", cls=HookCommand)
@memory_options
def session_end_command(place: Place) -> None:
    """Keep the end of what was said, for the next session."""
    _keep(place, "end")


def _keep(place: Place, event: str) -> None:
    from ...sessions.hooks import keep_tail
    from ...sessions.unsaved import UnsavedPieces

    call = _call()
    with place.open() as memory:
        if not memory.settings.enabled:
            return
        keep_tail(call, event, UnsavedPieces(memory.settings, clock=memory.clock))


def _call() -> Any:  # noqa: ANN401 - its type is imported when a hook runs
    from ...sessions.hooks import hook_call

    return hook_call(b"" if sys.stdin is None else sys.stdin.buffer.read(_MOST_INPUT))


@hook_command.command("install")
@click.option(
    "--settings",
    type=click.Path(path_type=Path),
    default=Path("~/.claude/settings.json"),
    show_default=True,
    help="The agent's settings.",
)
@click.option("--recall", is_flag=True, help="With the hook that adds to a prompt what it calls for.")
@click.option("--yes", is_flag=True, help="Write the change without asking.")
@memory_options
def install_command(place: Place, settings: Path, recall: bool, yes: bool) -> None:
    """Show what the hooks change in the agent's settings, and write it when you say so."""
    from ...clock import SystemClock
    from ...sessions.hook_settings import apply_change, settings_change

    change = settings_change(
        settings.expanduser().absolute(), _command(), options=_options(place), recall=recall
    )
    if not place.as_json:
        click.echo(harmless(change.difference()) if change.is_needed else "The hooks are there already.")
    wanted = change.is_needed and (yes or (_may_ask(place) and click.confirm("Write this?", err=True)))
    backup = apply_change(change, now=SystemClock().now()) if wanted else None
    if place.as_json:
        print_json(
            {
                "settings": str(change.path),
                "difference": change.difference(),
                "needed": change.is_needed,
                "written": wanted,
                "backup": str(backup) if backup else None,
            }
        )
    elif wanted:
        click.echo(f"Written to {change.path}." + (f" What stood there is in {backup}." if backup else ""))
    elif change.is_needed:
        click.echo("Nothing was changed; --yes writes it.")


def _may_ask(place: Place) -> bool:
    return not place.as_json and sys.stdin is not None and sys.stdin.isatty()


def _command() -> str:
    """How the hooks call this program: by its whole path, whatever their PATH is."""
    program = which("memlane")
    return shlex.join([program] if program else [sys.executable, "-m", "memlane"])


def _options(place: Place) -> str:
    """What this command was told of the memory, for the hooks to be told too; paths are made whole."""
    paths = {"--workspace": place.workspace, "--config": place.config, "--state-dir": place.state_dir}
    given = ["--agent", place.agent] if place.agent else []
    for name, path in paths.items():
        given += [name, str(Path(path).expanduser().absolute())] if path else []
    return shlex.join(given)
