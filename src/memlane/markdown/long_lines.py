"""Cutting one line that is longer than a chunk."""

from __future__ import annotations

import re
from bisect import bisect_right

from .graphemes import is_border, last_border
from .tokens import running_weights, weight

_SENTENCE = re.compile(r"[.!?…]['\")\]’”»]*\s+|[。！？｡]+[」』”’）]*\s*")
_WORD = re.compile(r"\s+|[，、；：;]\s*")


def split_line(line: str, limit: int) -> list[str]:
    """Parts of `line`, each of a weight of at most `limit`, of about the same size; joined, the line.

    A part ends after a sentence, else after a word, else between two characters as a reader sees them
    (grapheme clusters). A single cluster heavier than `limit` is cut inside. `limit` is at least one
    character's weight. A part may be blank, where the line has that much white space.
    """
    parts: list[str] = []
    start, left = 0, weight(line)
    while left > limit:
        window = line[start : start + limit]  # a character weighs at least one
        sums = running_weights(window)
        most = bisect_right(sums, limit)
        aim = bisect_right(sums, -(-left // -(-left // limit)))
        end = _border(line, start, start + aim, start + most)
        parts.append(line[start:end])
        left -= sums[end - start - 1]
        start = end
    if start < len(line):
        parts.append(line[start:])
    return parts


def _border(line: str, start: int, aim: int, most: int) -> int:
    """Where to cut `line[start:most]`: as near to `aim` as a good border allows."""
    reach = (aim - start) // 2
    for pattern in (_SENTENCE, _WORD):
        ends = [found.end() for found in pattern.finditer(line, aim - reach, min(aim + reach, most))]
        ends = [end for end in ends if is_border(line, end, start)]
        if ends:
            return min(ends, key=lambda end: abs(end - aim))
    for end in range(aim, start, -1):
        if is_border(line, end, start):
            return end
    return last_border(line, aim, most)
