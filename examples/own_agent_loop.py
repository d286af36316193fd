"""An agent with its own loop that lives with Memlane: notes at the start, a flush before context is lost.

    python examples/own_agent_loop.py

The model here follows a script, so that this runs offline. In your agent it is whatever you call today: give
`Memory.life` an object with `reply` (see `memlane.sessions.chat.ChatModel`), and keep your loop as it is.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memlane import ContextOverflow, Memory
from memlane.sessions.chat import Message, TextPiece, ToolCall, Usage
from memlane.sessions.exchange import answered
from memlane.testing import ScriptedChat


def model_answer(messages: Sequence[Message]) -> str | ToolCall:
    """Stands for a real model: notes what it is told to remember, summarises, and answers."""
    last = messages[-1]
    if "summarise conversations" in messages[0].text:
        return "The user told which colours things have."
    if "nearing compaction" in messages[0].text:
        if last.role == "tool":
            return "NO_REPLY"
        facts = [fact for message in messages for fact in re.findall(r"The \w+ is \w+\.", message.text)]
        return ToolCall("1", "memory_write", {"text": "\n".join(f"- {fact}" for fact in facts)})
    return f"Noted: {last.text[:40]}"


def main() -> None:
    """Talk until the context has been flushed and compacted."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes")
        (notes / "memory").mkdir(parents=True)
        model = ScriptedChat(model_answer, context_tokens=1_500)
        with (
            Memory.open(workspace=notes, state_dir=Path(folder, "state"), environ={}) as memory,
            memory.life(session="agent:main:main", model=model, system="You are a helpful agent.") as life,
        ):
            life.session_start()
            for number, thing in enumerate(("door", "roof", "fence", "gate", "shed", "boat", "barn", "well")):
                turn = life.before_turn(f"The {thing} is green{number}. {'Some more talk. ' * 20}")
                for notice in turn.notices:
                    print(f"  ({notice})")
                if turn.flush.done:
                    print(f"  (memory was flushed: {turn.flush.blocks} new notes)")
                messages = list(turn.messages)
                try:
                    added, usage = ask(model, messages, life.tools)
                except ContextOverflow as error:
                    added, usage = ask(model, list(life.overflowed(error).messages), life.tools)
                life.after_turn(added, usage)
                print(f"agent: {added[-1].text}")
        for log in sorted((notes / "memory").iterdir()):
            print(f"\n{log.name}\n{log.read_text('utf-8')}")


def ask(model: ScriptedChat, messages: list[Message], tools: Sequence) -> tuple[list[Message], Usage | None]:
    """The agent's own loop: ask, call tools, ask again, until there is an answer."""
    added: list[Message] = []
    usage = None
    while True:
        text, calls = "", []
        for event in model.reply([*messages, *added], tools, timeout=60):
            if isinstance(event, TextPiece):
                text += event.text
            elif isinstance(event, ToolCall):
                calls.append(event)
            else:
                usage = event
        added.append(Message("assistant", text, tuple(calls)))
        if not calls:
            return added, usage
        added += [answered(call, {tool.name: tool for tool in tools}) for call in calls]


if __name__ == "__main__":
    main()
