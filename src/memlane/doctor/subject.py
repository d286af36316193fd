"""What the checks look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ..backends.settings import IndexSettings
from ..clock import Clock
from ..config import AgentSettings
from ..embed.select import Choice
from ..rerank.base import Reranker
from ..values import SyncReport, TreeScan, Value
from ..workspace import Workspace, scan_tree


class Subject(Value, frozen=True):
    """One agent's memory, before it is opened."""

    settings: AgentSettings
    workspace: Workspace
    choose: Callable[[], Choice]
    """Picks the embedding provider."""
    sync: Callable[[], SyncReport]
    """Checks the index, builds it again where it is damaged, and brings it up to date."""
    clock: Clock
    choose_reranker: Callable[[], Reranker] | None = None
    """Gives the reranking model, where there is one."""
    seconds: float = 20.0
    """How long one check may take."""

    @property
    def index(self) -> IndexSettings:
        """Where the index is kept: beside a file of another program when one stands at its path."""
        from ..index.database import is_foreign

        configured = IndexSettings.of(self.settings)
        if not is_foreign(configured.store_path):
            return configured
        return replace(configured, store_path=configured.displaced_path)

    @property
    def cache_path(self) -> Path:
        """Where the embedding cache is kept; it never moves beside another program's file."""
        return IndexSettings.of(self.settings).cache_path

    def own_files(self) -> list[Path]:
        """The files that Memlane has made for this agent, those set aside included."""
        folder = self.index.store_path.parent
        names = {self.index.store_path.name, self.cache_path.name}
        try:
            found = sorted(folder.iterdir())
        except OSError:
            return []
        return [path for path in found if any(_is_companion(path.name, name) for name in names)]

    def scan(self) -> TreeScan:
        """The notes. Raises WorkspaceError when the workspace is not there."""
        return scan_tree(self.workspace)


def _is_companion(name: str, database: str) -> bool:
    endings = ("-wal", "-shm", ".lock")
    return name == database or (
        name.startswith(database)
        and (name[len(database) :] in endings or name.startswith(f"{database}.corrupt-"))
    )
