"""Providers that are reached over HTTP: one client, one table of dialects, one way to be patient."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...clock import Clock
    from ..base import Embedder
    from ..endpoint import Endpoint


def remote_embedder(endpoint: Endpoint, *, clock: Clock) -> Embedder:
    """The embedder of an endpoint. Opens no connection, and loads the HTTP library with the first call."""
    from .embedder import RemoteEmbedder

    return RemoteEmbedder(endpoint, clock=clock)
