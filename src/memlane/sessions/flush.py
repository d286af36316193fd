"""The flush: a silent turn, on a copy of the context, in which the model writes down what should last.

Append-only by construction: the one tool that writes can do nothing but add new blocks to today's log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from ..clock import Clock
from ..errors import ChatError, ContextOverflow, MemlaneError, PathRefused, WorkspaceError
from ..values import Session, Value
from ..workspace import Workspace, append_to_log, read_lines
from .additions import Additions, additions
from .chat import ChatModel, ChatTool, Message
from .compaction import parts
from .exchange import Bounds, Exchange, exchange
from .prompts import flush_messages, retold
from .silence import delivered

_T = TypeVar("_T")

MOST_CHARACTERS = 16_000
"""Of one flush. A day's log that grows by more than this was copied, not noted."""
_MOST_LINES = 1_000_000
_READING_TOOLS = ("memory_search", "memory_get")


_WRITE_PARAMETERS = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The new notes, one list item for each."},
        "path": {"type": "string", "description": "Left out, or today's log: nothing else is written to."},
    },
    "required": ["text"],
}


class FlushPrompts(Value, frozen=True):
    """The configured texts."""

    system: str
    user: str


class Flushed(Value, frozen=True):
    """What a flush did."""

    blocks: int
    """Blocks that were added to a log."""
    reply: str
    """What the model said to the user; empty for a silent reply."""


class LogWriter:
    """`memory_write` in a flush: of whatever it is given, new blocks go to the end of today's log."""

    name = "memory_write"
    description = (
        "Append notes to today's log, as Markdown list items. Only what is new is added; nothing that stands "
        "there is changed."
    )

    def __init__(self, workspace: Workspace, session: Session, *, clock: Clock) -> None:
        self.parameters: dict[str, Any] = _WRITE_PARAMETERS
        self._workspace = workspace
        self._curated = session.private
        self._clock = clock
        self._began = clock.today()
        self._room = MOST_CHARACTERS
        self.blocks = 0
        """Added so far."""
        self.failure: MemlaneError | None = None
        """The last write that failed."""

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Append, and answer what became of the text. Never raises for what a model or a disk can cause."""
        text = arguments.get("text", arguments.get("content"))
        path = arguments.get("path")
        if not isinstance(text, str) or not text.strip():
            return {"error": "there is nothing to write: the argument 'text' must be a text"}
        try:
            return self._write(text, path if isinstance(path, str) else "")
        except MemlaneError as error:
            self.failure = error
            return {"unavailable": True, "error": str(error), "code": error.code, "action": error.hint}

    def _write(self, text: str, path: str) -> dict[str, Any]:
        found = Additions(())

        def compose(old: str, now: datetime) -> str:
            nonlocal found
            known = [old, *self._elsewhere(path, today=now.date())]
            found = additions(text, known, time=now.strftime("%H:%M"), room=self._room)
            return found.written()

        written = append_to_log(self._workspace, compose, clock=self._clock)
        self._room -= len(found.written())
        self.blocks += found.added
        self.failure = None
        answer: dict[str, Any] = {"path": written.path, "added": found.added}
        if found.repeated:
            answer["alreadyThere"] = found.repeated
        if found.left_out:
            answer["leftOut"] = found.left_out
            answer["action"] = f"too long: write less, {self._room} characters are left"
        if path and path != written.path:
            answer["note"] = f"written to {written.path}: a flush appends to today's log alone"
        return answer

    def _elsewhere(self, path: str, *, today: date) -> list[str]:
        """What stands in the note that the model means, and in the log of the day the flush began on."""
        days = {self._began, today - timedelta(days=1)} - {today}
        texts = []
        for name in dict.fromkeys([path, *(f"memory/{day.isoformat()}.md" for day in sorted(days))]):
            try:
                texts += [self._read(name)] if name else []
            except (PathRefused, WorkspaceError):
                continue  # what cannot be read cannot be repeated from there either
        return texts

    def _read(self, path: str) -> str:
        return read_lines(self._workspace, path, lines=_MOST_LINES, curated=self._curated).text


def flush(
    model: ChatModel,
    context: Sequence[Message],
    *,
    prompts: FlushPrompts,
    reading: Sequence[ChatTool],
    writer: LogWriter,
    clock: Clock,
    window: int,
    bounds: Bounds = Bounds(),  # noqa: B008 - immutable
) -> Flushed:
    """Have the model write down what should last of `context`, which stays as it is.

    Where the context does not fit the model any more, it is told in parts. Raises ChatError when the model
    fails or, with nothing written, comes to no end, WorkspaceError when its notes cannot be written.
    """

    def turn(shown: Sequence[Message]) -> Exchange:
        asked = flush_messages(shown, system=prompts.system, prompt=prompts.user, today=clock.today())
        return exchange(model, asked, tools, clock=clock, bounds=bounds)

    tools: list[ChatTool] = [tool for tool in reading if tool.name in _READING_TOOLS]
    tools.append(writer)
    before = writer.blocks
    try:
        done = [turn(context)]
    except ContextOverflow:
        done = in_parts(
            context, window, lambda texts: [turn([*_system(context), retold(text)]) for text in texts]
        )
    if writer.failure is not None:
        raise writer.failure
    unended = next((one for one in done if one.ended != "answered"), None)
    if unended is not None and writer.blocks == before:
        raise ChatError(f"{model.name} came to no end: its turn was stopped by the bound on {unended.ended}")
    reply = "" if unended else delivered(done[-1].text)
    return Flushed(writer.blocks - before, reply)


def in_parts(context: Sequence[Message], window: int, tell: Callable[[list[str]], _T]) -> _T:
    """Tell a conversation in parts that fit: of half the window each, then all of less.

    Raises ContextOverflow where even a sixteenth of the window does not fit.
    """
    told = [message for message in context if message.role != "system"]
    most = window // 2
    while True:
        try:
            return tell(parts(told, max(1, most)))
        except ContextOverflow:
            if most <= window // 16:
                raise
            most //= 2


def _system(context: Sequence[Message]) -> list[Message]:
    return [message for message in context[:1] if message.role == "system"]
