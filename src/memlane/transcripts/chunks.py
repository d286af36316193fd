"""Neighbouring turns as passages, as the turns come in. Pure.

A passage takes in the next turn while there is room for it, so that a question stands with its answer. It
does not go on over a long pause, which parts one conversation from the next, nor over a great deal of what
tools wrote. A message too long for a passage is cut like any text, into passages of its own line.

What has been read of a transcript and what comes later give the same passages as both read at once: the last
passage stays open, and reading goes on from where it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from ..markdown import chunk_document, estimate_tokens
from ..values import Value
from .turns import Turn

LONGEST_PAUSE = timedelta(hours=6)
_FARTHEST = 2**20
"""Bytes of transcript that a passage spans at most, so that going on never reads more than that again."""
_SEGMENT = 2**16
"""Characters of a long message that are cut at once."""


class TurnChunk(Value, frozen=True):
    """A passage of a transcript."""

    start_line: int
    end_line: int
    text: str
    first: datetime | None
    """When its first turn was said, in UTC."""
    last: datetime | None
    heading: str = ""
    """Where in a long message it stands."""


class TurnChunker:
    """Makes passages of at most `tokens` of turns in their order."""

    def __init__(self, *, tokens: int, overlap: int) -> None:
        """`overlap` is for parts of one long message."""
        self._tokens = tokens
        self._overlap = overlap
        self._open: list[Turn] = []
        self._size = 0

    @property
    def open_turn(self) -> Turn | None:
        """The first turn of the passage that may still grow."""
        return self._open[0] if self._open else None

    def add(self, turn: Turn) -> Iterator[TurnChunk]:
        """Take in a turn; gives the passages that are complete now, of earlier lines or its own."""
        size = estimate_tokens(turn.text) + 1  # the line break between two
        if self._open and not self._may_grow(turn, size):
            yield self._closed()
        if size > self._tokens:
            yield from self._parts(turn)
            return
        self._open.append(turn)
        self._size += size

    def finish(self) -> Iterator[TurnChunk]:
        """There is no further turn for now: the passage that is still open."""
        if self._open:
            yield self._closed()

    def _may_grow(self, turn: Turn, size: int) -> bool:
        first, last = self._open[0], self._open[-1]
        if self._size + size > self._tokens or turn.end - first.start > _FARTHEST:
            return False
        return not (turn.moment and last.moment) or turn.moment - last.moment <= LONGEST_PAUSE

    def _closed(self) -> TurnChunk:
        turns, self._open, self._size = self._open, [], 0
        moments = [turn.moment for turn in turns if turn.moment]
        return TurnChunk(
            turns[0].line,
            turns[-1].line,
            "\n".join(turn.text for turn in turns),
            moments[0] if moments else None,
            moments[-1] if moments else None,
        )

    def _parts(self, turn: Turn) -> Iterator[TurnChunk]:
        for segment in _segments(turn.text):
            for chunk in chunk_document(segment, tokens=self._tokens, overlap=self._overlap):
                yield TurnChunk(turn.line, turn.line, chunk.text, turn.moment, turn.moment, chunk.heading)


def _segments(text: str) -> Iterator[str]:
    """A long text in pieces that end with a line where there is one."""
    start = 0
    while len(text) - start > _SEGMENT:
        end = text.rfind("\n", start + 1, start + _SEGMENT) + 1 or start + _SEGMENT
        yield text[start:end]
        start = end
    yield text[start:]
