"""The options that say which chat model is meant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...memory import Memory
from ...values import Value

if TYPE_CHECKING:
    from ...sessions.agent_library import StopSign
    from ...sessions.chat import ChatModel
    from ...sessions.life import Life

_Command = TypeVar("_Command", bound=Callable[..., Any])


class ModelOptions(Value, frozen=True):
    """Which chat model is meant, as far as the command line says."""

    model: str | None
    base_url: str | None
    key_variable: str | None
    context_tokens: int | None

    def live(
        self, memory: Memory, session: str, held: ExitStack, *, system: str = "", stop: StopSign | None = None
    ) -> tuple[Life, ChatModel]:
        """The life of a session with the model, and the model; `held` lets go of both.

        Raises UsageError, ChatError where the model cannot be used, SessionError.
        """
        from ...sessions.models import choose, make

        def named(name: str | None) -> ChatModel:
            choice = choose(
                memory.settings, model=name, base_url=self.base_url, key_variable=self.key_variable
            )
            model, let_go = make(choice, memory.settings, stop=stop)
            held.callback(let_go)
            return model

        model = named(self.model)
        life = memory.life(
            session=session,
            model=model,
            model_named=named,
            system=system,
            context_tokens=self.context_tokens,
        )
        held.callback(life.close)
        return life, model


def model_options(command: _Command) -> _Command:
    """Add the options that say which chat model is meant, and pass them on as one `ModelOptions`."""

    @click.option(
        "--model",
        "named",
        help="The chat model: provider/model, the name of one at --base-url, or MODULE:NAME of one in "
        "Python; the configured one unless given.",
    )
    @click.option(
        "--base-url", help="Address of an OpenAI-compatible server, such as http://localhost:8080/v1."
    )
    @click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the key for it.")
    @click.option(
        "--context-tokens", type=click.IntRange(min=256), help="Size of the model's context, in tokens."
    )
    @wraps(command)
    def with_model(
        *arguments: object,
        named: str | None,
        base_url: str | None,
        api_key_env: str | None,
        context_tokens: int | None,
        **options: object,
    ) -> object:
        chosen = ModelOptions(named, base_url, api_key_env, context_tokens)
        return command(*arguments, chosen, **options)

    return with_model  # type: ignore[return-value]  # wraps() keeps the name, not the signature
