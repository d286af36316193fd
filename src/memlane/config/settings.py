"""The settings of one agent: merged, put into final form, checked, each value with its origin."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from .agents import Agents
from .checks import check_key_stays_home, check_search, check_store_is_file, check_store_is_own
from .final import final_qmd, final_search
from .layers import agent_holders, child, group_layers, search_layers
from .locate import Located, Surroundings, cache_folder, is_same_folder
from .merge import Layer, Merger
from .origin import DEFAULT, Origin
from .pending import note_pending
from .providers import read_providers
from .reading import Reader
from .related import Compaction, General, MemorySection, Provider, Sandbox, Slots
from .schema import MemorySearch


class AgentSettings(Struct, frozen=True):
    """Everything a room needs to know about one agent. Paths are absolute, weights sum to 1."""

    agent_id: str
    file: Path
    """The configuration file, whether or not it exists."""
    state_dir: Path
    workspace: Path
    store_path: Path
    memory_search: MemorySearch
    compaction: Compaction
    memory: MemorySection
    workspace_access: str
    """`rw`, `ro` or `none`."""
    user_timezone: str | None
    """IANA name, known to exist; None for the host's zone."""
    context_tokens: int | None
    chat_model: str | None
    """`model`: what `memlane chat` talks to, as `provider/model`."""
    providers: Mapping[str, Provider]
    """The entries of `models.providers` by id."""
    memory_plugin: str
    """What fills the platform's memory slot: `memory-core` or `none`."""
    enabled: bool
    disabled_reason: str
    """Empty when enabled."""
    origins: Mapping[str, Origin]
    """By resolved key. What is absent has its built-in default; see `origin`."""
    surroundings: Surroundings
    """What the process was started with: keys may be in its environment."""
    warnings: tuple[str, ...] = ()

    def origin(self, key: str) -> Origin:
        """Where the value of a key, such as `memorySearch.query.minScore`, came from."""
        return self.origins.get(key, DEFAULT)


class Source(Struct, frozen=True):
    """What the settings of any agent are made from."""

    reader: Reader
    root: Layer
    """The whole file."""
    agents: Agents
    file: Located
    state_dir: Located
    workspace: Located | None
    """The one asked for outside the file."""
    changes: Layer | None = None
    """What is said of `memorySearch` outside the file; it wins."""


def resolve_agent(source: Source, agent_id: str) -> AgentSettings:
    """The settings of one configured agent. Raises ConfigError."""
    merger = Merger(source.reader)
    holders = agent_holders(source.root, source.agents.entries[agent_id], merger)
    general = merger.merge(General, holders)
    sandbox = merger.merge(Sandbox, group_layers(holders, "sandbox", merger), "sandbox")
    compaction = merger.merge(Compaction, group_layers(holders, "compaction", merger), "compaction")
    changes = [source.changes] if source.changes else []
    found = changes + search_layers(source.root, holders, merger)
    search = merger.merge(MemorySearch, found, "memorySearch")
    memory = merger.merge(MemorySection, _memory_layers(source.root, merger), "memory")
    plugin = merger.merge(Slots, _slot_layers(source.root, merger), "plugins.slots").memory
    providers = read_providers(child(source.root, "models", merger), search, merger)

    workspace, is_foreign = _workspace(source, general.workspace, merger)
    store_path = _store_path(source, agent_id, search.store.path, workspace if is_foreign else None)
    cache = cache_folder(source.reader.surroundings, sys.platform)
    search = final_search(search, workspace=workspace, store_path=store_path, cache=cache, merger=merger)
    memory = final_qmd(memory, workspace)
    reason = _disabled_reason(plugin, search, merger)
    check_search(search, providers, merger)
    check_key_stays_home(search, found, merger)
    check_store_is_file(store_path, merger)
    check_store_is_own(agent_id, source.agents, source.root, merger)
    note_pending(search, memory, merger, only_errors=bool(reason))
    origins = {"config": source.file[1], "stateDir": source.state_dir[1], **merger.origins}
    if entries := source.agents.entries[agent_id]:
        origins["agent"] = Origin("agent", entries[0].path, str(source.file[0]))
    return AgentSettings(
        agent_id=agent_id,
        file=source.file[0],
        state_dir=source.state_dir[0],
        workspace=workspace,
        store_path=store_path,
        memory_search=search,
        compaction=compaction,
        memory=memory,
        workspace_access=sandbox.workspace_access,
        user_timezone=general.user_timezone,
        context_tokens=general.context_tokens,
        chat_model=general.model,
        providers=providers,
        memory_plugin=plugin,
        enabled=not reason,
        disabled_reason=reason,
        origins=origins,
        surroundings=source.reader.surroundings,
        warnings=tuple(dict.fromkeys(merger.warnings)),
    )


def _memory_layers(root: Layer, merger: Merger) -> list[Layer]:
    """The `memory` section without `search`, which is another spelling of `memorySearch`."""
    memory = child(root, "memory", merger)
    if memory is None:
        return []
    return [Layer("memory", {name: value for name, value in memory.values.items() if name != "search"})]


def _slot_layers(root: Layer, merger: Merger) -> list[Layer]:
    plugins = child(root, "plugins", merger)
    slots = child(plugins, "slots", merger) if plugins else None
    return [slots] if slots else []


def _workspace(source: Source, configured: str | None, merger: Merger) -> tuple[Path, bool]:
    """The folder of the notes, and whether it is another one than the agent's own."""
    own = Path(configured) if configured else source.state_dir[0] / "workspace"
    if source.workspace is None:
        return own, False
    path, merger.origins["workspace"] = source.workspace
    return path, not is_same_folder(path, own)


def _store_path(source: Source, agent_id: str, template: str | None, foreign: Path | None) -> Path:
    """The index file. A foreign workspace has its own, so that two workspaces never overwrite each other."""
    template = template or str(source.state_dir[0] / "memory" / "{agentId}.sqlite")
    if foreign is None:
        return Path(template.replace("{agentId}", agent_id))
    from hashlib import sha256

    mark = sha256(os.fsencode(os.path.realpath(foreign))).hexdigest()[:8]
    if "{agentId}" in template:
        return Path(template.replace("{agentId}", f"{agent_id}-{mark}"))
    path = Path(template)
    return path.parent / f"{path.stem}-{mark}{path.suffix}"


def _disabled_reason(plugin: str, search: MemorySearch, merger: Merger) -> str:
    if plugin == "none":
        return f'plugins.slots.memory is "none" in {merger.reader.file}'
    if search.enabled:
        return ""
    place = merger.origins["memorySearch.enabled"].place
    return f"{place} is false in {merger.reader.file}"
