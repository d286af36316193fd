"""The configuration for people and editors: every resolved value with its origin, and the JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .kinds import HIDDEN, Secret, without_credentials
from .section import Section

if TYPE_CHECKING:
    from .settings import AgentSettings


def describe(settings: AgentSettings) -> list[tuple[str, object, str]]:
    """Every resolved key with its value, as plain JSON values, and its origin in words.

    Keys are as in an agent's part of the file, such as `memorySearch.query.minScore`. Secrets are dots.
    """
    rows: list[tuple[str, object]] = [
        ("config", str(settings.file)),
        ("stateDir", str(settings.state_dir)),
        ("agent", settings.agent_id),
        ("workspace", str(settings.workspace)),
        ("userTimezone", settings.user_timezone),
        ("contextTokens", settings.context_tokens),
        ("model", settings.chat_model),
        ("sandbox.workspaceAccess", settings.workspace_access),
        *_leaves(settings.compaction, "compaction"),
        *_leaves(settings.memory_search, "memorySearch"),
        *_leaves(settings.memory, "memory"),
    ]
    for name, provider in settings.providers.items():
        rows += _leaves(provider, f"models.providers.{name}")
    rows.append(("plugins.slots.memory", settings.memory_plugin))
    return [(key, value, str(settings.origin(key))) for key, value in rows]


def _leaves(section: Section, path: str) -> Iterator[tuple[str, object]]:
    names = zip(section.__struct_encode_fields__, section.__struct_fields__, strict=True)
    for name, attribute in names:
        value = getattr(section, attribute)
        if isinstance(value, Section):
            yield from _leaves(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}", _plain(value)


def _plain(value: object, name: str = "") -> object:
    """A value as JSON has it, without what lets somebody in."""
    from .hosts import is_secret

    if isinstance(value, Secret):
        return HIDDEN if not name or is_secret(name) else str(value)
    if isinstance(value, Section):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return {key: _plain(getattr(value, attribute)) for key, attribute in names}
    if isinstance(value, dict):
        return {key: _plain(item, key) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return without_credentials(value) if isinstance(value, str) else value


# ---- JSON Schema -------------------------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """A JSON Schema (2020-12) of all that memory reads from the file, in both spellings.

    Keys of other parts of the platform are allowed everywhere, as are unknown ones, which are only warned of.
    """
    import msgspec

    from .shape import File

    schema = msgspec.json.schema(File)
    for definition in schema["$defs"].values():
        for key in definition["properties"].values():
            if "$ref" in key:
                key.pop("default", None)  # its own keys say it
            key.update(key.pop("written", {}))
            if "writtenDefault" in key:
                key["default"] = key.pop("writtenDefault")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Memlane configuration"}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(head | schema))
    return plain
