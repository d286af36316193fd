"""Running a command: from its arguments to an exit code, whatever goes wrong on the way."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from ... import __version__
from ...errors import MemlaneError

_COMMANDS = {
    "init": ("notes", "Make a workspace; what exists already is left as it is."),
    "index": ("indexing", "Bring the index up to date with the notes."),
    "search": ("searching", "Find passages by keyword and by meaning."),
    "get": ("notes", "Print exact lines of a note."),
    "remember": ("notes", "Append to today's log, or to MEMORY.md."),
    "context": ("notes", "Print what an agent should know when a session starts."),
    "status": ("indexing", "Tell what is indexed, how fresh it is, and by which provider."),
    "config": ("configuring", "Check the configuration, or print its schema."),
    "completion": ("completing", "Print the completion script for a shell."),
}


class LazyCommands(click.Group):
    """The commands, each imported when it is run: a search never loads what only `init` needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All names, in the order of help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """One command, imported now."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f".{_COMMANDS[cmd_name][0]}", __package__)
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command an argument names, with the nearest one in the error when there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], _COMMANDS, 1)
            if near:
                raise click.UsageError(f"no command {args[0]!r}; did you mean {near[0]!r}?", ctx) from error
            raise


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="memlane %(version)s")
def cli() -> None:
    """Memory for AI agents: plain Markdown, searched by keyword and by meaning."""


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit code. Nothing escapes but with --debug."""
    as_json = "--json" in arguments
    debug = "--debug" in arguments
    try:
        code = cli.main(list(arguments), prog_name="memlane", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except MemlaneError as error:
        if debug:
            raise
        return _failed(as_json, error.code, str(error), error.hint, error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return _failed(as_json, "usage", error.format_message(), _usage_hint(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _failed(
            as_json, "interrupted", "interrupted", "what was done so far is kept; run it again to go on", 130
        )
    except BrokenPipeError:
        # The reader (head, less) went away. Standard output is pointed elsewhere, so that its last flush
        # at exit does not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        return _failed(
            as_json, "internal", f"unexpected {type(error).__name__}: {error}", "--debug shows where", 1
        )


def _usage_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"try: {context.command_path} --help" if context else ""


def _failed(as_json: bool, code: str, message: str, hint: str, exit_code: int) -> int:
    if as_json:
        import json

        document: dict[str, Any] = {"error": {"code": code, "message": message, "hint": hint}}
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        click.echo(f"memlane: {message}", err=True)
        if hint:
            click.echo(f"  {hint}", err=True)
    return exit_code
