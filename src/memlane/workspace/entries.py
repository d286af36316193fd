"""What an entry looks like and where it goes in a note. Pure: the old text in, an insertion out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import UsageError
from ..values import Value
from .sections import closes, headings, opened_fence

_BULLET = r"\A[-*+][ \t]+"
_TIME = r"[0-9]{2}:[0-9]{2}(?:[ \t]+|$)"
_STRUCTURE = r"\A {0,3}(?=#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$|<!--)"
"""Before a heading's mark, the line under an underlined heading, or a comment that may never end."""
_RULE = r"[- \t]+"
_INDENT = "  "
_BOM = "\ufeff"


class Entry(Value, frozen=True):
    """One thing to remember: a bullet, its further lines indented so that they stay in it."""

    lines: tuple[str, ...]
    """The text without bullet and time; what could pass for structure of the note is escaped."""
    time: str = ""
    """`HH:MM`, or nothing."""

    def block(self) -> list[str]:
        """The lines as they stand in the note, the first one without bullet and time."""
        first, *rest = self.lines
        if self.time and opened_fence(first):
            first, rest = "", list(self.lines)
        return [first, *(f"{_INDENT}{line}" if line else "" for line in rest)]

    def written(self) -> str:
        """The entry as it stands in the note, ended by a newline."""
        first, *rest = self.block()
        mark = f"- {self.time} {first}" if self.time else f"- {first}"
        return "".join(f"{line}\n" for line in [mark.rstrip(), *rest])


class Insertion(Value, frozen=True):
    """Text to put into a note."""

    at: int
    """Offset in characters of the old text; its length means: append."""
    text: str
    line: int
    """1-based line at which the entry will stand."""


def entry_of(text: str, *, time: str = "") -> Entry:
    r"""The entry for a text. Raises UsageError when there is nothing to remember in it.

    NUL and halves of surrogate pairs become U+FFFD: they would make the whole note unreadable. Every line
    ending becomes `\n`, so that no reader of Markdown sees a line of the note's own in an entry.
    """
    text = _storable(text).replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise UsageError("there is nothing to remember: the text is empty")
    lines[0] = lines[0].lstrip()
    return Entry(tuple(_harmless(lines, first_is_bare=not time)), time)


def heading_of(text: str) -> str:
    """The title for a heading: one line, without `#` marks. Raises UsageError when nothing is left of it."""
    title = re.sub(r"^#{1,6}(?: |$)", "", " ".join(_storable(text).split()))
    title = re.sub(r"(?:^| )#+$", "", title)
    if not title:
        raise UsageError("the heading is empty")
    return title


def standing_line(old: str, entry: Entry) -> int | None:
    """The 1-based line at which the entry's text stands in the note already, at whatever time."""
    lines = [line.rstrip() for line in old.removeprefix(_BOM).split("\n")]
    first, *rest = entry.block()
    for number, line in enumerate(lines):
        if lines[number + 1 : number + 1 + len(rest)] != rest:
            continue
        bare = re.sub(_BULLET, "", line, count=1)
        if first in {line, bare} or (entry.time and first == _without_time(bare)):
            return number + 1
    return None


def appended(old: str, text: str, *, opening: str) -> Insertion:
    """How `text`, made of whole lines, goes to the end of `old`; an empty note begins with `opening`."""
    before = ""
    if not old.removeprefix(_BOM).strip():
        before = opening
        text = text.lstrip("\n")
    elif not old.endswith("\n"):
        before = "\n"
    line = old.count("\n") + before.count("\n") + 1
    return Insertion(len(old), (before + text).replace("\n", _ending(old)), line)


def insertion(old: str, entry: Entry, *, opening: str, heading: str | None = None) -> Insertion:
    """Where and how the entry goes into the note `old`.

    An empty note begins with `opening`. With `heading` the entry goes to the end of that section's own text,
    before its subsections; a missing section is added at the end. The note's line endings are used.
    """
    lines = old.split("\n")
    at, before = len(old), ""
    if not old.removeprefix(_BOM).strip():
        before = opening + (f"## {heading}\n\n" if heading else "")
    elif heading:
        at, before = _under(heading, lines)
    if at == len(old) and old not in {"", _BOM} and lines[-1]:
        before = f"\n{before}"
    text = before + entry.written()
    line = old.count("\n", 0, at) + before.count("\n") + 1
    return Insertion(at, text.replace("\n", _ending(old)), line)


def _under(title: str, raw: Sequence[str]) -> tuple[int, str]:
    """The offset at the end of a section's own text, and what must precede an entry there."""
    lines = [line.removesuffix("\r") for line in (raw[0].removeprefix(_BOM), *raw[1:])]
    found = headings(lines)
    index = next((i for i, one in enumerate(found) if one.title.casefold() == title.casefold()), None)
    end_of_note = sum(len(line) + 1 for line in raw) - 1
    if index is None:
        gap = "\n" if any(line.strip() for line in lines[-2:]) else ""
        return end_of_note, f"{gap}## {title}\n\n"
    start = found[index].line
    end = found[index + 1].line if index + 1 < len(found) else len(lines)
    last = max(number for number in range(start, end) if lines[number].strip())
    if end < len(lines):
        return sum(len(line) + 1 for line in raw[: last + 1]), "\n" if last == start else ""
    return end_of_note, "\n" if last == start and len(lines) - last <= 2 else ""


def _harmless(lines: Sequence[str], *, first_is_bare: bool) -> list[str]:
    """The lines with whatever could pass for structure of the note escaped, and fenced code closed."""
    result: list[str] = []
    fence = ""
    for number, line in enumerate(lines):
        if fence:
            ends = closes(fence, line)
            result.append(line.lstrip(" ") if ends else line)
            fence = "" if ends else fence
        elif number == 0 and not first_is_bare and not opened_fence(line):
            result.append(line)
        elif fence := opened_fence(line):
            result.append(line.lstrip(" "))
        elif number == 0 and re.fullmatch(_RULE, line):
            result.append(f"\\{line}")
        else:
            indent = len(line) - len(line.lstrip(" \t"))
            spaced = line[:indent].expandtabs(4) + line[indent:]
            result.append(re.sub(_STRUCTURE, lambda found: f"{found[0]}\\", spaced, count=1))
    return [*result, fence] if fence else result


def _storable(text: str) -> str:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "\ufffd")


def _without_time(line: str) -> str:
    found = re.match(_TIME, line)
    return line[found.end() :] if found else line


def _ending(old: str) -> str:
    first = old.find("\n")
    return "\r\n" if first > 0 and old[first - 1] == "\r" else "\n"
