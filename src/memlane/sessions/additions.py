"""What of a model's text is new to a day's log: block by block, nothing repeated, nothing rewritten. Pure.

A model asked to append may hand over the whole file, written anew. So its text is taken apart into blocks
(list items, paragraphs, tables, code …), and only those that stand nowhere yet are added, after all there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from ..markdown import outline
from ..values import Value
from ..workspace.entries import Entry, entry_of

_BULLET = r"\A[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+"
_TIME = r"\A([0-2][0-9]:[0-5][0-9])\s+"
_LINE_BREAK = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")


class Additions(Value, frozen=True):
    """What is to be appended to a log."""

    entries: tuple[Entry | str, ...]
    """Entries, and headings (as lines) before those that stand under them."""
    repeated: int = 0
    """Blocks that stand there already."""
    left_out: int = 0
    """Blocks beyond the size that may be written."""

    @property
    def added(self) -> int:
        """How many blocks are new."""
        return sum(isinstance(entry, Entry) for entry in self.entries)

    def written(self) -> str:
        """The text to append."""
        return "".join(_as_written(entry) for entry in self.entries)


def additions(text: str, known: Iterable[str], *, time: str, room: int) -> Additions:
    """The blocks of `text` that stand in none of the `known` texts, as entries of a log.

    A block that names no time of its own gets `time` (`HH:MM`). At most `room` characters are written; blocks
    that do not fit are left out whole, and counted.
    """
    seen = {key for old in known for key in _keys(_plain(old))}
    entries: list[Entry | str] = []
    heading, repeated, left_out = "", 0, 0
    for kind, block in _blocks(_plain(text)):
        if kind == "heading":
            heading = "" if _names_day(block) else block
            continue
        if not _key(block):
            continue
        entry = _entry(kind, block, time)
        # As the model has it, and as it would stand in the log: marks escaped, code closed.
        names = {_key(block), _key(entry.written())}
        if names & seen:
            repeated += 1
            continue
        new: list[Entry | str] = [f"\n{heading}\n\n", entry] if heading else [entry]
        size = sum(len(_as_written(one)) for one in new)
        if size > room:
            left_out += 1
            continue
        room -= size
        entries += new
        heading = ""
        seen |= names
    return Additions(tuple(entries), repeated, left_out)


def _entry(kind: str, block: str, time: str) -> Entry:
    """A block as an entry: an item without its mark and indentation, at its own time where it names one."""
    lines = block.split("\n")
    if kind == "item":
        mark = re.match(_BULLET, lines[0])
        width = len(mark[0]) if mark else 0
        lines = [lines[0][width:], *(_dedented(line, width) for line in lines[1:])]
    named = re.match(_TIME, lines[0])
    if named:
        lines[0] = lines[0][named.end() :]
    if not lines[0].strip() and len(lines) == 1:
        lines = [block]
    return entry_of("\n".join(lines), time=named[1] if named else time)


def _dedented(line: str, width: int) -> str:
    blank = len(line) - len(line.lstrip(" \t"))
    return line[min(width, blank) :]


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The top blocks in order, lists by their items: what each is, and its text."""
    lines = text.split("\n")
    end = 0
    for block in outline(text):
        wanted = (block.kind == "item" and block.depth == 1) or (block.depth == 0 and block.kind != "list")
        if block.start > end and wanted and block.kind not in {"frontmatter", "rule"}:
            end = block.end
            kind = "item" if block.kind == "item" else "heading" if block.kind == "heading" else "text"
            yield kind, "\n".join(lines[block.start - 1 : block.end])


def _keys(text: str) -> Iterator[str]:
    """By what every block of a text, nested ones included, is known again."""
    lines = text.split("\n")
    for block in outline(text):
        if block.kind not in {"list", "heading", "frontmatter", "rule"}:
            yield _key("\n".join(lines[block.start - 1 : block.end]))


def _key(block: str) -> str:
    """A block without its mark, time and white space; two that say the same have the same key."""
    bare = re.sub(_TIME, "", re.sub(_BULLET, "", block).lstrip())
    lines = (re.sub(r"\A\\(?=[#=\-<])", "", line.strip()) for line in bare.split("\n"))
    return " ".join(" ".join(lines).split())


def _names_day(heading: str) -> bool:
    """Whether a heading is the title that every log has: its date."""
    title = heading.strip("# \t=-\n")
    try:
        date.fromisoformat(title)
    except ValueError:
        return False
    return True


def _as_written(entry: Entry | str) -> str:
    return entry.written() if isinstance(entry, Entry) else entry


def _plain(text: str) -> str:
    return _LINE_BREAK.sub("\n", text.removeprefix("\ufeff"))
