"""A small agent: a chat model, the memory tools, and the life cycle of a session round each turn.

A turn is on record whatever becomes of it: answered, stopped by the user, failed, or at one of its bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from ..clock import Clock
from ..errors import ChatError, ContextOverflow
from ..values import Value
from .chat import ChatModel, ChatTool, Event, Message, TextPiece, ToolCall, Usage
from .exchange import Bounds, Exchange, exchange
from .keeping import FlushReport
from .life import Life, Turn
from .silence import SilenceFilter

SYSTEM = """You are an assistant with a memory that outlasts this conversation: the user's Markdown notes.
Search it with memory_search before you say that you do not know something about the user or their work, and
read around a result with memory_get. Write down what should last with memory_write. Answer in the user's
language, in plain text."""

TURN = Bounds(requests=16, calls=64, characters=200_000, seconds=900.0)
"""How much one turn of a conversation may take."""

Ended = Literal["answered", "stopped", "failed", "requests", "calls", "characters", "time"]


class Notice(Value, frozen=True):
    """Something about the session that the user should see."""

    text: str


Heard = TextPiece | ToolCall | Notice


class Answer(Value, frozen=True):
    """What became of a turn."""

    text: str
    """What is delivered to the user: empty for a silent answer."""
    ended: Ended
    usage: Usage | None = None
    """Of the last request, where it was reported."""
    failure: str = ""
    hint: str = ""
    """What the user can do about a failure."""


class Agent:
    """A conversation with a chat model, one turn at a time."""

    def __init__(
        self,
        life: Life,
        model: ChatModel,
        *,
        clock: Clock,
        stopped: Callable[[], bool] = lambda: False,
        bounds: Bounds = TURN,
    ) -> None:
        """`stopped` says whether the user wants the present turn to end."""
        self.life = life
        self._model = model
        self._clock = clock
        self._stopped = stopped
        self._bounds = bounds

    def turn(self, text: str, hear: Callable[[Heard], None]) -> Answer:
        """Answer what the user says; `hear` is told what comes as it comes.

        Raises SessionError when the record cannot be written; the model's failures are part of the answer.
        """
        turn = self.life.before_turn(text)
        for notice in notices(turn):
            hear(notice)
        listening = _Listening(self._model, hear, self._stopped)
        try:
            found = self._exchange(listening, turn, hear)
        except KeyboardInterrupt:
            self._record(listening, "stopped")
            raise
        except ChatError as error:
            if self._stopped():
                return self._record(listening, "stopped")
            return self._record(listening, "failed", str(error), error.hint)
        if found.ended != "answered":
            return self._record(listening, found.ended)
        self.life.after_turn(listening.done, found.usage)
        return Answer(listening.delivered, "answered", found.usage)

    def _exchange(self, listening: _Listening, turn: Turn, hear: Callable[[Heard], None]) -> Exchange:
        """The exchange of a turn; a context that turns out too long is compacted once on the way."""
        try:
            return self._ask(listening, turn)
        except ContextOverflow as error:
            turn = self.life.overflowed(error)
            hear(Notice("the context was full: older turns are summarised"))
            for notice in notices(turn):
                hear(notice)
            return self._ask(listening, turn)

    def _ask(self, listening: _Listening, turn: Turn) -> Exchange:
        before = listening.done
        listening.given = len(turn.messages)
        found = exchange(
            listening,
            [*turn.messages, *before],
            self.life.tools,
            clock=self._clock,
            bounds=self._bounds,
        )
        listening.done, listening.text = [*before, *found.messages], found.text
        return found

    def _record(self, listening: _Listening, ended: Ended, failure: str = "", hint: str = "") -> Answer:
        """Write down a turn that came to no proper end, with what there is of an answer."""
        stopped: Literal["aborted", "error"] = "error" if ended == "failed" else "aborted"
        last = Message("assistant", listening.text, stopped=stopped)
        self.life.after_turn([*listening.done, last])
        return Answer(listening.delivered, ended, failure=failure, hint=hint)


def notices(turn: Turn) -> Iterator[Notice]:
    """What the user should know of the housekeeping that came with a turn."""
    yield from flush_notices(turn.flush)
    if turn.compacted == "yes":
        yield Notice("older turns are summarised")
    yield from (Notice(text) for text in turn.notices if text != turn.flush.notice)


def flush_notices(report: FlushReport) -> Iterator[Notice]:
    """What the user should know of a flush: nothing, where it found nothing new."""
    if report.blocks:
        blocks = "1 new block" if report.blocks == 1 else f"{report.blocks} new blocks"
        yield Notice(f"memory was written: {blocks} in the day's log")
    for text in filter(None, (report.reply, report.notice)):
        yield Notice(text)


class _Listening:
    """The model, with everybody told what it says; knows what a turn has come to when it breaks off."""

    def __init__(self, model: ChatModel, hear: Callable[[Heard], None], stopped: Callable[[], bool]) -> None:
        self.name = model.name
        self.context_tokens = model.context_tokens
        self.done: list[Message] = []
        """What came of this turn so far, without the answer that is under way."""
        self.given = 0
        """How many of the messages it is asked with are not of this turn's making."""
        self.text = ""
        """Of the answer that is under way, or of the last one."""
        self.delivered = ""
        self._model = model
        self._hear = hear
        self._stopped = stopped

    def reply(
        self, messages: Sequence[Message], tools: Sequence[ChatTool], *, timeout: float
    ) -> Iterator[Event]:
        """The model's next answer."""
        self.done = list(messages[self.given :])
        self.text = self.delivered = ""
        silence = SilenceFilter()
        if self._stopped():
            raise ChatError("stopped on request")
        for event in self._model.reply(messages, tools, timeout=timeout):
            if isinstance(event, TextPiece):
                self.text += event.text
                self._deliver(silence.feed(event.text))
            elif isinstance(event, ToolCall):
                self._hear(event)
            yield event
            if self._stopped():
                raise ChatError("stopped on request")
        self._deliver(silence.finish())

    def _deliver(self, text: str) -> None:
        if text:
            self.delivered += text
            self._hear(TextPiece(text))
