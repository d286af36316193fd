"""How much each model takes at once, as its provider documents it (read on 2026-12-01).

A limit that is not known is a careful guess: too small costs a few requests, too large a few refusals.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Limits(NamedTuple):
    """What one request may hold, in tokens and inputs."""

    input_tokens: int
    items: int
    request_tokens: int


_UNKNOWN = Limits(512, 128, 16_000)
"""Small encoders take 512 tokens; a server of one's own embeds on one machine."""
_PREFERRED_ITEMS = 256
"""A request of more saves nothing: its answer has tens of megabytes, and all of it is lost when it fails."""

_ROWS: tuple[tuple[str, str, Limits], ...] = (
    ("openai", r"", Limits(8192, 2048, 300_000)),
    ("openai-compatible", r"text-embedding-(3|ada)", Limits(8192, 2048, 300_000)),
    ("openai-compatible", r"bge-m3|qwen3-embed|nomic-embed|jina-embeddings", Limits(2048, 128, 16_000)),
    ("mistral", r"", Limits(8192, 256, 16_000)),
    ("voyage", r"voyage-(4|3\.5)-lite", Limits(32_000, 1000, 1_000_000)),
    ("voyage", r"voyage-(4|3\.5)$", Limits(32_000, 1000, 320_000)),
    ("voyage", r"voyage-(2|law-2|code-2)$", Limits(16_000, 1000, 120_000)),
    ("voyage", r"", Limits(32_000, 1000, 120_000)),
    ("gemini", r"gemini-embedding-2", Limits(8192, 100, 100_000)),
    ("gemini", r"", Limits(2048, 100, 100_000)),
    ("ollama", r"nomic|qwen3|bge-m3|embeddinggemma|arctic", Limits(2048, 128, 32_000)),
)
"""Kind of provider, what its model's name contains, limits. The first row that fits counts."""


def limits_of(kind: str, model: str) -> Limits:
    """The limits of a model."""
    name = model.lower()
    fits = (limits for row_kind, row, limits in _ROWS if row_kind == kind and re.search(row, name))
    limits = next(fits, _UNKNOWN)
    return limits._replace(items=min(limits.items, _PREFERRED_ITEMS))
