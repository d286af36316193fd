"""Reading Markdown: block structure, size in tokens, and chunks. Text in, values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .blocks import Block, outline
    from .chunk import chunk_document
    from .graphemes import is_border
    from .tokens import estimate_tokens

__all__ = ["Block", "chunk_document", "estimate_tokens", "is_border", "outline"]

_HOMES = {
    "Block": "blocks",
    "chunk_document": "chunk",
    "estimate_tokens": "tokens",
    "is_border": "graphemes",
    "outline": "blocks",
}


def __getattr__(name: str) -> object:
    """A public name, its module imported at first use: a search needs none but `is_border`."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
