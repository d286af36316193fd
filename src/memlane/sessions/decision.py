"""Whether memory is to be flushed: one question, asked before each turn and before context is lost. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..markdown import estimate_tokens
from ..transcripts.gate import access_of
from ..values import Session, SessionKind, Value
from .chat import Message, Usage

DEFAULT_WINDOW = 200_000
"""Tokens of a context whose size neither the configuration nor the model tells."""
MOST_FAILURES = 3
"""Tries of one cycle: a model that fails as often will not do better at the next turn."""
_MESSAGE_TOKENS = 4
"""What a message takes beside its text: its role and the marks round it."""

Reason = Literal[
    "tokens",
    "size",
    "losing",
    "disabled",
    "not-writable",
    "heartbeat",
    "cron",
    "subagent",
    "unknown",
    "empty",
    "flushed",
    "failed",
    "below",
]
"""Why a flush is due (the first three), or why it is not."""
FORBIDDING: frozenset[Reason] = frozenset(
    {"disabled", "not-writable", "heartbeat", "cron", "subagent", "unknown"}
)
"""Reasons for which a flush is skipped however full the context is; the session's entry records them."""


class Budget(Value, frozen=True):
    """How the tokens of a context are shared out."""

    window: int
    reserve: int
    """Kept free for the answer and for compaction."""
    soft: int
    """Room between the flush and compaction."""

    @property
    def flush_at(self) -> int:
        """From this many tokens on, memory is flushed."""
        return self.window - self.reserve - self.soft

    @property
    def compact_at(self) -> int:
        """From this many tokens on, older turns are summarised."""
        return self.window - self.reserve


class Case(Value, frozen=True):
    """All that the decision looks at."""

    budget: Budget
    tokens: int
    """What the context holds."""
    session: Session
    enabled: bool = True
    writable: bool = True
    heartbeat: bool = False
    transcript_bytes: int = 0
    force_bytes: int = 0
    """Flush from this size of the transcript on, whatever the tokens; 0 is off."""
    compactions: int = 0
    """`compactionCount` of the session: the number of this cycle."""
    flushed_in: int | None = None
    """`memoryFlushCompactionCount`: the cycle of the last flush; None when there was none."""
    failures: int = 0
    """Tries of this cycle that failed."""
    losing: bool = False
    """Context is about to be lost whatever its size: compaction, a new session, a reset."""
    empty: bool = False
    """Nothing has been said since context was lost last: there is nothing to write down."""


class Decision(Value, frozen=True):
    """Whether memory is flushed now, and why."""

    due: bool
    reason: Reason
    tokens: int
    threshold: int


def budget(window: int, *, floor: int, soft: int, own_reserve: int = 0) -> Budget:
    """How a context of `window` tokens is shared out.

    `floor` is `reserveTokensFloor`, `own_reserve` what compaction itself keeps free; the larger counts. Where
    reserve and soft threshold together would take more than half of the window, both shrink in proportion, so
    that a small context is flushed and compacted too, and not after every turn.
    """
    reserve = max(floor, own_reserve)
    half = window // 2
    if reserve + soft > half:
        soft = soft * half // (reserve + soft)
        reserve = half - soft
    return Budget(window, reserve, soft)


def decide(case: Case) -> Decision:
    """Whether memory is to be flushed now. A cycle, from one compaction to the next, is flushed once."""
    reason = _skipped(case) or _due(case)
    due = reason in {"tokens", "size", "losing"}
    return Decision(due, reason, case.tokens, case.budget.flush_at)


def _skipped(case: Case) -> Reason | None:
    """What forbids a flush, if anything does."""
    kinds: dict[SessionKind, Reason] = {SessionKind.CRON: "cron", SessionKind.SUBAGENT: "subagent"}
    obstacles: tuple[tuple[bool, Reason], ...] = (
        (not case.enabled, "disabled"),
        (not case.writable, "not-writable"),
        (case.heartbeat, "heartbeat"),
        (not access_of(case.session).flush, kinds.get(case.session.kind, "unknown")),
        (case.empty, "empty"),
        (case.flushed_in == case.compactions, "flushed"),
        (case.failures >= MOST_FAILURES, "failed"),
    )
    return next((reason for holds, reason in obstacles if holds), None)


def _due(case: Case) -> Reason:
    if case.tokens >= case.budget.flush_at:
        return "tokens"
    if case.force_bytes and case.transcript_bytes >= case.force_bytes:
        return "size"
    return "losing" if case.losing else "below"


# ---- how full a context is ---------------------------------------------------------------------------


def tokens_held(usage: Usage | None, since: Iterable[Message]) -> int:
    """What a context holds: the usage last reported and an estimate of the messages `since`.

    Without usage (none reported, or older than the last compaction), `since` are all messages.
    """
    return (usage.total if usage else 0) + estimate(since)


def estimate(messages: Iterable[Message]) -> int:
    """The tokens of messages, estimated by script."""
    return sum(message_tokens(message) for message in messages)


def message_tokens(message: Message) -> int:
    """The tokens of one message, its tool calls included."""
    calls = sum(estimate_tokens(call.name + str(dict(call.arguments))) for call in message.calls)
    return _MESSAGE_TOKENS + estimate_tokens(message.text) + calls
