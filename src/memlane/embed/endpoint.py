"""Where a remote provider is reached and what it is asked for: what configuration decides, ready for use."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from ..config.hosts import host_of
from ..values import Value


class Endpoint(Value, frozen=True):
    """One model at one address."""

    provider: str
    """The id it goes by in configuration, status and results: a built-in one or of `models.providers`."""
    kind: str
    """The built-in provider whose protocol it speaks: a row of the table of dialects."""
    base_url: str
    """Without a trailing slash; a query is kept, and may hold a key."""
    model: str
    """Without the provider's prefix."""
    key: str | None = None
    """A `Secret`: its repr shows dots. Sent to this endpoint alone."""
    key_origin: str = ""
    """Where the key comes from, in words for status; never the key."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers; they win over the provider's own of the same name."""
    dimensions: int | None = None
    """`outputDimensionality`; None takes what the model gives."""
    query_input_type: str | None = None
    document_input_type: str | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.provider!r}, {self.model!r}, {self.host!r})"  # addresses may hold keys, too

    @property
    def host(self) -> str:
        """Where it is reached, for people."""
        return host_of(self.base_url)

    def __str__(self) -> str:
        key = f"key from {self.key_origin}" if self.key_origin else "without a key"
        return f"{self.model} at {self.host}, {key}"
