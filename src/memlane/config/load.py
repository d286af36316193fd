"""Finds and reads the configuration. The only place, with the surfaces, that knows of the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import ConfigError
from .agents import read_agents
from .document import read_document
from .layers import child
from .locate import Surroundings, default_file, locate_file, locate_state_dir, locate_workspace
from .merge import Layer, Merger
from .origin import Origin
from .reading import Reader
from .schema import MemorySearch
from .settings import AgentSettings, Source, resolve_agent


class Configuration(Struct, frozen=True):
    """One configuration file, read and ready to give the settings of its agents."""

    file: Path
    exists: bool
    state_dir: Path
    agent_ids: tuple[str, ...]
    """In the order of the file; `("main",)` when it lists none."""
    default_agent: str
    warnings: tuple[str, ...]
    """About the file as a whole; part of each agent's warnings too."""
    source: Source
    """What the settings of the agents are made from."""

    def __repr__(self) -> str:
        return f"Configuration({str(self.file)!r})"  # the file holds secrets

    def agent(self, agent_id: str | None = None) -> AgentSettings:
        """The settings of an agent, the default one for None.

        Raises UsageError naming the known agents for an unknown id, ConfigError for settings that cannot be.
        """
        settings = resolve_agent(self.source, self.source.agents.known(agent_id))
        warnings = dict.fromkeys((*self.warnings, *settings.warnings))
        return replace(settings, warnings=tuple(warnings))


def load_config(
    *,
    environ: Mapping[str, str],
    home: Path,
    config_file: Path | None = None,
    state_dir: Path | None = None,
    workspace: Path | None = None,
    memory_search: Mapping[str, Any] | None = None,
) -> Configuration:
    """Find and read the configuration; without a file at the default location there are defaults throughout.

    `config_file`, `state_dir` and `workspace` are what the flags say. Relative paths from flags and variables
    start at the working directory, those in the file at the file's folder, extra paths at the workspace.
    `memory_search` is a section that wins over what the file says of any agent, key by key.
    Raises ConfigError for a file that cannot be used, or that a flag or variable names and that is missing,
    and UsageError for flags that cannot be meant.
    """
    surroundings = Surroundings(environ, home)
    located_state = locate_state_dir(state_dir, surroundings)
    located_file = locate_file(config_file, surroundings, located_state[0])
    file, origin = located_file
    document = read_document(file)
    if document is None and origin.kind != "default":
        raise _missing(file, origin, located_state[0])
    merger = Merger(Reader(file, surroundings))
    root = Layer("", document or {})
    _check_places(root, merger)
    agents = read_agents(child(root, "agents", merger) or Layer("agents", {}), merger)
    return Configuration(
        file=file,
        exists=document is not None,
        state_dir=located_state[0],
        agent_ids=tuple(agents.entries),
        default_agent=agents.default,
        warnings=tuple(merger.warnings),
        source=Source(
            reader=merger.reader,
            root=root,
            agents=agents,
            file=located_file,
            state_dir=located_state,
            workspace=locate_workspace(workspace, surroundings),
            changes=_checked_changes(memory_search, surroundings) if memory_search else None,
        ),
    )


def _missing(file: Path, origin: Origin, state_dir: Path) -> ConfigError:
    """The error for a file that somebody asked for: settings from elsewhere would pass for the ones meant."""
    without = "leave it out" if origin.kind == "flag" else "unset it"
    return ConfigError(
        f"{file}: there is no such file, though {origin.place} names it",
        hint=f"correct {origin.place}, or {without} to have {default_file(state_dir)} or built-in defaults",
    )


def _checked_changes(values: Mapping[str, Any], surroundings: Surroundings) -> Layer:
    """The section given outside the file, once it can be read. Raises ConfigError, for unknown keys too."""
    changes = Layer("memorySearch", values, "flag")
    alone = Merger(Reader(Path("settings given with the call"), surroundings))
    alone.merge(MemorySearch, [changes], "memorySearch")
    if alone.warnings:
        raise ConfigError(alone.warnings[0].replace("is not known and ignored", "is not known"))
    return changes


def _check_places(root: Layer, merger: Merger) -> None:
    """Settings that stand where they have no effect must not be passed over in silence."""
    agents = root.values.get("agents")
    for place, holder in (("memorySearch", root.values), ("agents.memorySearch", agents)):
        if isinstance(holder, dict) and "memorySearch" in holder:
            raise ConfigError(
                f"{merger.reader.file}: {place} has no effect there; move it to agents.defaults.memorySearch",
                hint="or, for one agent only, to the memorySearch of its entry in agents.list",
            )
    if "$include" in root.values or (isinstance(agents, dict) and "$include" in agents):
        merger.note("$include is not followed; memory's settings must stand in the file itself")
