"""Settings: where they come from, and what was noticed while they were read."""

from __future__ import annotations

from collections.abc import Iterator

from .findings import Finding, advice, fine
from .subject import Subject


def check_configuration(subject: Subject) -> Iterator[Finding]:
    """Unknown keys, settings without effect, memory switched off."""
    settings = subject.settings
    for warning in settings.warnings:
        yield advice("configuration", warning, f"edit {settings.file}")
    if not settings.enabled:
        yield advice(
            "configuration",
            f"memory search is disabled: {settings.disabled_reason}",
            f"change that in {settings.file} to search the notes",
        )
    if not settings.file.exists():
        yield fine("configuration", f"there is no {settings.file}: defaults are in force")
    elif not settings.warnings:
        yield fine("configuration", f"{settings.file} has no unknown keys")
