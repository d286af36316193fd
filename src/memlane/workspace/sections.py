"""Where the headings of a note stand, as far as cutting and inserting need it. Pure.

Headings marked by `#` only, outside fenced code, HTML comments and frontmatter. Underlined headings are left
out: a rule below a paragraph looks the same, and a border too few harms neither a cut nor an insertion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..values import Value

_HEADING = r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*"
_FENCE = r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)"

_MARKERS = r" {0,3}(?:(?:[-*+]|[0-9]{1,9}[.)]) +)+"


class Heading(Value, frozen=True):
    """A heading and its 0-based line."""

    line: int
    level: int
    title: str


def headings(lines: Sequence[str]) -> list[Heading]:
    """The headings of a note given by its lines (without line endings)."""
    found = []
    hidden = hidden_lines(lines)
    for number, line in enumerate(lines):
        if number not in hidden and (match := re.fullmatch(_HEADING, line)):
            found.append(Heading(number, len(match[1]), (match[2] or "").strip()))
    return found


def hidden_lines(lines: Sequence[str]) -> set[int]:
    """The 0-based lines in which Markdown marks mean nothing: frontmatter, fenced code, HTML comments."""
    hidden = set(range(_frontmatter_length(lines)))
    fence, offset, comment = "", 0, False
    for number in range(len(hidden), len(lines)):
        line = lines[number]
        if fence and line[:offset].strip():
            fence = ""  # the list item that the code stood in is over
        if fence:
            hidden.add(number)
            fence = "" if closes(fence, line[offset:]) else fence
        elif comment or line.lstrip(" ").startswith("<!--"):
            hidden.add(number)
            comment = "-->" not in line
        else:
            marker = re.match(_MARKERS, line)
            offset = len(marker[0]) if marker else 0
            fence = opened_fence(line[offset:])
            hidden.update([number] if fence else [])
    return hidden


def opened_fence(line: str) -> str:
    """The mark that begins fenced code on this line, or an empty string."""
    match = re.fullmatch(_FENCE, line)
    return match[1] if match else ""


def closes(fence: str, line: str) -> bool:
    """Whether a line ends the fenced code that began with `fence`."""
    match = re.fullmatch(_FENCE, line)
    return match is not None and match[1].startswith(fence) and not match[2].strip()


def _frontmatter_length(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in {"---", "..."}:
            return number + 1
    return 0
