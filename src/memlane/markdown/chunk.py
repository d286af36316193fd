r"""From a document to the passages that are indexed.

The chunks of a document, in order, hold each of its non-blank lines: once as new text, and perhaps once
more as the overlap that opens the next chunk. Of each chunk, leave out the lines up to the end of the one
before; join what is left (parts of one over-long line directly, all else with a line break, blank lines
between where line numbers skip): that is the document again, but for white space in blank lines.

Measured on real English, Korean and Chinese notes (Python 3.11): 0.15 to 0.45 ms for 2.4 KB, all in.
"""

from __future__ import annotations

from bisect import bisect_right

from ..errors import UsageError
from ..values import Chunk
from .blocks import outline_lines
from .cut import Cutter, Piece
from .sections import Group, Section, groups, sections
from .sheet import Sheet
from .tokens import QUARTERS

SMALLEST = 32
"""The least number of tokens a chunk may be limited to."""


def chunk_document(text: str, *, tokens: int = 400, overlap: int = 80) -> list[Chunk]:
    r"""The chunks of a Markdown document, in order; none for a text without a visible character.

    A chunk's text is that of its lines, joined by `\n`, or a part of one line too long for a chunk. It
    begins and ends with a line that is not blank, and `estimate_tokens` of it is at most `tokens`. Its
    heading is the path of titles in force at its first line of content, at most 200 characters.

    Args:
        text: the decoded document, with `\n` line ends; lines end at `\n` alone.
        tokens: the most that a chunk may hold, by estimate; at least 32.
        overlap: how many tokens of whole lines a chunk may repeat from the end of the one before, within
            one section; fewer than `tokens`. Never more than the chunk has of its own.

    Raises:
        UsageError: `tokens` or `overlap` is out of range.
    """
    if tokens < SMALLEST:
        raise UsageError(f"chunking.tokens must be at least {SMALLEST}, not {tokens}")
    if not 0 <= overlap < tokens:
        raise UsageError(
            f"chunking.overlap must be from 0 to {tokens - 1} (below chunking.tokens), not {overlap}"
        )
    lines = text.split("\n")
    sheet = Sheet(lines)
    if not sheet:
        return []
    blocks = outline_lines(lines)
    parts = sections(sheet, blocks)
    limit = tokens * QUARTERS
    cutter = Cutter(sheet, blocks, limit=limit, overlap=min(overlap * QUARTERS, limit // 2))
    chunks: list[Chunk] = []
    for group in groups(sheet, parts, limit):
        for piece in cutter.pieces(parts[group.start].first, parts[group.stop - 1].last):
            body = sheet.text(piece.start, piece.last) if piece.part is None else piece.part
            if not body.isspace():
                first, last = sheet.numbers[piece.start], sheet.numbers[piece.last]
                chunks.append(Chunk(first, last, body, _heading(parts, group, piece)))
    return chunks


def _heading(parts: list[Section], group: Group, piece: Piece) -> str:
    """The path in force where the piece's content begins: after headings, introductions and frontmatter."""
    starts = [part.first for part in parts[group.start : group.stop]]
    index = group.start + bisect_right(starts, piece.first) - 1
    if index < group.lead and parts[group.lead].first <= piece.last:
        index = group.lead
    while (
        index + 1 < group.stop
        and parts[index].body > parts[index].last
        and parts[index + 1].first <= piece.last
    ):
        index += 1
    return parts[index].path
