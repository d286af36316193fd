"""Memlane: memory for AI agents. Plain Markdown is the truth; everything else is derived from it."""

__version__ = "0.1.0"
