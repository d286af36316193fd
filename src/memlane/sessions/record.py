"""A conversation on disk: its transcript and its entry in the session store, as messages of a chat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..clock import Clock
from ..transcripts.append import Transcript
from ..transcripts.folder import unreadable
from ..transcripts.lines import Entries, Entry
from ..transcripts.names import transcript_name
from ..transcripts.store import SessionRecord, SessionStore
from ..values import Session
from .chat import Message, ToolCall, Usage
from .compaction import Recorded, spliced
from .decision import tokens_held

_ROLES = {"user": "user", "assistant": "assistant", "toolResult": "tool"}
_NO_ANSWER = '{"error": "no answer: the turn was interrupted"}'


class Conversation:
    """The record of one session. What is said is appended to the transcript at once."""

    def __init__(self, folder: Path, session: Session, *, agent: str, cwd: str, clock: Clock) -> None:
        """The record in a folder of sessions, begun where there is none; `cwd` is for new transcripts."""
        self.session = session
        self.store = SessionStore(folder, agent=agent)
        self.summary = ""
        self.kept: list[Recorded] = []
        """The messages that the context holds."""
        self.usage: Usage | None = None
        """The last one reported, while it speaks of the present context."""
        self._since = 0
        """How many of `kept` that usage counts in."""
        self._folder = folder
        self._cwd = cwd
        self._clock = clock
        self.transcript = self._open()

    @property
    def messages(self) -> list[Message]:
        """What the context holds, every call with an answer."""
        return mended(item.message for item in self.kept if item.message is not None)

    @property
    def tokens(self) -> int:
        """What the context holds, without the system prompt where no usage was reported yet."""
        since = (
            self.messages
            if self.usage is None
            else [item.message for item in self.kept[self._since :] if item.message is not None]
        )
        return tokens_held(self.usage, since)

    @property
    def size(self) -> int:
        """Of the transcript, in bytes."""
        try:
            return self.transcript.path.stat().st_size
        except OSError:
            return 0

    def data(self) -> Mapping[str, Any]:
        """The session's entry in the store, as it is now. Raises SessionError."""
        record = self.store.record(self.session.key)
        return record.data if record else {}

    def add(self, messages: Sequence[Message], usage: Usage | None = None) -> None:
        """Append messages; `usage` is that of the last request. Raises SessionError."""
        last = max((n for n, message in enumerate(messages) if message.role == "assistant"), default=-1)
        for number, message in enumerate(messages):
            data = as_entry(message, usage if number == last else None)
            self.kept.append(Recorded(self.transcript.append_message(data), message))
        if usage is not None:
            self.usage, self._since = usage, len(self.kept) - (len(messages) - 1 - last)
        self.note(
            {"totalTokens": self.tokens, "totalTokensFresh": self.usage is not None}
            | ({"inputTokens": usage.input + usage.cached, "outputTokens": usage.output} if usage else {})
        )

    def compacted(self, summary: str, cut: int, *, tokens_before: int) -> None:
        """Let `summary` stand for the first `cut` messages from now on. Raises SessionError."""
        first = self.kept[cut].id if cut < len(self.kept) else ""
        self.transcript.append_compaction(summary, first_kept_entry_id=first, tokens_before=tokens_before)
        self.summary, self.kept = summary, self.kept[cut:]
        self.usage, self._since = None, 0

        def raised(entry: dict[str, Any]) -> None:
            entry["compactionCount"] = count_in(entry, "compactionCount") + 1

        self.store.update(self.session.key, raised)
        self.note({"totalTokens": self.tokens, "totalTokensFresh": False})

    def begin_anew(self) -> Path | None:
        """Put the transcript away and begin another; gives where the old one lies. Raises SessionError."""
        put_away = self.transcript.archive("reset") if self.transcript.path.exists() else None

        def emptied(entry: dict[str, Any]) -> None:
            for name in [name for name in entry if name.startswith(("memoryFlush", "compactionCount"))]:
                del entry[name]
            entry |= {"totalTokens": 0, "totalTokensFresh": False}

        self.summary, self.kept, self.usage, self._since = "", [], None, 0
        self.transcript = Transcript.begin(self._folder, cwd=self._cwd, clock=self._clock)
        self.store.update(self.session.key, emptied)
        self.note({"sessionId": self.transcript.session_id})
        return put_away

    def note(self, fields: Mapping[str, Any]) -> SessionRecord:
        """Lay fields over the session's entry in the store; None takes one out. Raises SessionError."""
        now = int(self._clock.now().timestamp() * 1000)

        def noted(entry: dict[str, Any]) -> None:
            entry |= {"updatedAt": now, **fields}
            for name in [name for name, value in fields.items() if value is None]:
                del entry[name]

        return self.store.update(self.session.key, noted)

    def _open(self) -> Transcript:
        """The present transcript, read; a new one where there is none."""
        record = self.store.record(self.session.key)
        stem = record.stem if record else None
        path = self._folder / f"{stem}.jsonl"
        if stem is not None and transcript_name(path.name) and path.exists():
            self._read(path)
            return Transcript(path, clock=self._clock)
        transcript = Transcript.begin(self._folder, cwd=self._cwd, clock=self._clock)
        fields: dict[str, Any] = {"sessionId": transcript.session_id}
        if self.session.channel:
            fields["channel"] = self.session.channel
        self.note(fields)
        return transcript

    def _read(self, path: Path) -> None:
        """Take in what a transcript holds: from its last compaction on."""
        try:
            with path.open("rb") as file:
                found = [(item, usage) for entry in Entries(file) for item, usage in _recorded(entry)]
        except OSError as error:
            raise unreadable(path, error) from error
        self.summary, self.kept = spliced(item for item, _ in found)
        places = {item.id: number for number, item in enumerate(self.kept)}
        for item, usage in reversed(found):
            if item.message is None:
                return  # what was reported before a compaction speaks of another context
            if usage is not None and item.id in places:
                self.usage, self._since = usage, places[item.id] + 1
                return


def count_in(entry: Mapping[str, Any], name: str) -> int:
    """A count of the store; 0 where it is missing or no count."""
    value = entry.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def mended(messages: Iterator[Message] | Sequence[Message]) -> list[Message]:
    """Messages in which every call has its answer, and no answer is without its call, as models ask for."""
    result: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.role == "tool":
            if open_calls.pop(message.call_id, None) is not None:
                result.append(message)
            continue
        result += _unanswered(open_calls)
        open_calls = {call.id: call for call in message.calls}
        result.append(message)
    return [*result, *_unanswered(open_calls)]


def _unanswered(calls: Mapping[str, ToolCall]) -> list[Message]:
    return [Message("tool", _NO_ANSWER, call_id=call.id, name=call.name) for call in calls.values()]


# ---- the platform's messages -------------------------------------------------------------------------


def as_entry(message: Message, usage: Usage | None) -> dict[str, Any]:
    """A message as transcripts have it."""
    text = [{"type": "text", "text": message.text}] if message.text else []
    if message.role == "tool":
        return {
            "role": "toolResult",
            "toolCallId": message.call_id,
            "toolName": message.name,
            "content": text,
            "isError": False,
        }
    if message.role != "assistant":
        return {"role": message.role, "content": message.text}
    calls = [
        {"type": "toolCall", "id": call.id, "name": call.name, "arguments": dict(call.arguments)}
        for call in message.calls
    ]
    entry: dict[str, Any] = {"role": "assistant", "content": [*text, *calls]}
    if message.stopped:
        entry["stopReason"] = message.stopped
    if usage is not None:
        entry["usage"] = {
            "input": usage.input,
            "output": usage.output,
            "cacheRead": usage.cached,
            "cacheWrite": 0,
            "totalTokens": usage.total,
        }
    return entry


def _recorded(entry: Entry) -> Iterator[tuple[Recorded, Usage | None]]:
    """What an entry says, where it says anything to a model."""
    if entry.type == "compaction":
        summary, first = entry.data.get("summary"), entry.data.get("firstKeptEntryId")
        if isinstance(summary, str):
            yield Recorded(entry.id or "", None, summary, first if isinstance(first, str) else ""), None
        return
    message = entry.message
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        return
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    blocks = [block for block in blocks if isinstance(block, Mapping)]
    text = "\n".join(
        str(b["text"]) for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)
    )
    yield (
        Recorded(
            entry.id or f"line-{entry.line}",
            Message(
                role,  # type: ignore[arg-type]
                text,
                tuple(_calls(blocks)),
                str(message.get("toolCallId") or ""),
                str(message.get("toolName") or ""),
                message["stopReason"] if message.get("stopReason") in {"aborted", "error"} else "",
            ),
        ),
        _usage(message.get("usage")),
    )


def _calls(blocks: Sequence[Mapping[str, Any]]) -> Iterator[ToolCall]:
    for block in blocks:
        if block.get("type") == "toolCall" and isinstance(block.get("id"), str):
            arguments = block.get("arguments")
            if isinstance(arguments, str):
                try:
                    arguments = json.loads(arguments)
                except ValueError:
                    arguments = {}
            known = arguments if isinstance(arguments, Mapping) else {}
            yield ToolCall(block["id"], str(block.get("name") or ""), known)


def _usage(found: object) -> Usage | None:
    if not isinstance(found, Mapping):
        return None
    counts = {name: count_in(found, name) for name in ("input", "output", "cacheRead", "cacheWrite")}
    usage = Usage(counts["input"], counts["output"], counts["cacheRead"] + counts["cacheWrite"])
    return usage if usage.total else None
