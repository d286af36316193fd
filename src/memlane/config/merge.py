"""Several places of the file become one group of settings, leaf by leaf, each leaf with its origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from .origin import Origin
from .reading import Key, MissingVariable, Reader, keys_of
from .schema import ExtraPath, Section

Level = Literal["agent", "file"]
Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Layer:
    """One place in the file that may set keys of a section."""

    path: str
    """As the user wrote it: `agents.list[0].memorySearch`."""
    values: Mapping[str, Any]
    level: Level = "file"
    """`agent` for an agent's own entry. Two layers of one level are two spellings of the same thing."""


@dataclass(slots=True)
class Notes:
    """What merging found out beside the settings themselves."""

    origins: dict[str, Origin] = field(default_factory=dict)
    """By resolved key (`memorySearch.query.minScore`). Absent keys have their built-in default."""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Merger:
    """Merges layers of one file, the strongest first, and takes notes."""

    reader: Reader
    notes: Notes

    def merge[S: Section](self, section: type[S], layers: Sequence[Layer], name: str) -> S:
        """The settings of `section`, whose resolved keys begin with `name`."""
