r"""The block structure of a Markdown document, with the lines of each block.

A line scanner after the block phase of CommonMark (containers that a line continues, then what it
opens, then lazy continuation), with GitHub's tables and with frontmatter. It reads no inline markup.
markdown-it-py was measured first, block rules alone: for 2.4 KB of real notes 0.2 ms where they are mostly
code, 0.5 to 1.3 ms where they are lists, tables and short sections, and 55 ms once for its import. This
scanner takes 0.06 to 0.2 ms for the same notes and next to nothing to import.
The tests hold it against markdown-it-py's line maps. Lines are split at `\n` alone, so that they are the
lines every other part of the product counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ..values import Value
from . import starts
from .frontmatter import frontmatter_length

Kind = Literal[
    "frontmatter", "heading", "fence", "code", "html", "table", "paragraph", "rule", "list", "item", "quote"
]

_DEEPEST = 32
"""Nested quotes and lists beyond this depth are running text: a line of a million `>` stays cheap."""


class Block(Value, frozen=True):
    """One block. Lines are 1-based and inclusive; blank lines at the end do not belong to it."""

    kind: Kind
    start: int
    end: int
    depth: int = 0
    """How many blocks enclose it. Only headings of depth 0 divide a document."""
    level: int = 0
    """1–6 for a heading."""
    title: str = ""
    """The source of a heading's text."""


def outline(text: str) -> list[Block]:
    r"""Every block of `text`, enclosing ones before enclosed ones, in order of their first lines.

    `text` has `\n` line ends only. Any text is valid; what looks like frontmatter but is not YAML or TOML
    is Markdown. Link definitions count as paragraphs.
    """
    return outline_lines(text.split("\n"))


def outline_lines(lines: Sequence[str]) -> list[Block]:
    r"""The same as `outline` for a document already split at `\n`."""
    scan = _Scan()
    length = frontmatter_length(lines)
    if length:
        scan.blocks.append(Block("frontmatter", 1, length))
    scan.run(lines, length)
    scan.blocks.sort(key=_order)
    return scan.blocks


def _order(block: Block) -> tuple[int, int]:
    return block.start, block.depth


def _indented(line: str) -> bool:
    """Whether the line is code by its indentation, where there is no paragraph to go on with."""
    return line.startswith("    ")


class _Container(Struct):
    """An open list, list item or quote."""

    kind: Kind
    start: int
    marker: str = ""
    width: int = 0
    """Of an item: how far its content is indented."""
    empty: bool = False
    """An item without anything in it so far."""


class _Leaf(Struct):
    """The open block that takes lines of text."""

    kind: Kind
    start: int
    until: re.Pattern[str] | None = None
    """Of fenced code and HTML: what ends it."""
    parts: list[str] = []
    """Of a paragraph: its lines without what encloses them."""


class _Scan:
    """The state between two lines: what is open, and the blocks closed so far."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.nest: list[_Container] = []
        self.leaf: _Leaf | None = None
        self.number = 0
        self.last = 0
        """The last line that was not blank: where a block that closes now has ended."""

    def run(self, lines: Sequence[str], skip: int) -> None:
        """Read all lines after the first `skip` ones and close what is left open."""
        self.number = self.last = skip
        for line in lines[skip:] if skip else lines:
            self.number += 1
            # Most lines are running text or code outside of any container: the short way for them.
            if self.nest or not self.go_on(line):
                self.read(line)
        self.leave(0)

    def go_on(self, line: str) -> bool:
        """Take a line that plainly goes on with the open text or code, or begins a paragraph."""
        leaf = self.leaf
        if leaf is not None and leaf.kind == "fence":
            first = line.lstrip(" \t")[:1]
            if not first or first in "`~":
                return False
        elif not line or line[0] in starts.OPENERS:
            return False
        elif leaf is None:
            self.leaf = _Leaf("paragraph", self.number, None, [line])
        elif leaf.kind in ("paragraph", "table"):
            leaf.parts.append(line)
        else:
            return False
        self.last = self.number
        return True

    def read(self, line: str) -> None:
        """Take one line."""
        kept, rest = self.enclosing(line.expandtabs(4) if "\t" in line else line)
        if not rest.strip(" "):
            self.blank(kept)
            if starts.is_blank(line):
                return
        else:
            if kept:
                self.nest[kept - 1].empty = False
            leaf = self.leaf
            if leaf is None or leaf.until is None or kept < len(self.nest):
                self.open(kept, rest)
            elif leaf.until.search(rest):
                self.close_leaf(self.number)
        self.last = self.number

    def enclosing(self, rest: str) -> tuple[int, str]:
        """How many of the open containers the line goes on with, and the line without their markers."""
        for index, container in enumerate(self.nest):
            if container.kind == "item":
                indent = len(rest) - len(rest.lstrip(" "))
                if indent == len(rest) and not container.empty:
                    rest = ""
                elif container.width <= indent < len(rest):
                    rest = rest[container.width :]
                else:
                    return index, rest
            elif container.kind == "quote":
                width = starts.quote(rest)
                if not width:
                    return index, rest
                rest = rest[width:]
        return len(self.nest), rest

    def blank(self, kept: int) -> None:
        """A line without text, apart from the markers of the first `kept` containers."""
        leaf = self.leaf
        if kept < len(self.nest):
            self.leave(kept)
        elif leaf is not None and (leaf.kind in ("paragraph", "table") or leaf.until is starts.BLANK):
            self.close_leaf(self.last)

    def open(self, kept: int, rest: str) -> None:
        """Open what the line begins: containers first, then a block of text."""
        # A paragraph goes on even where the markers of its containers are missing.
        text = self.leaf is not None and self.leaf.kind == "paragraph"
        while len(self.nest) < _DEEPEST and rest.lstrip(" ")[0] in starts.MARKERS and not _indented(rest):
            width = self.open_container(kept, rest, in_paragraph=text and kept == len(self.nest))
            if not width:
                break
            kept, rest, text = len(self.nest), rest[width:], False
            if not rest.strip(" "):
                return
            self.nest[-1].empty = False
        if _indented(rest) and not text:
            if self.leaf is None or self.leaf.kind != "code" or kept < len(self.nest):
                self.begin(kept, _Leaf("code", self.number))
        elif not self.open_leaf(kept, rest, in_paragraph=text):
            self.add_text(kept, rest, lazy=text)

    def open_container(self, kept: int, rest: str, *, in_paragraph: bool) -> int:
        """The width of the quote's or item's marker that `rest` begins with, 0 when it has none."""
        if rest.lstrip(" ")[0] == ">":
            self.leave(kept)
            self.leave_list()
            self.nest.append(_Container("quote", self.number))
            return starts.quote(rest)
        found = None if starts.is_rule(rest) else starts.item(rest, in_paragraph=in_paragraph)
        if found is None:
            return 0
        marker, width = found
        self.leave(kept)
        self.leave_list(marker)
        if not self.nest or self.nest[-1].kind != "list":
            self.nest.append(_Container("list", self.number, marker))
        self.nest.append(_Container("item", self.number, marker, width, empty=True))
        return width

    def open_leaf(self, kept: int, rest: str, *, in_paragraph: bool) -> bool:
        """Whether the line begins (or, of a paragraph, ends) a heading, fence, rule, table or HTML."""
        first = rest.lstrip(" ")[0]
        if first not in starts.OPENERS or _indented(rest):
            return False
        if in_paragraph and kept == len(self.nest) and self.turn_paragraph(rest):
            return True
        if first == "#":
            found = starts.heading(rest)
            if found:
                self.begin(kept)
                self.add("heading", self.number, self.number, found)
            return found is not None
        if first in "`~<":
            in_text = in_paragraph or (self.leaf is not None and self.leaf.kind == "table")
            until = starts.html(rest, in_text=in_text) if first == "<" else starts.fence(rest)
            if until:
                self.begin(kept, _Leaf("html" if first == "<" else "fence", self.number, until))
                if first == "<" and until.search(rest):
                    self.close_leaf(self.number)
            return until is not None
        if starts.is_rule(rest):
            self.begin(kept)
            self.add("rule", self.number, self.number)
            return True
        return False

    def turn_paragraph(self, rest: str) -> bool:
        """Whether the line makes a heading of the open paragraph, or a table of its last line."""
        leaf = self.leaf
        assert leaf is not None
        if starts.is_table(leaf.parts[-1], rest):
            self.leaf = None
            if len(leaf.parts) > 1:
                self.add("paragraph", leaf.start, self.number - 2)
            self.leaf = _Leaf("table", self.number - 1)
            return True
        level = starts.underline(rest)
        references = 0
        while level and references < len(leaf.parts) and starts.is_reference(leaf.parts[references]):
            references += 1
        if not level or references == len(leaf.parts):
            return False
        self.leaf = None
        if references:
            self.add("paragraph", leaf.start, leaf.start + references - 1)
        title = " ".join(part.strip(" ") for part in leaf.parts[references:])
        self.add("heading", leaf.start + references, self.number, (level, title))
        return True

    def add_text(self, kept: int, rest: str, *, lazy: bool) -> None:
        """Running text: of the open paragraph or table, or of a new paragraph."""
        leaf = self.leaf
        if leaf is not None and (lazy or (leaf.kind == "table" and kept == len(self.nest))):
            leaf.parts.append(rest)
        else:
            self.begin(kept, _Leaf("paragraph", self.number, None, [rest]))

    def begin(self, kept: int, leaf: _Leaf | None = None) -> None:
        """Close all but the first `kept` containers and open `leaf` there."""
        self.leave(kept)
        self.leave_list()
        self.leaf = leaf

    def leave(self, kept: int) -> None:
        """Close the open leaf and all but the first `kept` containers."""
        self.close_leaf(self.last)
        while len(self.nest) > kept:
            container = self.nest.pop()
            self.add(container.kind, container.start, self.last)

    def leave_list(self, marker: str = "") -> None:
        """Close a list whose items are closed, unless an item with its marker comes."""
        if self.nest and self.nest[-1].kind == "list" and self.nest[-1].marker != marker:
            self.leave(len(self.nest) - 1)

    def close_leaf(self, end: int) -> None:
        """Close the open leaf, if there is one, with its last line."""
        leaf, self.leaf = self.leaf, None
        if leaf is not None:
            self.add(leaf.kind, leaf.start, end)

    def add(self, kind: Kind, start: int, end: int, heading: tuple[int, str] = (0, "")) -> None:
        """Write down a block that is closed."""
        self.blocks.append(Block(kind, start, end, len(self.nest), *heading))
