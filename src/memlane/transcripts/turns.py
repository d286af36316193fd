"""What was said in a session: the text of user and assistant alone, secrets masked. Pure.

Left out are tool calls, their results and thinking; answers to nobody; and text that came out of memory,
which would otherwise be found a second time as if it had been said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from ..values import Value
from .lines import Entry

RECALL_TAG = "memory-recall"
"""Text that is put into a session from memory stands between `<memory-recall …>` and `</memory-recall>`."""
_NOTES_TAG = "memlane-notes"
"""The fence round the notes that a session starts with (`memlane context`)."""

_NAMES = {"user": "User", "assistant": "Assistant"}
_LONGEST_MESSAGE = 1_000_000
"""Characters: a longer one is a file that somebody pasted, of which the beginning says what it is."""
_RECALLED = re.compile(rf"<({RECALL_TAG}|{_NOTES_TAG})\b[^>]*>")
_TO_NOBODY = re.compile(r"[\W_]*(?:no\\?_reply|heartbeat\\?_ok)[\W_]*", re.IGNORECASE)
"""What an assistant answers when there is nothing to deliver: this and nothing else."""
_LONGEST_TO_NOBODY = 64


class Turn(Value, frozen=True):
    """One message that was said."""

    line: int
    """Of the transcript, 1-based."""
    start: int
    """The first byte of that line."""
    end: int
    text: str
    """`User: …` or `Assistant: …`."""
    moment: datetime | None
    """When, in UTC."""


def turn_of(entry: Entry, sanitize: Callable[[str], str]) -> Turn | None:
    """What was said by an entry; None where nothing was, or nobody is to read it."""
    message = entry.message
    name = _NAMES.get(role) if isinstance(role := message.get("role"), str) else None
    if name is None:
        return None
    text = without_recalled(_text_of(message.get("content"))).strip()
    if not text or (name == "Assistant" and _is_to_nobody(text)):
        return None
    # Masked before it is cut: a torn secret has no shape.
    said = sanitize(text.replace("\r\n", "\n").replace("\0", "\ufffd"))[:_LONGEST_MESSAGE]
    return Turn(entry.line, entry.start, entry.end, f"{name}: {said}", entry.moment)


def without_recalled(text: str) -> str:
    """A text without what was put into it from memory; a block without an end goes on to the last line."""
    parts: list[str] = []
    done = 0
    for opening in _RECALLED.finditer(text):
        if opening.start() < done:
            continue
        parts.append(text[done : opening.start()])
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            return "".join(parts)
        done = end + len(closing)
    return "".join((*parts, text[done:]))


def _text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_to_nobody(text: str) -> bool:
    return len(text) <= _LONGEST_TO_NOBODY and _TO_NOBODY.fullmatch(text) is not None
