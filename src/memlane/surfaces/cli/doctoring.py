"""`memlane doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...errors import ConfigError
from ...memory import Memory
from ...tools import value_json
from .options import Place, memory_options, print_json, wants_colour

if TYPE_CHECKING:
    from ...doctor import DoctorReport
    from ...events import Stage

_BROKEN = 1


@click.command("doctor")
@click.option(
    "--fix", is_flag=True, help="Mend what is safe: the index, the cache, file modes. Never a note."
)
@memory_options
def doctor_command(place: Place, fix: bool) -> int:
    """Check everything memory depends on, and say how to mend each finding.

    Exit code 0 when all is fine or there is only advice, 1 when something is broken.
    """
    from ..diagnosis import diagnosis_text

    reports = _reports(place, fix=fix)
    if place.as_json:
        print_json({"agents": [_document(report) for report in reports]})
    else:
        click.echo("\n\n".join(diagnosis_text(report, colour=wants_colour()) for report in reports))
    return _BROKEN if any(report.broken for report in reports) else 0


def _reports(place: Place, *, fix: bool) -> list[DoctorReport]:
    """One report an agent. A configuration that cannot be used is a finding here, not a failure."""
    from ...doctor import unusable_configuration

    reports = []
    try:
        for agent in place.agents():
            try:
                with _opened(place, agent) as memory:
                    reports.append(memory.doctor(fix=fix))
            except ConfigError as error:
                reports.append(unusable_configuration(error, agent))
    except ConfigError as error:
        reports.append(unusable_configuration(error))
    return reports


def _opened(place: Place, agent: str) -> Memory:
    return Memory.open(
        agent=agent,
        workspace=place.workspace,
        config=place.config,
        state_dir=place.state_dir,
        observer=_Unheard(),
    )


def _document(report: DoctorReport) -> dict[str, Any]:
    document = value_json(report)
    for finding, value in zip(report.findings, document["findings"], strict=True):
        value["fixable"] = finding.fixable
    return {**document, "broken": len(report.broken)}


class _Unheard:
    """Warnings are findings here; told twice they would confuse."""

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """Ignore progress."""

    def warning(self, message: str) -> None:
        """Ignore a warning."""
