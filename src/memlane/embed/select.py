"""Which provider embeds, and why that one."""

from __future__ import annotations

from ..errors import ProviderUnavailable
from ..values import Value
from .base import CheckedEmbedder
from .bundled import BundledEmbedder

_AUTO_ORDER = ("local", "openai", "gemini", "voyage", "mistral")


class Choice(Value, frozen=True):
    """The provider in use, or none, with the reasons."""

    embedder: CheckedEmbedder | None
    reasons: tuple[str, ...]
    """One line for each provider that was considered, in order."""
    failure: str = ""
    """Set when a provider is wanted but cannot be used: search goes on by keyword alone."""


def choose_provider(wanted: str) -> Choice:
    """The embedder for `memorySearch.provider`.

    `none` means none. `auto` takes the first usable one in the documented order and ends with the bundled
    model, which is always there.
    """
    if wanted == "none":
        return Choice(None, ("none: configured; keyword search only",))
    if wanted not in {"auto", "bundled"}:
        reason = f"{wanted}: not available yet in this version"
        return Choice(None, (reason,), f"the provider {reason}; keyword search only")
    passed = [f"{', '.join(_AUTO_ORDER)}: not available yet in this version"] if wanted == "auto" else []
    try:
        embedder = CheckedEmbedder(BundledEmbedder())
    except ProviderUnavailable as error:
        return Choice(None, (*passed, f"bundled: {error}"), str(error))
    how = "configured" if wanted == "bundled" else "chosen: it needs no key and no download"
    return Choice(embedder, (*passed, f"bundled: {how}"))
