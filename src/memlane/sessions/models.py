"""Which chat model is meant, and making it: a configured one, an endpoint, one of the agent library's.

    provider/model                an entry of `models.providers`, else one of the library's providers
    provider:model                one of the library's
    name, with a base URL         any OpenAI-compatible endpoint
    module:name                   an object in Python, or a function that gives one

A key goes to the server that it was given for and to no other: with a base URL it is the one in the variable
that is named for it, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..config import AgentSettings
from ..config.keys import UnusableKey, read_key
from ..config.kinds import Secret
from ..config.secrets import configured_secrets
from ..errors import ChatError, UsageError
from ..transcripts.sanitize import Sanitizer
from ..values import Value
from .chat import ChatModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from ..config.related import Provider
    from .agent_library import StopSign

_OPENAI_INTERFACES = frozenset({None, "openai", "openai-compatible", "openai-completions", "ollama"})
"""Values of a provider's `api` for which the chat completions of OpenAI are spoken."""
_LIBRARY_INTERFACES = {
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
    "google-generative-ai": "google",
    "gemini": "google",
    "mistral": "mistral",
}
"""Values of `api`, and the library's provider that speaks it."""
_SPELLINGS = {"google-gla": "google", "gemini": "google"}
"""Names of providers that the library has under another."""
_OLLAMA = "http://127.0.0.1:11434/v1"
_NO_KEY = "none"
"""Sent where there is no key: the client would look for one of another server otherwise."""
_INSTALL = "pip install 'memlane[chat]'"


class ModelChoice(Value, frozen=True):
    """A chat model that is meant."""

    model: str
    provider: str = ""
    """One of the library's; empty for an OpenAI-compatible endpoint."""
    base_url: str | None = None
    key: Secret | None = None
    headers: Mapping[str, str] = {}
    context_tokens: int | None = None

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.provider}:{self.model}" if self.provider else self.model


def choose(
    settings: AgentSettings,
    *,
    model: str | None = None,
    base_url: str | None = None,
    key_variable: str | None = None,
) -> ModelChoice:
    """The model that is meant; what is not given is as configured. Raises UsageError."""
    key = _named_key(key_variable, settings.surroundings.environ) if key_variable else None
    named = (model or settings.chat_model or "").strip()
    if not named:
        raise UsageError(
            "no chat model is named",
            hint='--model provider/model, or "model" under agents.defaults in the configuration',
        )
    if base_url is not None:
        return ModelChoice(named, base_url=_checked(base_url), key=key)
    provider, _, rest = named.partition("/")
    if rest and provider in settings.providers:
        return _configured(provider, rest, settings, key)
    if rest and ":" not in provider:
        if provider == "ollama":
            return ModelChoice(rest, base_url=_OLLAMA, key=key)
        return ModelChoice(rest, provider=_SPELLINGS.get(provider, provider), key=key)
    provider, _, rest = named.partition(":")
    if rest:
        return ModelChoice(rest, provider=_SPELLINGS.get(provider, provider), key=key)
    raise UsageError(
        f"it is not known where the model {named!r} is to be had",
        hint="write provider/model, or name the address of its server: --base-url http://localhost:8080/v1",
    )


def make(
    choice: ModelChoice, settings: AgentSettings, *, stop: StopSign | None = None
) -> tuple[ChatModel, Callable[[], None]]:
    """The chosen model, and what lets go of it. Raises ChatError where it cannot be used, UsageError."""
    if choice.provider and not is_of_library(choice.provider):
        from .python_model import imported

        return imported(f"{choice.provider}:{choice.model}"), lambda: None
    secrets = [*configured_secrets(settings), *([choice.key] if choice.key else [])]
    try:
        from .agent_library import LibraryChat

        library = _of_library(choice) if choice.provider else _endpoint(choice)
    except ImportError as error:
        raise ChatError(
            f"{choice.name} needs a package that is not installed: {Sanitizer(secrets)(str(error))}",
            hint=_INSTALL if not choice.provider else f"{_INSTALL} 'pydantic-ai-slim[{choice.provider}]'",
        ) from error
    chat = LibraryChat(
        choice.name,
        library,
        context_tokens=choice.context_tokens,
        stop=stop,
        masked=Sanitizer(secrets),
    )
    return chat, chat.close


def is_of_library(provider: str) -> bool:
    """Whether the agent library has a provider of this name. False where the library is not installed."""
    try:
        from pydantic_ai.providers import infer_provider_class

        infer_provider_class(provider)
    except ValueError:
        return False
    except ImportError:
        from importlib.util import find_spec

        return find_spec("pydantic_ai") is not None  # known, and its own package is missing
    return True


def _configured(provider: str, model: str, settings: AgentSettings, key: Secret | None) -> ModelChoice:
    """A model of an entry of `models.providers`."""
    entry = settings.providers[provider]
    place = f"models.providers.{provider}"
    if key is None and entry.api_key:
        try:
            key = read_key(entry.api_key, f"{place}.apiKey", settings.surroundings.environ, None).value
        except UnusableKey as error:
            raise UsageError(str(error), hint=error.hint) from error
    headers = {name: str(value) for name, value in entry.headers.items()}
    window = _window(entry, model)
    base_url = str(entry.base_url) if entry.base_url else None
    if base_url and entry.api in _OPENAI_INTERFACES:
        if entry.api == "ollama" and not base_url.rstrip("/").endswith("/v1"):
            base_url = f"{base_url.rstrip('/')}/v1"
        return ModelChoice(model, base_url=base_url, key=key, headers=headers, context_tokens=window)
    if entry.api is not None and entry.api not in _OPENAI_INTERFACES | set(_LIBRARY_INTERFACES):
        raise UsageError(
            f'{place}.api is "{entry.api}", which cannot be spoken here',
            hint=f"there are: {', '.join([*sorted(filter(None, _OPENAI_INTERFACES)), *_LIBRARY_INTERFACES])}",
        )
    spoken = _LIBRARY_INTERFACES.get(entry.api or "", _SPELLINGS.get(provider, provider))
    return ModelChoice(model, provider=spoken, base_url=base_url, key=key, context_tokens=window)


def _window(entry: Provider, model: str) -> int | None:
    found = next((one for one in entry.models if one.id == model), None)
    return (found.context_tokens or found.context_window) if found else None


def _named_key(variable: str, environ: Mapping[str, str]) -> Secret:
    value = environ.get(variable, "").strip()
    if not value:
        raise UsageError(f"the environment variable {variable} is not set, or empty", hint=f"set {variable}")
    if not all("!" <= sign <= "~" for sign in value):
        raise UsageError(f"{variable} holds blanks or characters that no key has", hint="copy the key again")
    return Secret(value)


def _checked(base_url: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(base_url.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            "--base-url is no address that starts with http:// or https://",
            hint="such as http://localhost:8080/v1",
        )
    return base_url.strip()


def _endpoint(choice: ModelChoice) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        base_url=choice.base_url, api_key=str(choice.key or _NO_KEY), default_headers=dict(choice.headers)
    )
    # An answer that was cut on its way would pass for a whole one otherwise.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(choice.model, provider=OpenAIProvider(openai_client=client), profile=profile)


def _of_library(choice: ModelChoice) -> Model:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    given: dict[str, Any] = {}
    if choice.key:
        given["api_key"] = str(choice.key)
    if choice.base_url:
        given["base_url"] = choice.base_url
        given.setdefault("api_key", _NO_KEY)
    try:
        return infer_model(
            f"{choice.provider}:{choice.model}", lambda name: infer_provider_class(name)(**given)
        )
    except UserError as error:
        raise ChatError(f"{choice.name} cannot be used: {error}") from error
    except TypeError as error:
        raise UsageError(
            f"{choice.provider} takes no key or address of this kind: {error}",
            hint="leave --api-key-env and baseUrl out",
        ) from error
