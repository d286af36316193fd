"""What the doctor found, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .render import with_visible_controls

if TYPE_CHECKING:
    from ..doctor import DoctorReport, Finding

_WORDS = {"fine": "ok", "advice": "advice", "broken": "BROKEN"}
_COLOURS = {"fine": "green", "advice": "yellow", "broken": "red"}


def diagnosis_text(report: DoctorReport, *, colour: bool) -> str:
    """One line a finding, what to do under it, and a line that sums up."""
    lines = [f"{report.agent}:"] if report.agent else []
    lines += [line for finding in report.findings for line in _finding_lines(finding, colour=colour)]
    lines += [f"  mended: {with_visible_controls(what)}" for what in report.mended]
    lines.append(_summary(report))
    return "\n".join(lines)


def _finding_lines(finding: Finding, *, colour: bool) -> list[str]:
    word = f"{_WORDS[finding.severity]:<7}"
    if colour:
        word = click.style(word, fg=_COLOURS[finding.severity])
    lines = [f"  {word} {finding.check:<13} {with_visible_controls(finding.message)}"]
    if finding.remedy:
        lines.append(f"{'':24}→ {with_visible_controls(finding.remedy)}")
    return lines


def _summary(report: DoctorReport) -> str:
    advised = sum(finding.severity == "advice" for finding in report.findings)
    fixable = any(finding.fixable for finding in report.findings)
    if not report.broken and not advised:
        return "Everything is fine."
    parts = [f"{len(report.broken)} broken"] if report.broken else []
    parts += [f"{advised} to consider"] if advised else []
    hint = "; memlane doctor --fix mends what is safe" if fixable else ""
    return f"{', '.join(parts)}{hint}."
