"""How far a forgotten place of a note reaches: the entry, paragraph, heading or row it stands in. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BULLET = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)")
_ALONE = re.compile(r" {0,3}(?:#{1,6}(?:[ \t]|$)|\||>|```|~~~|<!--|---|===)")
"""Headings, rows, quotations, fences: a line of these stands for itself."""
_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(```+|~~~+)")


def reached(lines: Sequence[str], spans: Iterable[tuple[int, int]]) -> set[int]:
    """The 0-based lines that go, for places given by first and last line.

    An item of a list goes with what is indented below it, a paragraph as a whole. In fenced code the lines
    themselves go, as do headings and rows of tables.
    """
    fenced = _fenced(lines)
    gone: set[int] = set()
    for first, last in spans:
        gone.update(range(first, last + 1))
        for line in range(first, last + 1):
            if line not in gone or lines[line].strip():
                gone.update(_entry(lines, line, fenced))
    return gone


def _entry(lines: Sequence[str], line: int, fenced: set[int]) -> range:
    start = line
    while (item := _item_above(lines, start, fenced)) is None and _goes_on(lines, start, fenced):
        start -= 1
    if item is not None:
        return range(item, _end_of_item(lines, item) + 1)
    if line in fenced or _ALONE.match(lines[line]):
        return range(line, line + 1)
    end = line
    while end + 1 < len(lines) and _is_text(lines, end + 1, fenced):
        end += 1
    return range(start, end + 1)


def _item_above(lines: Sequence[str], line: int, fenced: set[int]) -> int | None:
    """The first line of the list item in which a line stands; None where it stands in none."""
    if line not in fenced and _BULLET.match(lines[line]):
        return line
    indent = _indent(lines[line])
    if not indent:
        return None
    for above in range(line - 1, -1, -1):
        text = lines[above]
        if not text.strip():
            continue
        if _BULLET.match(text) and _indent(text) < indent:
            return above
        lazy = above > 0 and bool(lines[above - 1].strip()) and not _ALONE.match(text)
        if _indent(text) == 0 and not lazy:
            return None
    return None


def _end_of_item(lines: Sequence[str], item: int) -> int:
    indent, end = _indent(lines[item]), item
    lazy = True
    for line in range(item + 1, len(lines)):
        text = lines[line]
        if not text.strip():
            lazy = False
            continue
        deeper = _indent(text) > indent
        continued = lazy and not _BULLET.match(text) and not _ALONE.match(text)
        if not deeper and not continued:
            break
        end = line
    return end


def _goes_on(lines: Sequence[str], line: int, fenced: set[int]) -> bool:
    """Whether a line goes on with the paragraph that the line above it is of."""
    if line == 0 or not _is_text(lines, line, fenced):
        return False
    return bool(lines[line - 1].strip()) and not _ALONE.match(lines[line - 1]) and line - 1 not in fenced


def _is_text(lines: Sequence[str], line: int, fenced: set[int]) -> bool:
    text = lines[line]
    return bool(text.strip()) and line not in fenced and not _ALONE.match(text) and not _BULLET.match(text)


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))


def _fenced(lines: Sequence[str]) -> set[int]:
    """The lines within fenced code, the fences included."""
    found: set[int] = set()
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            found.add(number)
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and line.strip() == mark[1]:
                fence = ""
        elif mark:
            found.add(number)
            fence = mark[1]
    return found
