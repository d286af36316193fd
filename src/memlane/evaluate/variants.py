"""Other settings to compare with: read from `key=value`, and whether they can share an index. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ..config import AgentSettings
from ..errors import UsageError

_CHANGE = re.compile(r"\s*([A-Za-z][\w.]*)\s*=(.*)", re.DOTALL)


def is_change(text: str) -> bool:
    """Whether a text is a `key=value`, not the name of a file."""
    return _CHANGE.fullmatch(text) is not None


def section_from(changes: Sequence[str]) -> dict[str, Any]:
    """A `memorySearch` section out of texts such as `query.hybrid.mmr.enabled=true` and `provider=none`.

    A value is read as JSON where it is JSON, else as text. Raises UsageError for a text of another form and
    for keys that contradict each other.
    """
    section: dict[str, Any] = {}
    for text in changes:
        found = _CHANGE.fullmatch(text)
        if found is None:
            raise UsageError(f"{text!r} is no change of a setting", hint="write key=value, as provider=none")
        *groups, name = found[1].removeprefix("memorySearch.").split(".")
        holder: Any = section
        for group in groups:
            holder = holder.setdefault(group, {})
            if not isinstance(holder, dict):
                raise UsageError(f"{found[1]} contradicts another change: {group} has a value already")
        if name in holder:
            raise UsageError(f"{found[1]} is given twice")
        holder[name] = _value(found[2].strip())
    return section


def share_index(first: AgentSettings, second: AgentSettings) -> bool:
    """Whether one index serves both: they differ in nothing but how it is asked and when it is synced."""
    mine, other = first.memory_search, second.memory_search
    return (
        first.workspace == second.workspace
        and first.store_path == second.store_path
        and replace(other, query=mine.query, sync=mine.sync) == mine
    )


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
