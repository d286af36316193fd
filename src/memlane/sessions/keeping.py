"""Flushing and compacting one session: the decision asked, the lock held, failures bounded and recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from os import W_OK, access
from pathlib import Path
from typing import Any

from ..clock import Clock
from ..config import AgentSettings
from ..disk import writer_lock
from ..errors import ChatError, MemlaneError, StoreError
from ..events import Observer
from ..values import Recalled, SessionContext, Value
from ..workspace import Workspace
from .chat import ChatModel, ChatTool, Message
from .compaction import KEEP_TOKENS, context_of, cut_point
from .decision import (
    DEFAULT_WINDOW,
    FORBIDDING,
    MOST_FAILURES,
    Budget,
    Case,
    Decision,
    budget,
    decide,
    estimate,
)
from .exchange import Bounds, exchange
from .flush import FlushPrompts, LogWriter, flush, in_parts
from .prompts import retold, said, summary_messages
from .record import Conversation, count_in, mended
from .unsaved import UnsavedPieces

FLUSHED_AT = "memoryFlushAt"
FLUSHED_IN = "memoryFlushCompactionCount"
FAILURES = "memoryFlushFailures"
FAILED_IN = "memoryFlushFailuresCompactionCount"
SKIPPED = "memoryFlushSkipped"
"""Why no flush may be; gone with the next one that is done."""
_PIECES_A_FLUSH = 3
"""Pieces left by earlier failures that one flush saves: the user is waiting."""


class Surroundings(Value, frozen=True):
    """What the life cycle needs of a memory."""

    settings: AgentSettings
    workspace: Workspace
    clock: Clock
    observer: Observer
    tools: Callable[[str], Sequence[ChatTool]]
    """The memory tools of the session with this key."""
    context: Callable[[str], SessionContext]
    """What the session with this key starts with."""
    index: Callable[[str, bool], None]
    """Bring the index up to date after the compaction of the session with this key; the second argument:
    with its transcript, however little that has grown by."""
    recall: Callable[[str, str, str], Recalled] | None = None
    """The memories that a message calls for, in the session with this key, beside what is shown already;
    None where they are not asked for."""


class FlushReport(Value, frozen=True):
    """What became of the question whether to flush."""

    decision: Decision
    done: bool = False
    blocks: int = 0
    """Blocks that were added to a day's log."""
    reply: str = ""
    """What the model said to the user: nothing, unless it had something real to say."""
    failure: str = ""
    notice: str = ""
    """For the user: what could not be saved, and where it waits."""


class Keeping:
    """The flush and the compaction of one session."""

    def __init__(
        self,
        around: Surroundings,
        conversation: Conversation,
        *,
        model: ChatModel | None,
        flush_model: ChatModel | None = None,
        own_reserve: int = 0,
        bounds: Bounds = Bounds(),  # noqa: B008 - immutable
    ) -> None:
        self.around = around
        self.conversation = conversation
        self.system = ""
        """The system prompt of the session."""
        self.model = model
        self.flush_model = flush_model or model
        self._own_reserve = own_reserve
        self._bounds = bounds
        self.unsaved = UnsavedPieces(around.settings, clock=around.clock)
        self._indexing: list[threading.Thread] = []

    @property
    def budget(self) -> Budget:
        """How the context is shared out: as configured, else as the model or the store says."""
        settings, compaction = self.around.settings, self.around.settings.compaction
        told = self.model.context_tokens if self.model else None
        window = settings.context_tokens or told or count_in(self.conversation.data(), "contextTokens")
        return budget(
            window or DEFAULT_WINDOW,
            floor=compaction.reserve_tokens_floor,
            soft=compaction.memory_flush.soft_threshold_tokens,
            own_reserve=self._own_reserve,
        )

    def context(self) -> list[Message]:
        """What the model is shown."""
        return context_of(self.system, self.conversation.summary, self.conversation.messages)

    def tokens(self, shown: Sequence[Message]) -> int:
        """What a context holds: as reported last, else estimated."""
        return self.conversation.tokens if self.conversation.usage else estimate(shown)

    # ---- flush ---------------------------------------------------------------------------------------

    def flush_if_due(
        self,
        *,
        losing: bool = False,
        heartbeat: bool = False,
        more: Sequence[Message] = (),
        context: Sequence[Message] | None = None,
    ) -> FlushReport:
        """Ask whether memory is to be flushed, and do so.

        `losing`: context is lost after this, whatever its size; what could not be saved is then kept on disk.
        `more` are messages that come on top. `context` takes the place of the recorded one. A failure is part
        of the report; only a session store that cannot be read or written raises SessionError.
        """
        data = self.conversation.data()
        shown = list(self.context() if context is None else context)
        decision = decide(self._case(data, shown, losing=losing, heartbeat=heartbeat, more=more))
        if decision.reason in FORBIDDING and data.get(SKIPPED) != decision.reason:
            self.conversation.note({SKIPPED: decision.reason})
        if not decision.due:
            report = FlushReport(decision)
            wanting = decision.reason == "failed" and losing
            return self._keep(report, shown) if wanting else report
        try:
            report = self._flush_alone(decision, shown, cycle=count_in(data, "compactionCount"))
        except StoreError as error:
            report = FlushReport(decision, failure=str(error))
        if not report.failure:
            return report
        failures = self._count_failure(data)
        return self._keep(report, shown) if losing or failures >= MOST_FAILURES else report

    def _case(
        self,
        data: Mapping[str, Any],
        shown: Sequence[Message],
        *,
        losing: bool,
        heartbeat: bool,
        more: Sequence[Message],
    ) -> Case:
        settings = self.around.settings
        configured = settings.compaction.memory_flush
        flushed_in = data.get(FLUSHED_IN)
        return Case(
            budget=self.budget,
            tokens=self.tokens(shown) + estimate(more),
            session=self.conversation.session,
            enabled=settings.enabled and configured.enabled,
            writable=settings.workspace_access == "rw" and _is_writable(self.around.workspace.root),
            heartbeat=heartbeat,
            transcript_bytes=self.conversation.size,
            force_bytes=configured.force_flush_transcript_bytes,
            compactions=count_in(data, "compactionCount"),
            flushed_in=flushed_in if isinstance(flushed_in, int) else None,
            failures=_failures(data),
            losing=losing,
            empty=not any(message.role == "user" for message in shown),
        )

    def _flush_alone(self, decision: Decision, shown: Sequence[Message], *, cycle: int) -> FlushReport:
        """Flush while no other process does so for this agent; one that has done it meanwhile suffices."""
        settings = self.around.settings
        lock = settings.state_dir / "memory" / f"{settings.agent_id}.flush"
        with writer_lock(lock, timeout=self._bounds.seconds + 5):
            if self.conversation.data().get(FLUSHED_IN) == cycle:
                return FlushReport(Decision(False, "flushed", decision.tokens, decision.threshold))
            return self._flush(decision, shown, cycle=cycle)

    def _flush(self, decision: Decision, shown: Sequence[Message], *, cycle: int) -> FlushReport:
        model = self.flush_model
        clock = self.around.clock
        blocks = 0

        def told(context: Sequence[Message]) -> str:
            nonlocal blocks
            if model is None:
                raise ChatError("there is no chat model to ask", hint="pass one to Memory.life")
            writer = LogWriter(self.around.workspace, self.conversation.session, clock=clock)
            try:
                return self._told(model, context, writer)
            finally:
                blocks += writer.blocks

        try:
            reply = told(shown)
        except Exception as error:  # noqa: BLE001 - whatever a host's model raises, the user gets an answer
            return FlushReport(decision, blocks=blocks, failure=_reason(error))
        now = int(clock.now().astimezone(UTC).timestamp() * 1000)
        self.conversation.note({FLUSHED_AT: now, FLUSHED_IN: cycle, SKIPPED: None})
        self._save_earlier(told)
        return FlushReport(decision, done=True, blocks=blocks, reply=reply)

    def _told(self, model: ChatModel, context: Sequence[Message], writer: LogWriter) -> str:
        """Have the model write down what should last of `context`; gives what it says to the user."""
        configured = self.around.settings.compaction.memory_flush
        return flush(
            model,
            context,
            prompts=FlushPrompts(configured.system_prompt, configured.prompt),
            reading=self.around.tools(self.conversation.session.key),
            writer=writer,
            clock=self.around.clock,
            window=self.budget.window,
            bounds=self._bounds,
        ).reply

    def _save_earlier(self, told: Callable[[Sequence[Message]], str]) -> None:
        """Have what earlier flushes left written down too. What fails again waits on."""
        mine = [piece for piece in self.unsaved.waiting(session=self.conversation.session.key) if piece.text]
        for piece in mine[:_PIECES_A_FLUSH]:
            try:
                in_parts(
                    [Message("user", piece.text)],
                    self.budget.window,
                    lambda texts: [told([retold(text)]) for text in texts],
                )
            except Exception as error:  # noqa: BLE001 - as above
                self.around.observer.warning(f"{piece.path} waits on: {_reason(error)}")
                return
            self.unsaved.saved(piece)

    def _count_failure(self, data: Mapping[str, Any]) -> int:
        failures = _failures(data) + 1
        self.conversation.note({FAILURES: failures, FAILED_IN: count_in(data, "compactionCount")})
        return failures

    def _keep(self, report: FlushReport, shown: Sequence[Message]) -> FlushReport:
        """Keep on disk what could not be saved in this cycle, all of it, and say so."""
        from msgspec.structs import replace

        why = report.failure or "the flush has failed too often in this session"
        text = said([message for message in shown if message.role != "system"])
        try:
            transcript = self.conversation.transcript
            path = self.unsaved.keep(
                f"{transcript.session_id}-{count_in(self.conversation.data(), 'compactionCount')}",
                session=self.conversation.session.key,
                reason=why,
                text=text,
                transcript=str(transcript.path),
            )
            notice = (
                f"Memory could not be written ({why}). What was said is kept in {path} for the next flush."
            )
        except MemlaneError as error:
            notice = f"Memory could not be written ({why}), and what was said could not be kept: {error}"
        self.around.observer.warning(notice)
        return replace(report, notice=notice)

    # ---- compaction ----------------------------------------------------------------------------------

    def compact(self) -> bool:
        """Let a summary stand for older turns; False where there is nothing to summarise.

        The decision about a flush is asked by the caller. Raises ChatError when the model fails, SessionError
        when the record cannot be written; the context is then as it was.
        """
        conversation, held = self.conversation, self.budget
        messages = [item.message for item in conversation.kept if item.message is not None]
        cut = cut_point(messages, keep=min(KEEP_TOKENS, held.window // 4), most=held.window // 2)
        if cut == 0:
            return False
        tokens = self.tokens(self.context())
        summary = self._summary(mended(messages[:cut]), held)
        conversation.compacted(summary, cut, tokens_before=tokens)
        self.index()
        return True

    def _summary(self, older: Sequence[Message], held: Budget) -> str:
        """A summary of messages, made in as many parts as it takes."""
        model = self.model
        if model is None:
            raise ChatError("there is no chat model to summarise with", hint="pass one to Memory.life")

        def told(texts: Sequence[str]) -> str:
            summary = self.conversation.summary
            for text in texts:
                asked = summary_messages(text, summary)
                found = exchange(model, asked, (), clock=self.around.clock, bounds=self._bounds)
                summary = found.text.strip()
                if not summary or found.ended == "time":
                    raise ChatError(
                        f"{model.name} gave no summary", hint="try again, or choose another model"
                    )
            return summary

        return in_parts(older, held.window, told)

    def index(self) -> None:
        """Index the transcript, as configured: behind the turn, before it goes on, or not at all."""
        mode = self.around.settings.compaction.post_index_sync
        force = self.around.settings.memory_search.sync.sessions.post_compaction_force

        def run() -> None:
            try:
                self.around.index(self.conversation.session.key, force)
            except MemlaneError as error:
                self.around.observer.warning(f"the session was not indexed after its compaction: {error}")

        if mode == "await":
            run()
        elif mode == "async":
            thread = threading.Thread(target=run, name="memlane-session-index", daemon=True)
            thread.start()
            self._indexing.append(thread)

    def close(self) -> None:
        """Wait for what is still being indexed."""
        for thread in self._indexing:
            thread.join()
        self._indexing.clear()


def _failures(data: Mapping[str, Any]) -> int:
    """Tries of the present cycle that failed."""
    same = data.get(FAILED_IN) == count_in(data, "compactionCount")
    return count_in(data, FAILURES) if same else 0


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, MemlaneError) else f"{type(error).__name__}: {error}"


def _is_writable(root: Path) -> bool:
    """Whether the file system lets notes be written: in the folder of the logs, or where it is to be made."""
    logs = root / "memory"
    return access(logs if logs.exists() else root, W_OK)
