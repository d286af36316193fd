"""What is compared: named settings of `memorySearch`, each a few `key=value`. A new ablation is one line."""

from __future__ import annotations

import json
from typing import Any, get_args, get_type_hints

from memlane.config.querying import Hybrid
from memlane.evaluate.variants import section_from

Changes = tuple[str, ...]

CONFIGURATIONS: dict[str, Changes] = {
    "default": (),
    "keyword": ("provider=none",),
    "vector": ("query.hybrid.enabled=false",),
    **{
        f"fusion {name}": (f"query.hybrid.fusion={name}",)
        for name in get_args(get_type_hints(Hybrid)["fusion"])
        if name != Hybrid().fusion
    },
    "mmr": ("query.hybrid.mmr.enabled=true",),
    "decay": ("query.hybrid.temporalDecay.enabled=true",),
    "no threshold": ("query.minScore=0",),
    "keyword, no threshold": ("provider=none", "query.minScore=0"),
    "rerank on": ("query.rerank.enabled=true",),
    "rerank off": ("query.rerank.enabled=false",),
}
"""A configuration whose keys this version does not know is passed over."""

USUAL = ("default", "keyword", "vector")

MODELS: dict[str, Changes] = {
    "auto": (),
    "static": ("provider=bundled", "model=static"),
    "e5": ("provider=bundled", "model=multilingual-e5-small"),
}
"""Embedding models by short name. Any other is given as `provider/model`."""


def model_changes(name: str) -> Changes:
    """The settings that choose an embedding model. Raises SystemExit for a name of no known form."""
    if name in MODELS:
        return MODELS[name]
    provider, slash, model = name.partition("/")
    if not slash or not provider or not model:
        raise SystemExit(f"there is no model {name!r}; known are {', '.join(MODELS)}, or give provider/model")
    return (f"provider={provider}", f"model={json.dumps(model)}")


def section(model: str, configuration: str) -> dict[str, Any]:
    """The `memorySearch` section of a configuration with a model. A provider it names itself wins."""
    own = CONFIGURATIONS[configuration]
    if any(change.startswith("provider=") for change in own):
        return section_from(own)
    return section_from((*model_changes(model), *own))


def index_key(settings: dict[str, Any]) -> str:
    """The same for all sections that one index serves: they differ in `query` alone."""
    return json.dumps({name: value for name, value in settings.items() if name != "query"}, sort_keys=True)


def described(settings: dict[str, Any]) -> str:
    """A section in one line."""
    return json.dumps(settings, ensure_ascii=False) if settings else "every setting at its default"
