"""The hooks of a coding agent (Claude Code): what each is told, what it answers, and what it keeps.

No model answers in a hook, so nothing is summarised here. Before a compaction and at the end of a session,
the end of the transcript is kept on disk with a pointer to the whole; the next session start hands it over,
once.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..transcripts.lines import decoded
from ..values import Value
from .prompts import fenced
from .unsaved import Unsaved, UnsavedPieces

MOST_CHARACTERS = 10_000
"""Of one hook's context: beyond this the agent gets a preview and a file's path instead."""
NOTES_CHARACTERS = 7_000
"""Of it for notes; the rest is for marks, for what was kept, and for the pointer to more."""
_TAIL_CHARACTERS = 20_000
_TAIL_BYTES = 2**20
"""Of the end of a transcript, most of which is the output of tools."""
_MOST_POINTERS = 3
_MORE = "More is found with: memlane search 'words'. What should last is kept with: memlane remember 'text'."


class HookCall(Value, frozen=True):
    """What the agent tells a hook."""

    session: str
    transcript: str = ""
    cwd: str = ""
    source: str = ""
    """Of a session start: `startup`, `resume`, `clear`, `compact`, `fork`."""
    cause: str = ""
    """Of a compaction its trigger, of an end its reason."""
    prompt: str = ""
    """What the user submits."""

    @property
    def key(self) -> str:
        """By which what is kept of this session is known again."""
        return f"claude-code:{self.session}"


def hook_call(data: bytes) -> HookCall:
    """What standard input says; unknown fields are passed over. Raises UsageError for anything else."""
    hint = "this command is run by Claude Code; see `memlane hook install`"
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"standard input is no JSON: {error}", hint=hint) from error
    if not isinstance(found, Mapping):
        raise UsageError("standard input is no JSON object", hint=hint)

    def text(*names: str) -> str:
        return next((value for name in names if isinstance(value := found.get(name), str)), "")

    session = text("session_id")
    if not session:
        raise UsageError("standard input names no session_id", hint=hint)
    return HookCall(
        session,
        text("transcript_path"),
        text("cwd"),
        text("source"),
        text("trigger", "reason"),
        text("prompt"),
    )


def keep_tail(call: HookCall, event: str, pieces: UnsavedPieces) -> Path:
    """Keep the end of a session's transcript, secrets masked, and where the whole of it stands.

    What was kept of the same session before is replaced. Raises SessionError when it cannot be written.
    """
    said = tail(call.transcript, _TAIL_CHARACTERS, masked=pieces.masked) if call.transcript else ""
    reason = f"{event} {call.cause}".strip() + (f" in {call.cwd}" if call.cwd else "")
    return pieces.keep(call.key, session=call.key, reason=reason, text=said, transcript=call.transcript)


def start_context(call: HookCall, notes: str, pieces: UnsavedPieces) -> tuple[str, list[Unsaved]]:
    """What a session starts with, and the pieces that are handed over with it.

    After a compaction that is the end of what was said before it. A session that begins empty gets pointers
    to earlier ones; one that is resumed has all it said.
    """
    waiting = [piece for piece in pieces.waiting() if piece.session.startswith("claude-code:")]
    mine = [piece for piece in waiting if piece.session == call.key]
    others = [] if call.source in {"compact", "resume"} else [p for p in waiting if p not in mine]
    told = others[-_MOST_POINTERS:]
    parts = [notes] if notes else []
    parts += [_pointer(piece) for piece in told]
    parts.append(_MORE)
    if call.source == "compact" and mine:
        room = MOST_CHARACTERS - sum(len(part) + 2 for part in parts) - 400
        parts.insert(-1, _end_of(mine[-1], max(0, room)))
    return "\n\n".join(parts)[:MOST_CHARACTERS], [*mine, *told]


def start_answer(context: str) -> dict[str, Any]:
    """A session start's answer in the agent's format."""
    return _answer("SessionStart", context)


def prompt_answer(context: str) -> dict[str, Any]:
    """The answer to what the user submits, likewise."""
    return _answer("UserPromptSubmit", context)


def tail(location: str, characters: int, *, masked: Callable[[str], str]) -> str:
    """The end of what was said, of a Claude Code transcript; empty where it cannot be read."""
    kept: list[str] = []
    room = characters
    for line in _last_lines(location):
        text = masked(_said(line))  # before it is cut: half a secret has no shape
        if not text:
            continue
        if len(text) > room:
            kept.append(f"…{text[len(text) - room + 1 :]}" if room > 1 else "")
            break
        kept.append(text)
        room -= len(text) + 2
    return "\n\n".join(reversed([text for text in kept if text]))


def _last_lines(location: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a file's last lines, the last one first."""
    try:
        with Path(location).expanduser().open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return
            start = max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES)
            file.seek(start)
            lines = file.read(_TAIL_BYTES).split(b"\n")
    except (OSError, RuntimeError, ValueError):
        return
    for line in reversed(lines[1:] if start else lines):
        found = decoded(line) if line.strip() else None
        if found is not None:
            yield found


def _said(line: Mapping[str, Any]) -> str:
    """What a line of a transcript says, and who."""
    message = line.get("message")
    who = {"user": "User", "assistant": "Assistant"}.get(str(line.get("type")))
    if who is None or line.get("isMeta") or line.get("isSidechain") or not isinstance(message, Mapping):
        return ""
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [
        str(block["text"])
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    text = "\n".join(texts).strip()
    return f"{who}: {text}" if text else ""


def _answer(event: str, context: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


def _pointer(piece: Unsaved) -> str:
    where = f"; its transcript is {_line(piece.transcript)}" if piece.transcript else ""
    return (
        f"An earlier session ended at {piece.kept_at} ({_line(piece.reason)}); nothing of it was summarised"
        f"{where}."
    )


def _end_of(piece: Unsaved, room: int) -> str:
    where = f" The whole of it is in {_line(piece.transcript)}." if piece.transcript else ""
    said = fenced(piece.text[-room:], "said") if room else ""
    return f"The end of what was said before the compaction, as data.{where}\n<said>\n{said}\n</said>"


def _line(text: str) -> str:
    """A text on one line, of a length for people to read."""
    return " ".join(text.split())[:300].replace("<", "‹")
