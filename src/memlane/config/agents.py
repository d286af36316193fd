"""Which agents the file knows, and which of them answers when none is named."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ..errors import UsageError
from .merge import Layer, Merger
from .reading import shorten

DEFAULT_AGENT = "main"

_UNSAFE = frozenset('/\\:*?"<>|')
"""Not allowed in file names on some system; the colon also parts session keys."""


class Agents(Struct, frozen=True):
    """The configured agents. Without any there is one, called main."""

    entries: Mapping[str, tuple[Layer, ...]]
    """What the file says of each, strongest first."""
    default: str

    def known(self, agent_id: str | None) -> str:
        """The id as configured; the default agent's for None. Raises UsageError naming the known ones."""
        if agent_id is None:
            return self.default
        if (wanted := agent_id.strip().lower()) in self.entries:
            return wanted
        raise UsageError(
            f"there is no agent {shorten(agent_id)}; known: {', '.join(self.entries)}",
            hint="agents are listed under agents.list in the configuration file",
        )


def read_agents(root: Layer, merger: Merger) -> Agents:
    """The agents of `agents.list` and `agents.entries`, in the order of the file. Raises ConfigError."""
    holders = [*_listed(root, merger), *_mapped(root, merger)]
    entries: dict[str, tuple[Layer, ...]] = {}
    default = ""
    for agent_id, layer in holders:
        entries[agent_id] = (*entries.get(agent_id, ()), layer)
        chosen = layer.values.get("default", False)
        if not isinstance(chosen, bool):
            raise merger.reader.refusal(f"{layer.path}.default", chosen, "true or false")
        if chosen and default not in {"", agent_id}:
            merger.note(f"{layer.path}.default is ignored, because {default} is the default agent already")
        default = default or (agent_id if chosen else "")
    entries = entries or {DEFAULT_AGENT: ()}
    return Agents(entries, default or next(iter(entries)))


def _listed(agents: Layer, merger: Merger) -> list[tuple[str, Layer]]:
    found: dict[str, Layer] = {}
    listed = agents.values.get("list", [])
    if not isinstance(listed, list):
        raise merger.reader.refusal("agents.list", listed, "a list of agents")
    for index, entry in enumerate(listed):
        path = f"agents.list[{index}]"
        if not isinstance(entry, dict):
            raise merger.reader.refusal(path, entry, "an object with an id")
        agent_id = _checked(entry.get("id"), f"{path}.id", merger)
        if agent_id in found:
            merger.note(f"{path} is ignored, because {found[agent_id].path} has the same id {agent_id}")
        else:
            found[agent_id] = Layer(path, entry, "agent")
    return list(found.items())


def _mapped(agents: Layer, merger: Merger) -> list[tuple[str, Layer]]:
    if "entries" not in agents.values:
        return []
    group = merger.below(agents, "entries")
    found = []
    for name in group.values:
        layer = merger.below(group, name)
        found.append((_checked(name, layer.path, merger), Layer(layer.path, layer.values, "agent")))
    return found


def _checked(raw: object, place: str, merger: Merger) -> str:
    """An agent's id, trimmed and in lower case: it names files and folders and stands in session keys."""
    agent_id = raw.strip().lower() if isinstance(raw, str) else ""
    unsafe = any(letter in _UNSAFE or not letter.isprintable() for letter in agent_id)
    if not agent_id or unsafe or agent_id.startswith(".") or agent_id.endswith(".") or len(agent_id) > 64:
        allowed = (
            "a name of at most 64 letters that can be a file name, without / and without dots at its ends"
        )
        raise merger.reader.refusal(place, raw, allowed)
    return agent_id
