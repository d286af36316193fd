"""Reranking models: a query and a passage read together, which tells more than comparing two vectors."""
