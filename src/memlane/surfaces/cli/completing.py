"""`memlane completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script for a shell.

    For bash: eval "$(memlane completion bash)" in ~/.bashrc; likewise for zsh. For fish: memlane completion
    fish > ~/.config/fish/completions/memlane.fish
    """
    from .run import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(cli, {}, "memlane", "_MEMLANE_COMPLETE").source())
