"""The form of the whole file, as far as memory reads it. Only the JSON Schema is drawn from it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from .related import Compaction, General, MemorySection, Provider, Sandbox, Slots
from .schema import MemorySearch
from .section import Name, Section


class SearchSpelling(Section, frozen=True):
    """The platform's later spelling of `memorySearch`."""

    search: Annotated[
        MemorySearch, Meta(description="Means the same as `memorySearch`, which goes before it.")
    ] = MemorySearch()


class Holder(General, frozen=True):
    """What is said of one agent or of all."""

    memory_search: Annotated[MemorySearch, Meta(description="Memory search.")] = MemorySearch()
    memory: Annotated[SearchSpelling, Meta(description="Another spelling of `memorySearch`.")] = (
        SearchSpelling()
    )
    compaction: Annotated[Compaction, Meta(description="Compaction and flush.")] = Compaction()
    sandbox: Annotated[Sandbox, Meta(description="What the agent may do to its workspace.")] = Sandbox()


class Agent(Holder, frozen=True):
    """An entry of `agents.entries`."""

    default: Annotated[bool, Meta(description="The agent that is meant when none is named.")] = False


class ListedAgent(Agent, frozen=True, kw_only=True):
    """An entry of `agents.list`."""

    id: Annotated[Name, Meta(description="Names the agent, its files and its session keys.")]


class AgentsSection(Section, frozen=True):
    """Agents and what all of them share."""

    defaults: Annotated[Holder, Meta(description="For all agents, where they do not say otherwise.")] = (
        Holder()
    )
    listed: Annotated[list[ListedAgent], Meta(description="The agents; the first is the default.")] = field(
        default_factory=list, name="list"
    )
    entries: Annotated[
        dict[str, Agent], Meta(description="The agents by id: another spelling of `list`.")
    ] = field(default_factory=dict)


class Memory(MemorySection, frozen=True):
    """The memory section with the search that belongs to all agents."""

    search: Annotated[
        MemorySearch, Meta(description="Another spelling of `agents.defaults.memorySearch`.")
    ] = MemorySearch()


class Models(Section, frozen=True):
    """Endpoints."""

    providers: Annotated[dict[str, Provider], Meta(description="Endpoints by id.")] = field(
        default_factory=dict
    )


class Plugins(Section, frozen=True):
    """Plugins of the platform."""

    slots: Annotated[Slots, Meta(description="Which plugin fills a role.")] = Slots()


class File(Section, frozen=True):
    """The configuration file."""

    agents: Annotated[AgentsSection, Meta(description="Agents.")] = AgentsSection()
    memory: Annotated[Memory, Meta(description="The backend and citations.")] = Memory()
    models: Annotated[Models, Meta(description="Endpoints.")] = Models()
    plugins: Annotated[Plugins, Meta(description="Plugins.")] = Plugins()
