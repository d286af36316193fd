"""What an agent's index is made of, as its settings say."""

from __future__ import annotations

from ..config import AgentSettings, configured_secrets
from ..index.sources import SessionSource, Sources
from ..tombstones.ledger import Ledger, ledger_path
from ..transcripts.names import sessions_folder
from ..workspace import Workspace


def sources_of(settings: AgentSettings, workspace: Workspace) -> Sources:
    """What an agent's index is made of."""
    search = settings.memory_search
    sync = search.sync.sessions
    sessions = None
    if "sessions" in search.sources:
        sessions = SessionSource(
            sessions_folder(settings.state_dir, settings.agent_id),
            sync.delta_bytes,
            sync.delta_messages,
            lambda: configured_secrets(settings),
        )
    ledger = Ledger(ledger_path(settings.state_dir, settings.agent_id))
    return Sources(workspace, "memory" in search.sources, sessions, ledger)
