"""`memlane config check` and `memlane config schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...wiring import read_configuration
from .options import Place, memory_options, print_json

if TYPE_CHECKING:
    from ...embed.select import Choice


@click.group("config")
def config_command() -> None:
    """Check the configuration, or print its schema."""


@config_command.command("check")
@memory_options
def check_command(place: Place) -> None:
    """Print every setting in force and where it comes from."""
    from ...clock import SystemClock, zone_named
    from ...config import describe, notices
    from ...embed.select import choose_provider
    from ...events import SilentObserver

    configuration = read_configuration(
        workspace=place.workspace, config=place.config, state_dir=place.state_dir
    )
    settings = configuration.agent(place.agent)
    rows = describe(settings)
    choice = choose_provider(
        settings, clock=SystemClock(zone_named(settings.user_timezone)), observer=SilentObserver()
    )
    choice.close()
    warnings = [*settings.warnings, *choice.warnings, *filter(None, [choice.failure])]
    told = list(notices(settings))
    if place.as_json:
        print_json(
            {
                "file": str(configuration.file),
                "exists": configuration.exists,
                "agent": settings.agent_id,
                "settings": [{"key": key, "value": value, "origin": origin} for key, value, origin in rows],
                "provider": _provider_json(choice),
                "warnings": warnings,
                "notices": told,
            }
        )
        return
    found = "" if configuration.exists else " (not there; all defaults)"
    click.echo(f"Configuration: {configuration.file}{found}\nAgent: {settings.agent_id}\n")
    width = max(len(key) for key, _, _ in rows)
    for key, value, origin in rows:
        click.echo(f"{key:<{width}}  {value}  [{origin}]")
    click.echo("\nProvider:")
    for reason in choice.reasons:
        click.echo(f"  {reason}")
    for notice in told:
        click.echo(f"\nNote: {notice}.")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


def _provider_json(choice: Choice) -> dict[str, Any]:
    """Who embeds, as far as that is known without asking."""
    embedder, endpoint = choice.embedder, choice.endpoint
    return {
        "id": embedder.id if embedder else "none",
        "model": embedder.model if embedder else None,
        "endpoint": endpoint.host if endpoint else "",
        "keyOrigin": endpoint.key_origin if endpoint else "",
        "reasons": list(choice.reasons),
        "failure": choice.failure,
    }


@config_command.command("schema")
@click.option("--json", "as_json", is_flag=True, help="The schema is JSON in any case.")
def schema_command(as_json: bool) -> None:  # noqa: ARG001
    """Print the JSON Schema of the memory settings."""
    from ...config import json_schema

    print_json(json_schema())
