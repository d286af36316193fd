"""Embeddings: the provider protocol, the check every vector passes, the providers, and the cache."""
