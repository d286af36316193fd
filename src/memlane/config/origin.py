"""Where a resolved value came from, so that a person can find the line to change."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Origin(Struct, frozen=True):
    """The place that decided a value."""

    kind: Literal["default", "file", "agent", "flag", "environment"]
    """`agent` is an agent's own entry in the file, `file` any other place in it."""
    place: str = ""
    """The full key as it stands in the file, the flag, or the name of the variable."""
    file: str = ""

    def __str__(self) -> str:
        if self.kind == "default":
            return "built-in default"
        if self.kind == "environment":
            return f"environment variable {self.place}"
        return f"{self.file}: {self.place}" if self.file else self.place


DEFAULT = Origin("default")
