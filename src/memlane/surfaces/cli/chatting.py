"""`memlane chat`."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from ...errors import UsageError
from ...memory import Memory
from .model_options import ModelOptions, model_options
from .options import Place, memory_options, wants_colour


@click.command("chat")
@click.argument("message", required=False)
@click.option(
    "--session", help="Session key, or what follows agent:ID: in it; the main session unless given."
)
@click.option("--resume", is_flag=True, help="Go on with the session that was used last.")
@click.option("--new", "anew", is_flag=True, help="Begin a new conversation under the session's key.")
@memory_options
@model_options
def chat_command(
    place: Place,
    chosen: ModelOptions,
    message: str | None,
    session: str | None,
    resume: bool,
    anew: bool,
) -> int:
    """Talk with a chat model that has this memory.

    MESSAGE is answered once; `-` reads it from standard input, whole. Without one there is a prompt, where
    /help tells the commands; where standard input is no terminal, every line of it is a message. With --json
    every event is one JSON document on a line of its own.
    """
    from ...sessions.agent import SYSTEM, Agent
    from ...sessions.agent_library import StopSign
    from ..talk import JsonVoice, PlainVoice
    from ..talking import Talk, piped_lines, typed_lines

    if session and resume:
        raise UsageError("--session and --resume name two sessions", hint="leave one of them out")
    stop = StopSign()
    voice = JsonVoice() if place.as_json else PlainVoice(colour=wants_colour())
    with place.open(background=True) as memory, ExitStack() as held:
        key = _last(memory) if resume else _key(memory, session)
        life, model = chosen.live(memory, key, held, system=SYSTEM, stop=stop)
        agent = Agent(life, model, clock=memory.clock, stopped=lambda: stop.is_set)
        talk = Talk(memory, agent, voice, stop, model=model.name)
        talk.begin(anew=anew)
        if message is not None:
            lines = iter(["".join(piped_lines()) if message == "-" else message])
        elif sys.stdin.isatty():
            lines = typed_lines("" if place.as_json else "> ", voice.say)
        else:
            lines = piped_lines()
        for line in lines:
            if not talk.take(line):
                break
    return 1 if talk.failed and (message is not None or not sys.stdin.isatty()) else 0


def _key(memory: Memory, session: str | None) -> str:
    rest = (session or "main").strip()
    return rest if rest.startswith("agent:") else f"agent:{memory.agent}:{rest}"


def _last(memory: Memory) -> str:
    """The key of the session that was used last. Raises UsageError where there is none."""
    found = next(
        (info.key for info in memory.sessions() if info.key and not info.archive and not info.housekeeping),
        None,
    )
    if found is None:
        raise UsageError("there is no session to go on with", hint="leave --resume out to begin one")
    return found
