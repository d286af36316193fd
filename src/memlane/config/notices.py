"""What a user should know of the settings in force, though nothing is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kinds import without_credentials
from .providers import entry_name

if TYPE_CHECKING:
    from .settings import AgentSettings

_PLURALS = {"image": "images", "audio": "audio files"}


def notices(settings: AgentSettings) -> tuple[str, ...]:
    """One sentence for each thing worth knowing: what leaves the machine besides the text of notes."""
    search = settings.memory_search
    if not search.multimodal.enabled:
        return ()
    names = (search.provider, entry_name(search.provider))
    entries = [settings.providers[name].base_url for name in names if name in settings.providers]
    address = next(filter(None, (search.remote.base_url, *entries)), None)
    where = without_credentials(address) if address else "Google"
    kinds = " and ".join(_PLURALS[kind] for kind in search.multimodal.modalities if kind in _PLURALS)
    return (
        f"multimodal is enabled: the {kinds} under the extra paths are uploaded to {where}, whole and with"
        " their paths",
    )
