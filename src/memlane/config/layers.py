"""Where in the file the settings of an agent stand: two spellings, for all agents and for one."""

from __future__ import annotations

from collections.abc import Sequence

from .merge import Layer, Merger


def child(layer: Layer, name: str, merger: Merger) -> Layer | None:
    """The group `name` of a layer, or None. Raises ConfigError when it is there and not an object."""
    return merger.below(layer, name) if name in layer.values else None


def agent_holders(root: Layer, own: Sequence[Layer], merger: Merger) -> list[Layer]:
    """The objects that hold an agent's keys: its own entries, then the defaults of all agents."""
    agents = child(root, "agents", merger)
    defaults = child(agents, "defaults", merger) if agents else None
    return [*own, defaults] if defaults else [*own]


def group_layers(holders: Sequence[Layer], name: str, merger: Merger) -> list[Layer]:
    """The group `name` of each holder that has it."""
    return [group for holder in holders if (group := child(holder, name, merger)) is not None]


def search_layers(root: Layer, holders: Sequence[Layer], merger: Merger) -> list[Layer]:
    """Everything that says something about an agent's memory search, strongest first.

    Of each holder `memorySearch`, then `memory.search`; at last the top level's `memory.search`.
    """
    layers: list[Layer] = []
    for holder in holders:
        if (documented := child(holder, "memorySearch", merger)) is not None:
            layers.append(documented)
        if (memory := child(holder, "memory", merger)) is not None:
            layers.extend(group_layers([memory], "search", merger))
            for name in memory.values:
                if name != "search":
                    merger.note(f"{memory.path}.{name} is ignored; only search can be set for an agent there")
    memory = child(root, "memory", merger)
    return layers + (group_layers([memory], "search", merger) if memory else [])
