"""The life cycle of memory in one session, for agents with a loop of their own.

    life.session_start()                 what belongs into the system prompt; on resuming, what was said
    life.before_turn(text)               flushed and compacted if need be; the messages for the model
    life.after_turn(messages, usage)     what the agent and its tools said, on disk
    life.before_compaction(…)            where the agent summarises by itself

Where context is lost (compaction of either kind, an overflow, a new session) the decision about a flush is
asked exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from ..errors import ChatError, ContextOverflow, MemlaneError, UsageError
from ..transcripts.keys import MAIN_KEY, session_from_key
from ..transcripts.names import sessions_folder
from ..values import Recalled, SessionContext, Value
from .chat import ChatModel, ChatTool, Message, Usage
from .decision import estimate
from .exchange import Bounds
from .keeping import FlushReport, Keeping, Surroundings
from .record import Conversation

Compacted = Literal["no", "yes", "failed"]


class Start(Value, frozen=True):
    """How a session starts."""

    context: SessionContext
    """The owner's notes, for the system prompt: `context.text`."""
    messages: tuple[Message, ...]
    """What the context holds already: the system prompt, and on resuming what was said."""
    resumed: bool
    unsaved: int
    """Pieces that earlier flushes could not save and that wait for the next one."""


class Turn(Value, frozen=True):
    """What a turn begins with."""

    messages: tuple[Message, ...]
    """For the model: system prompt, summary, recent turns, and the user's message."""
    flush: FlushReport
    compacted: Compacted = "no"
    notices: tuple[str, ...] = ()
    """For the user's eyes."""
    recalled: Recalled = Recalled()
    """The memories that stand before the user's message, where `memorySearch.recall` asks for them."""


class Life:
    """One session's life. Not thread-safe: a conversation has one turn at a time.

    Attributes:
        tools: the memory tools of this session, for the agent's model.
    """

    def __init__(
        self,
        around: Surroundings,
        *,
        session: str | None = None,
        model: ChatModel | None = None,
        model_named: Callable[[str], ChatModel] | None = None,
        system: str = "",
        compaction_reserve: int = 0,
        bounds: Bounds = Bounds(),  # noqa: B008 - immutable
    ) -> None:
        """`Memory.life` makes one."""
        settings = around.settings
        key = session or f"agent:{settings.agent_id}:{MAIN_KEY}"
        self.session = session_from_key(key, agent=settings.agent_id)
        self._around = around
        self._own_system = system
        self._in_turn = False
        self._recovered = False
        conversation = Conversation(
            sessions_folder(settings.state_dir, settings.agent_id),
            self.session,
            agent=settings.agent_id,
            cwd=str(settings.workspace),
            clock=around.clock,
        )
        named = settings.compaction.memory_flush.model
        self.keeping = Keeping(
            around,
            conversation,
            model=model,
            flush_model=model_named(named) if named and model_named else None,
            own_reserve=compaction_reserve,
            bounds=bounds,
        )
        if named and not model_named:
            around.observer.warning(
                f'compaction.memoryFlush.model "{named}" is not used: this host offers no other model'
            )
        self.tools: Sequence[ChatTool] = around.tools(key)
        self._started: Start | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for what is still being indexed. What was said is on disk already."""
        self.keeping.close()

    @property
    def transcript(self) -> Path:
        """Where what is said is written down."""
        return self.keeping.conversation.transcript.path

    @property
    def tokens(self) -> int:
        """What the context holds, as far as is known."""
        return self.keeping.tokens(self.keeping.context())

    def session_start(self) -> Start:
        """Begin or resume the session. Raises WorkspaceError when the notes cannot be read."""
        context = self._around.context(self.session.key)
        self.keeping.system = "\n\n".join(filter(None, (self._own_system, context.text)))
        self._started = Start(
            context,
            tuple(self.keeping.context()),
            resumed=bool(self.keeping.conversation.kept or self.keeping.conversation.summary),
            unsaved=len(self.keeping.unsaved.waiting(session=self.session.key)),
        )
        return self._started

    def before_turn(self, text: str, *, heartbeat: bool = False) -> Turn:
        """Take in what the user says; memory is flushed and the context compacted first, where that is due.

        Neither failing keeps the user from an answer. `heartbeat`: nobody asked, the agent woke by itself.
        Raises SessionError when the record cannot be written.
        """
        self._begin_if_need_be()
        recalled = Recalled() if heartbeat else self._recalled(text)
        message = Message("user", "\n\n".join(filter(None, (recalled.text, text))))
        full = self.tokens + estimate([message]) >= self.keeping.budget.compact_at
        report = self.keeping.flush_if_due(losing=full, heartbeat=heartbeat, more=[message])
        notices = [report.notice] if report.notice else []
        compacted: Compacted = "no"
        if full:
            compacted, trouble = self._compact_quietly()
            notices += [trouble] if trouble else []
        self.keeping.conversation.add([message])
        self._in_turn, self._recovered = True, False
        return Turn(tuple(self.keeping.context()), report, compacted, tuple(notices), recalled)

    def after_turn(self, messages: Sequence[Message], usage: Usage | None = None) -> None:
        """Write down what came of the turn: the agent's answers and calls, and the tools' answers.

        `usage` is that of the last request. Raises UsageError for messages of the user or the system,
        SessionError when the record cannot be written.
        """
        if wrong := {message.role for message in messages} - {"assistant", "tool"}:
            raise UsageError(
                f"after_turn takes what the agent and its tools said, not messages of: {', '.join(wrong)}",
                hint="the user's message goes to before_turn",
            )
        self.keeping.conversation.add(messages, usage)
        self._in_turn = False

    def overflowed(self, error: ContextOverflow) -> Turn:
        """The model says that the context does not fit: flushed if due, compacted, and what to ask it again.

        Once a turn: raises `error` the second time, and where there is nothing to compact.
        """
        if self._recovered or not self._in_turn:
            raise error
        self._recovered = True
        report = self.keeping.flush_if_due(losing=True)
        try:
            if not self.keeping.compact():
                raise error
        except ChatError as failure:
            raise error from failure
        notices = (report.notice,) if report.notice else ()
        return Turn(tuple(self.keeping.context()), report, "yes", notices)

    def compact(self) -> Turn:
        """Compact now, because the user asked for it. Raises ChatError when the model fails."""
        self._begin_if_need_be()
        report = self.keeping.flush_if_due(losing=True)
        done = self.keeping.compact()
        notices = (report.notice,) if report.notice else ()
        return Turn(tuple(self.keeping.context()), report, "yes" if done else "no", notices)

    def flush(self) -> FlushReport:
        """Flush now, as though the context were about to be lost; once a cycle."""
        self._begin_if_need_be()
        return self.keeping.flush_if_due(losing=True)

    def new(self) -> FlushReport:
        """End this conversation and begin another under the same key; its transcript is put away.

        Memory is flushed first, where that is due. The same for `/new` and `/reset`.
        """
        self._begin_if_need_be()
        report = self.keeping.flush_if_due(losing=True)
        self.keeping.conversation.begin_anew()
        self._in_turn = False
        self.session_start()
        return report

    def before_compaction(self, messages: Sequence[Message] | None = None) -> FlushReport:
        """Flush, where that is due, because the agent is about to compact by itself.

        `messages` is the context as the agent has it; without them, the recorded one. Call `after_compaction`
        when it is done.
        """
        self._begin_if_need_be()
        return self.keeping.flush_if_due(losing=True, context=messages)

    def after_compaction(self, summary: str, *, kept: int) -> None:
        """The agent has compacted by itself: `summary` stands for all but the last `kept` recorded messages.

        Raises UsageError for a number that there are not.
        """
        conversation = self.keeping.conversation
        if not 0 <= kept <= len(conversation.kept):
            raise UsageError(f"kept must lie between 0 and {len(conversation.kept)}, not {kept}")
        cut = len(conversation.kept) - kept
        conversation.compacted(summary, cut, tokens_before=self.tokens)
        self.keeping.index()

    def _recalled(self, text: str) -> Recalled:
        """The memories that a message calls for. A search that fails costs no more than these."""
        if self._around.recall is None:
            return Recalled()
        shown = "\n".join(message.text for message in self.keeping.context())
        try:
            return self._around.recall(text, self.session.key, shown)
        except MemlaneError as error:
            self._around.observer.warning(f"nothing was recalled: {error}")
            return Recalled()

    def _begin_if_need_be(self) -> None:
        if self._started is None:
            self.session_start()

    def _compact_quietly(self) -> tuple[Compacted, str]:
        """Compact before a turn; a failure is told and leaves the context as it is."""
        try:
            return ("yes" if self.keeping.compact() else "no"), ""
        except ChatError as error:
            notice = f"older turns could not be summarised: {error}"
            self._around.observer.warning(notice)
            return "failed", notice
