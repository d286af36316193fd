"""Where the built-in index is kept and how it is made."""

from __future__ import annotations

from pathlib import Path

from msgspec import field

from ..config import AgentSettings, notices
from ..embed.batch.settings import BatchSettings
from ..index.sync import Chunking
from ..values import Value


class IndexSettings(Value, frozen=True):
    """Where the index is kept and how it is made."""

    agent: str
    store_path: Path
    vector_extension: bool = True
    extension_path: Path | None = None
    chunking: Chunking = field(default_factory=Chunking)
    cache_enabled: bool = True
    cache_entries: int = 50_000
    batch: BatchSettings = field(default_factory=BatchSettings)
    cache_bytes: int = 1_000_000_000
    price_per_million_tokens: float | None = None
    notices: tuple[str, ...] = ()
    """What a status tells of the settings."""

    @classmethod
    def of(cls, settings: AgentSettings) -> IndexSettings:
        """As an agent's settings say."""
        search = settings.memory_search
        extension = search.store.vector.extension_path
        return cls(
            agent=settings.agent_id,
            store_path=settings.store_path,
            vector_extension=search.store.vector.enabled,
            extension_path=Path(extension) if extension else None,
            chunking=Chunking(search.chunking.tokens, search.chunking.overlap),
            cache_enabled=search.cache.enabled,
            cache_entries=search.cache.max_entries,
            notices=notices(settings),
            batch=BatchSettings.of(search.remote.batch),
            cache_bytes=search.cache.max_bytes,
            price_per_million_tokens=search.remote.price_per_million_tokens,
        )

    @property
    def cache_path(self) -> Path:
        """The embedding cache."""
        return self._beside("embeddings.sqlite")

    @property
    def displaced_path(self) -> Path:
        """The index where another program's file stands at its path."""
        return self._beside("memlane.sqlite")

    @property
    def jobs_path(self) -> Path:
        """The folder of the batch jobs."""
        return self._beside("batches")

    @property
    def databases(self) -> tuple[Path, ...]:
        """The files that may hold what is derived from notes."""
        return self.store_path, self.cache_path, self.displaced_path

    def _beside(self, ending: str) -> Path:
        return self.store_path.with_name(f"{self.store_path.stem}.{ending}")
