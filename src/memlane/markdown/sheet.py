"""The lines of a document that carry text, numbered and weighed, so that any run of them is measured at once.

Everything that decides where chunks begin and end counts in *positions*: 0 is the first line that is not
blank, 1 the next one. A run between two positions takes in the blank lines between them and none at its
ends, so a chunk never begins or ends with one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from .tokens import weight


class Sheet:
    """A document, measured. Weights are quarters of a token; a line break weighs one."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.numbers = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
        """The 1-based line number at each position."""
        totals = list(accumulate((weight(line) + 1 for line in lines), initial=0))
        self._begins = [totals[number - 1] for number in self.numbers]
        self._ends = [totals[number] - 1 for number in self.numbers]

    def __len__(self) -> int:
        return len(self.numbers)

    def size(self, first: int, last: int) -> int:
        """The weight of the text between two positions, 0 for an empty run."""
        return self._ends[last] - self._begins[first] if first <= last else 0

    def reach(self, first: int, limit: int) -> int:
        """The last position up to which the text from `first` on weighs at most `limit`, or first − 1."""
        return bisect_right(self._ends, self._begins[first] + limit, lo=first) - 1

    def distance(self, first: int, later: int) -> int:
        """What the text from `first` up to, not including, `later` adds to a chunk that begins there."""
        return self._begins[later] - self._begins[first]

    def position(self, number: int) -> int:
        """The first position at or after a line number."""
        return bisect_left(self.numbers, number)

    def text(self, first: int, last: int) -> str:
        """The very lines between two positions."""
        return "\n".join(self.lines[self.numbers[first] - 1 : self.numbers[last]])
