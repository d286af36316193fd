"""The configuration: every key with default and reason; found, merged, checked, each value with its origin.

`load_config` reads one file; `Configuration.agent` gives the settings of one of its agents; `describe` lists
every resolved key with value and origin; `json_schema` is for editors.
"""

from __future__ import annotations

from .describe import describe, json_schema
from .kinds import Secret, parse_duration, parse_size
from .load import Configuration, load_config
from .notices import notices
from .origin import Origin
from .providers import bundled_model, provider_kind
from .related import Compaction, MemoryFlush, MemorySection, Provider, Qmd, Scope
from .schema import ExtraPath, MemorySearch
from .secrets import configured_secrets
from .settings import AgentSettings

__all__ = [
    "AgentSettings",
    "Compaction",
    "Configuration",
    "ExtraPath",
    "MemoryFlush",
    "MemorySearch",
    "MemorySection",
    "Origin",
    "Provider",
    "Qmd",
    "Scope",
    "Secret",
    "bundled_model",
    "configured_secrets",
    "describe",
    "json_schema",
    "load_config",
    "notices",
    "parse_duration",
    "parse_size",
    "provider_kind",
]
