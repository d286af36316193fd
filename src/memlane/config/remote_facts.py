"""What is known of each remote provider before anything is configured: addresses, models, names of keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class RemoteFacts(NamedTuple):
    """One kind of remote provider."""

    base_url: str | None
    """The provider's own address; None where there is none and `remote.baseUrl` must say."""
    model: str | None
    """The usual embedding model; None where `model` must say."""
    entry: str
    """The name of its entry in `models.providers`, of its auth profiles, and a prefix of its model ids."""
    key_variables: tuple[str, ...] = ()
    """Environment variables that hold its key, the first one set counts."""
    needs_key: bool = True
    dimensions: tuple[int, int] | None = None
    """The least and the most that `outputDimensionality` may be; None where the service decides."""

    def takes_dimensions(self, count: int | None) -> bool:
        """Whether `outputDimensionality` may be `count`."""
        if self.dimensions is None or count is None:
            return True
        least, most = self.dimensions
        return least <= count <= most


REMOTE_FACTS: Mapping[str, RemoteFacts] = {
    "openai": RemoteFacts(
        "https://api.openai.com/v1", "text-embedding-3-small", "openai", ("OPENAI_API_KEY",)
    ),
    "gemini": RemoteFacts(
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-embedding-001",
        "google",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        dimensions=(128, 3072),
    ),
    "voyage": RemoteFacts("https://api.voyageai.com/v1", "voyage-4-large", "voyage", ("VOYAGE_API_KEY",)),
    "mistral": RemoteFacts("https://api.mistral.ai/v1", "mistral-embed", "mistral", ("MISTRAL_API_KEY",)),
    "ollama": RemoteFacts(
        "http://127.0.0.1:11434", "nomic-embed-text", "ollama", ("OLLAMA_API_KEY",), needs_key=False
    ),
    "openai-compatible": RemoteFacts(None, None, "openai-compatible", needs_key=False),
}
"""By the name of the provider, which is also that of the protocol."""
