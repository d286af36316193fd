"""How a conversation looks: on a terminal, in a pipe, and as lines of JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Protocol

import click

from ..sessions.agent import Answer, Heard, Notice
from ..sessions.chat import TextPiece, ToolCall
from .render import with_visible_controls

_LONGEST_CALL = 100
_ENDS = {
    "stopped": "stopped",
    "requests": "stopped after too many requests of this turn",
    "calls": "stopped after too many tool calls",
    "characters": "stopped: the answer had no end",
    "time": "stopped: the turn took too long",
}


class Voice(Protocol):
    """Where a conversation is heard."""

    def hear(self, heard: Heard) -> None:
        """Show what comes, as it comes."""
        ...

    def answered(self, answer: Answer, *, tokens: int, window: int) -> None:
        """A turn is over; the context holds so many tokens of so many."""
        ...

    def say(self, text: str) -> None:
        """Show what a command answers."""
        ...


class PlainVoice:
    """Answers on standard output, all else on standard error, or dimmed between the answers of a terminal."""

    def __init__(self, *, colour: bool) -> None:
        self._terminal = sys.stdout.isatty()
        self._colour = colour
        self._open = False
        """Whether the line that was written last has not ended."""

    def hear(self, heard: Heard) -> None:
        """Show a piece of the answer, a tool call or a notice."""
        if isinstance(heard, TextPiece):
            self._write(heard.text)
        elif isinstance(heard, ToolCall):
            self.aside(_call(heard))
        else:
            self.aside(heard.text)

    def answered(self, answer: Answer, *, tokens: int, window: int) -> None:  # noqa: ARG002 - see `Voice`
        """End the answer's line, and tell how it ended where that is not well."""
        self._end_line()
        if answer.failure:
            self.aside(answer.failure)
            if answer.hint:
                self.aside(f"  {answer.hint}")
        elif answer.ended in _ENDS:
            self.aside(_ENDS[answer.ended])

    def say(self, text: str) -> None:
        """Show what a command answers."""
        self._end_line()
        self._write(text.rstrip("\n") + "\n")

    def aside(self, text: str) -> None:
        """Say something that is not part of an answer."""
        self._end_line()
        shown = f"[{with_visible_controls(text)}]"
        click.echo(click.style(shown, dim=True) if self._colour else shown, err=not self._terminal)

    def _write(self, text: str) -> None:
        if not text:
            return
        sys.stdout.write(with_visible_controls(text) if self._terminal else text)
        sys.stdout.flush()
        self._open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._open:
            self._write("\n")


class JsonVoice:
    """One JSON object a line: `text`, `tool`, `notice` as they come, `answer` at the end of each turn."""

    def hear(self, heard: Heard) -> None:
        """Print an event."""
        if isinstance(heard, TextPiece):
            self._print({"type": "text", "text": heard.text})
        elif isinstance(heard, ToolCall):
            self._print({"type": "tool", "name": heard.name, "arguments": dict(heard.arguments)})
        else:
            self._print({"type": "notice", "text": heard.text})

    def answered(self, answer: Answer, *, tokens: int, window: int) -> None:
        """Print what became of the turn."""
        used = answer.usage
        self._print(
            {
                "type": "answer",
                "text": answer.text,
                "ended": answer.ended,
                "usage": {"input": used.input, "output": used.output, "cached": used.cached}
                if used
                else None,
                "contextTokens": tokens,
                "contextWindow": window,
                "error": {"message": answer.failure, "hint": answer.hint} if answer.failure else None,
            }
        )

    def say(self, text: str) -> None:
        """Print what a command answers."""
        self.hear(Notice(text))

    def _print(self, event: dict[str, object]) -> None:
        line = json.dumps(event, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def _call(call: ToolCall) -> str:
    text = f"{call.name} {json.dumps(dict(call.arguments), ensure_ascii=False)}"
    return text if len(text) <= _LONGEST_CALL else text[: _LONGEST_CALL - 1] + "…"
