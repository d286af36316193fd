"""Reading Markdown: block structure, size in tokens, and chunks. Text in, values out."""

from __future__ import annotations

from .blocks import Block, outline
from .chunk import chunk_document
from .graphemes import is_border
from .tokens import estimate_tokens

__all__ = ["Block", "chunk_document", "estimate_tokens", "is_border", "outline"]
