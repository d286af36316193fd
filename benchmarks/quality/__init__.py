"""Retrieval quality on outside data sets, through the default pipeline."""
