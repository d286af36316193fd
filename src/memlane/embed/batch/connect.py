"""Which providers have batch jobs, and how they are reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..endpoint import Endpoint

if TYPE_CHECKING:
    from ...clock import Clock
    from .base import BatchProtocol, BatchService


def _openai(endpoint: Endpoint) -> BatchProtocol:
    from .openai import OpenAiBatches

    return OpenAiBatches(endpoint)


def _voyage(endpoint: Endpoint) -> BatchProtocol:
    from .voyage import VoyageBatches

    return VoyageBatches(endpoint)


def _gemini(endpoint: Endpoint) -> BatchProtocol:
    from .gemini import GeminiBatches

    return GeminiBatches(endpoint)


_PROTOCOLS: Mapping[str, Callable[[Endpoint], BatchProtocol]] = {
    "openai": _openai,
    "voyage": _voyage,
    "gemini": _gemini,
}


def has_batches(endpoint: Endpoint | None) -> bool:
    """Whether the provider at an endpoint has batch jobs, as far as its protocol tells."""
    return endpoint is not None and endpoint.kind in _PROTOCOLS


def batch_service(endpoint: Endpoint, *, clock: Clock) -> BatchService:
    """The batch jobs of an endpoint that has them. Asks nobody anything."""
    from .base import BatchService
    from .wire import HttpWire

    protocol = _PROTOCOLS[endpoint.kind](endpoint)
    return BatchService(protocol, lambda pause: HttpWire(endpoint, clock=clock, pause=pause))
