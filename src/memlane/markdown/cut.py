"""Where a run of lines too long for one chunk is cut, and what the next piece repeats.

Every line is given the strength of the border before it: a heading is the best place for a cut, the
middle of a paragraph a poor one, fenced code or a table that would fit whole no place at all. A piece
then ends at the border that weighs strength against evenness: the pieces of a run are to be of about
one size, since a remainder of two lines would make a poor chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ..values import Value
from .blocks import Block
from .long_lines import split_line
from .sheet import Sheet

# Strengths of the border before a line, from "never" to "by all means".
_NEVER = 0  # within code, a table, HTML or a heading that fits into one chunk
_ORPHAN = 1  # between a heading and its text
_BROKEN = 2  # within code, a table or HTML too long for one chunk …
_PAUSED = 3  # … after a blank line there
_LINE = 4  # within a paragraph
_NESTED = 5  # before a block within a list item or quote
_ITEM = 6  # before a list item; between a paragraph and the list, code or table it leads up to
_BLOCK = 7  # between blocks
_HEADING = 8

_WHOLE = frozenset({"fence", "code", "table", "html", "heading"})
_LED_UP_TO = frozenset({"fence", "code", "table", "list", "quote"})

_UNEVENNESS = 6
"""What the square of the relative distance from the even size costs, in steps of strength: a cut at half
the even size loses a step and a half."""


class Piece(Value, frozen=True):
    """Lines that make a chunk, by position."""

    start: int
    """Where its text begins, with what it repeats of the piece before."""
    first: int
    """Its first line that is not repeated."""
    last: int
    part: str | None = None
    """Part of one over-long line; then the three positions are the same."""


class Cutter:
    """Cuts runs of a document. `limit` and `overlap` are weights (quarters of a token)."""

    def __init__(self, sheet: Sheet, blocks: Sequence[Block], *, limit: int, overlap: int) -> None:
        self._sheet = sheet
        self._blocks = blocks
        self._limit = limit
        self._overlap = overlap
        self._strengths: list[int] = []

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """The pieces of the run between two positions, in order. Their lines from `first` on cover it."""
        sheet, limit = self._sheet, self._limit
        if sheet.size(first, last) <= limit:
            yield Piece(first, first, last)
            return
        if not self._strengths:
            self._strengths = self._weigh_borders()
        before = first
        while first <= last:
            if sheet.reach(first, limit) < first:
                line = sheet.text(first, first)
                yield from (Piece(first, first, first, part) for part in split_line(line, limit))
                before = first = first + 1
                continue
            start = self._repeat(before, first)
            end = self._end(first, last, limit - sheet.distance(start, first))
            if end < first:
                # The whole limit is needed: for a long line, or for code or a table to stay whole.
                end = max(self._end(first, last, limit), first)
            room = min(limit - sheet.size(first, end), sheet.size(first, end))
            yield Piece(self._trim(start, first, room), first, end)
            before, first = first, end + 1

    def _end(self, first: int, last: int, limit: int) -> int:
        """The last position of the piece that begins at `first`, or first − 1 if none can end well."""
        sheet, strengths = self._sheet, self._strengths
        reach = sheet.reach(first, limit)
        if reach >= last:
            return last
        left = sheet.size(first, last)
        even = left / -(-left // limit)
        best, found = -inf, first - 1
        for end in range(first, reach + 1):
            strength = strengths[end + 1]
            if strength == _NEVER:
                continue
            uneven = (sheet.size(first, end) - even) / even
            score = strength - _UNEVENNESS * uneven * uneven
            if score > best:
                best, found = score, end
        return found

    def _repeat(self, before: int, first: int) -> int:
        """Where the text repeated before `first` begins.

        Whole lines of the piece from `before` on, not all of it, nothing of another section, and no
        torn-off end of code or of a table.
        """
        best = first
        if self._strengths[first] in (_HEADING, _ORPHAN):
            return best
        for start in range(first - 1, before, -1):
            if self._sheet.distance(start, first) > self._overlap:
                break
            if self._may_open(start, first):
                best = start
            if self._strengths[start] == _ORPHAN:
                break  # the section's heading is above
        return best

    def _trim(self, start: int, first: int, room: int) -> int:
        """The repeated text again, shortened to a weight of `room`."""
        while self._sheet.distance(start, first) > room or not self._may_open(start, first):
            start += 1
        return start

    def _may_open(self, start: int, first: int) -> bool:
        """Whether a chunk whose new text begins at `first` may begin at `start`: not amid other code."""
        strengths = self._strengths
        return (
            start == first or strengths[start] not in (_NEVER, _BROKEN, _PAUSED) or strengths[first] < _LINE
        )

    def _weigh_borders(self) -> list[int]:
        """The strength of the border before each position, and of the document's end."""
        sheet = self._sheet
        strengths = [_LINE] * (len(sheet) + 1)
        led = -1  # the position after a paragraph, where a list or code may belong to it
        for block in self._blocks:
            first, last = sheet.position(block.start), sheet.position(block.end + 1) - 1
            if strengths[first] != _ORPHAN:
                strengths[first] = max(strengths[first], _strength(block, led=first == led))
            if block.kind in _WHOLE:
                self._bind(strengths, first, last)
            if block.depth == 0:
                led = last + 1 if block.kind == "paragraph" else -1
                if block.kind == "heading":
                    strengths[last + 1] = _ORPHAN
        return strengths

    def _bind(self, strengths: list[int], first: int, last: int) -> None:
        """Hold the lines of a block together."""
        sheet = self._sheet
        fits = sheet.size(first, last) <= self._limit
        for position in range(first + 1, last + 1):
            after_blank = sheet.numbers[position] - sheet.numbers[position - 1] > 1
            strengths[position] = _NEVER if fits else _PAUSED if after_blank else _BROKEN


def _strength(block: Block, *, led: bool) -> int:
    if block.depth == 0:
        if block.kind == "heading":
            return _HEADING
        return _ITEM if led and block.kind in _LED_UP_TO else _BLOCK
    return _ITEM if block.kind == "item" and block.depth == 1 else _NESTED
