"""Running a command: from its arguments to an exit code, whatever goes wrong on the way."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from importlib import import_module

import click

from ... import __version__
from ...errors import MemlaneError, UsageError
from ...values import Value

_COMMANDS = {
    "init": ("notes", "Make a workspace; what exists already is left as it is."),
    "index": ("indexing", "Bring the index up to date with the notes."),
    "search": ("searching", "Find passages by keyword and by meaning."),
    "get": ("notes", "Print exact lines of a note."),
    "remember": ("notes", "Append to today's log, or to MEMORY.md."),
    "context": ("notes", "Print what an agent should know when a session starts."),
    "status": ("indexing", "Tell what is indexed, how fresh it is, and by which provider."),
    "eval": ("evaluating", "Ask your own questions and tell which are answered, and why not."),
    "recall": ("recalling", "Print the few memories that a message calls for."),
    "sessions": ("sessions", "List, show, search and export what was said in sessions."),
    "forget": ("forgetting", "Forget a phrase, a note or a session; shows first what would go."),
    "doctor": ("doctoring", "Check everything memory depends on, and say how to mend it."),
    "watch": ("watching", "Keep the index fresh until stopped by Ctrl-C."),
    "chat": ("chatting", "Talk with a chat model that has this memory."),
    "flush": ("flushing", "Have a session's model write down what should last."),
    "hook": ("hooking", "The hooks of a coding agent, and putting them into its settings."),
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
    """Run a command and give its exit code. Nothing escapes but broken output, and all with --debug."""
    as_json = "--json" in arguments
    try:
        code = cli.main(_decoded(arguments), prog_name="memlane", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except SystemExit:
        return 0  # click's way out when the reader of its output has gone
    except (KeyboardInterrupt, click.Abort):
        return _Failure("interrupted", "interrupted", "what was done so far is kept", 130).told(as_json)
    except Exception as error:
        failure = _Failure.of(error)
        if failure is None or "--debug" in arguments:
            raise
        return failure.told(as_json)


def _decoded(arguments: Sequence[str]) -> list[str]:
    """The arguments as UTF-8, whatever the locale made of their bytes.

    Raises UsageError for one that is not UTF-8.
    """
    decoded = []
    for number, argument in enumerate(arguments, start=1):
        try:
            decoded.append(os.fsencode(argument).decode("utf-8"))
        except UnicodeError as error:
            raise UsageError(
                f"argument {number} is not valid UTF-8: {argument!r}",
                hint="check the terminal's encoding",
            ) from error
    return decoded


class _Failure(Value, frozen=True):
    """What went wrong, in the words of an answer."""

    code: str
    message: str
    hint: str
    exit_code: int

    @classmethod
    def of(cls, error: Exception) -> _Failure | None:
        """The failure that an exception stands for; None for broken output, which nobody can be told of."""
        if isinstance(error, MemlaneError):
            return cls(error.code, str(error), error.hint, error.exit_code)
        if isinstance(error, click.ClickException):
            return cls("usage", error.format_message(), _usage_hint(error), 2)
        if isinstance(error, OSError) and error.errno in {errno.EPIPE, errno.ENOSPC, errno.EIO}:
            return None
        if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
            return cls("failed", "too many files are open", "raise the limit: ulimit -n 1024", 1)
        message = f"unexpected {type(error).__name__}: {error}"
        return cls("internal", message, "--debug shows where it arose; please report it", 1)

    def told(self, as_json: bool) -> int:
        """Tell it, and give the exit code."""
        if as_json:
            from .options import print_json

            print_json({"error": {"code": self.code, "message": self.message, "hint": self.hint}})
        else:
            click.echo(f"memlane: {self.message}", err=True)
            if self.hint:
                click.echo(f"  {self.hint}", err=True)
        return self.exit_code


def _usage_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"try: {context.command_path} --help" if context else ""
