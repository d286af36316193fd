"""Compaction: where a conversation is cut, and how a context is put together again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..markdown.tokens import QUARTERS, running_weights
from ..values import Value
from .chat import Message
from .decision import message_tokens
from .prompts import said, summary_message

KEEP_TOKENS = 20_000
"""Recent turns that are kept whole, as far as they take no more than this and a quarter of the window."""


class Recorded(Value, frozen=True):
    """A message, or the summary that stands for older ones, as a transcript holds it."""

    id: str
    message: Message | None = None
    summary: str = ""
    first_kept: str = ""
    """Of a summary: the id of the first message that is kept."""


def cut_point(messages: Sequence[Message], *, keep: int, most: int) -> int:
    """The index of the first message that is kept whole; what precedes it is summarised. 0: nothing is.

    It is a message of the user: of those from which on the messages take at most `keep` tokens the first
    one, otherwise the last one of all. A last turn that alone takes more than `most` is cut within, before a
    message of the assistant; a tool's answer is never parted from its call.
    """
    start = _suffix(messages, keep)
    turns = [index for index, message in enumerate(messages) if message.role == "user" and index > 0]
    last = turns[-1] if turns else 0
    if _suffix(messages, most) > last:
        answers = (index for index in range(start, len(messages)) if messages[index].role == "assistant")
        return next(answers, last)
    fitting = (index for index in turns if index >= start)
    return next(fitting, last) if start else last


def _suffix(messages: Sequence[Message], tokens: int) -> int:
    """The index from which on messages take at most so many tokens."""
    start = len(messages)
    while start and (tokens := tokens - message_tokens(messages[start - 1])) >= 0:
        start -= 1
    return start


def spliced(recorded: Iterable[Recorded]) -> tuple[str, list[Recorded]]:
    """The summary in force and the messages after it, of a transcript from its beginning.

    Of several summaries the last one counts. One whose first kept message is not there keeps none of those
    before it.
    """
    summary, kept = "", []
    for item in recorded:
        if item.message is not None:
            kept.append(item)
        else:
            summary = item.summary
            first = next((n for n, old in enumerate(kept) if old.id == item.first_kept), len(kept))
            kept = kept[first:]
    return summary, kept


def context_of(system: str, summary: str, messages: Iterable[Message]) -> list[Message]:
    """What the model is shown: the system prompt, the summary, the messages."""
    head = [Message("system", system)] if system else []
    return [*head, *([summary_message(summary)] if summary else []), *messages]


def parts(messages: Sequence[Message], most: int) -> list[str]:
    """Messages as texts of at most `most` tokens each, whole messages where they fit."""
    result: list[str] = []
    text, room = "", most
    for message in messages:
        for piece in _pieces(said([message]), most):
            size = -(-_weight(piece) // QUARTERS) + 1
            if text and size > room:
                result.append(text)
                text, room = "", most
            text = f"{text}\n\n{piece}" if text else piece
            room -= size
    return [*result, text] if text else result


def _pieces(text: str, most: int) -> Iterable[str]:
    """A text in pieces of at most `most` tokens."""
    while text:
        weights = running_weights(text)
        if weights[-1] <= most * QUARTERS:
            yield text
            return
        end = max(1, next(n for n, weight in enumerate(weights) if weight > most * QUARTERS))
        yield text[:end]
        text = text[end:]


def _weight(text: str) -> int:
    return running_weights(text)[-1] if text else 0
