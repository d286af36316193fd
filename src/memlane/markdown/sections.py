"""The sections of a document, and which of them share a chunk.

A section is a heading with the text up to the next heading of any level. As a rule each is a chunk (or
several), so that what is found about one person or one day holds that section alone. Small ones give way:

- A heading without text, or with next to none, goes along with its first subsection.
- Sections with next to no text (the one-line entries of a daily log) share a chunk with their neighbours
  under the same parent, and with the parent's own text, up to a quarter of a chunk: alone they would be
  little more than their heading; all of a day together would hide each of them.
- Frontmatter goes along with what follows unless it takes a quarter of a chunk or more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ..values import Value
from .blocks import Block
from .frontmatter import frontmatter_title
from .graphemes import last_border
from .sheet import Sheet

_TITLE_LENGTH = 80
_PATH_LENGTH = 200
_SEPARATOR = " > "

_TINY = 16
"""A section with less text than this fraction of a chunk may share one (25 of 400 tokens)."""
_SMALL = 4
"""A chunk shared by tiny sections grows up to this fraction of a full one."""

_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|!?\[([^\[\]]*)\]\([^()]*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|~~|`+)(?=\S)(.+?)(?<=\S)\1")


class Section(Value, frozen=True):
    """A heading and what follows it up to the next one. The numbers are positions on the sheet."""

    first: int
    body: int
    """The first line after the heading; last + 1 where there is none."""
    last: int
    level: int
    """1–6, and 0 for frontmatter and for the text before the first heading."""
    parent: int
    """Index of the section it belongs to, −1 for none."""
    titles: tuple[str, ...]
    """Of the enclosing sections and itself, outermost first."""
    frontmatter: bool = False

    @property
    def path(self) -> str:
        """The titles as one line: `Title > Section`. Inner ones of a long path give way to `…`."""
        titles = [title for title in self.titles if title]
        path = _SEPARATOR.join(titles)
        while len(path) > _PATH_LENGTH and len(titles) > 2:
            del titles[1]
            path = _SEPARATOR.join([titles[0], "…", *titles[1:]])
        return path


class Group(Struct):
    """Sections that follow each other and are chunked as one."""

    start: int
    """Index of its first section."""
    stop: int
    """One more than the index of its last."""
    lead: int
    """Index of the section that gives the first chunk its heading path."""
    opening: bool
    """All of its sections enclose the next one and have next to no text."""
    tiny: bool


def sections(sheet: Sheet, blocks: Sequence[Block]) -> list[Section]:
    """All sections in order. Together they cover every position. `sheet` must not be empty."""
    headings = [block for block in blocks if block.kind == "heading" and block.depth == 0]
    settings = blocks[0] if blocks and blocks[0].kind == "frontmatter" else None
    found: list[Section] = []
    root = ""
    begin = sheet.position(headings[0].start) if headings else len(sheet)
    if settings is not None:
        body = sheet.position(settings.end + 1)
        if all(heading.level > 1 for heading in headings):
            root = _plain(frontmatter_title(sheet.lines[settings.start : settings.end - 1]))
        found.append(Section(0, 0, body - 1, 0, -1, (root,), frontmatter=True))
    first = found[-1].last + 1 if found else 0
    if first < begin:
        found.append(Section(first, first, begin - 1, 0, -1, (root,)))
    enclosing: list[int] = []
    for index, heading in enumerate(headings):
        while enclosing and found[enclosing[-1]].level >= heading.level:
            enclosing.pop()
        parent = enclosing[-1] if enclosing else -1
        after = headings[index + 1].start if index + 1 < len(headings) else len(sheet.lines) + 1
        enclosing.append(len(found))
        found.append(
            Section(
                sheet.position(heading.start),
                sheet.position(heading.end + 1),
                sheet.position(after) - 1,
                heading.level,
                parent,
                ((root,) if parent < 0 else found[parent].titles) + (_plain(heading.title),),
            )
        )
    return found


def groups(sheet: Sheet, parts: Sequence[Section], limit: int) -> list[Group]:
    """Which sections are chunked together. `limit` is the weight of a full chunk."""
    found: list[Group] = []
    for index, part in enumerate(parts):
        share = _SMALL if part.frontmatter else _TINY
        tiny = sheet.size(part.body, part.last) * share < limit
        group = found[-1] if found else None
        if group is not None and _opens(sheet, parts, group, index, limit=limit):
            group.lead = index
            group.opening = tiny
        elif group is not None and tiny and _takes(sheet, parts, group, index, limit=limit):
            group.opening = False
        else:
            found.append(Group(index, index + 1, index, tiny, tiny))
            continue
        group.stop = index + 1
        group.tiny = group.tiny and tiny
    return found


def _opens(sheet: Sheet, parts: Sequence[Section], group: Group, index: int, *, limit: int) -> bool:
    """Whether the group is only the way in to this section: headings above it, a line of introduction."""
    part, before = parts[index], parts[group.stop - 1]
    if not group.opening or not (before.level == 0 or part.parent == group.stop - 1):
        return False
    bare = all(parts[i].body > parts[i].last for i in range(group.start, group.stop))
    whole = sheet.size(parts[group.start].first, part.last)
    return bare or whole <= limit or sheet.size(part.first, part.last) > limit


def _takes(sheet: Sheet, parts: Sequence[Section], group: Group, index: int, *, limit: int) -> bool:
    """Whether the group is a neighbour that this tiny section may join."""
    part = parts[index]
    if sheet.size(parts[group.start].first, part.last) * _SMALL > limit:
        return False
    if group.tiny:
        return part.parent >= group.start or part.parent == parts[group.start].parent
    return parts[group.lead].level == 0 or part.parent >= group.lead


def _plain(title: str) -> str:
    """A title without links, emphasis and code marks, on one line, at most 80 characters long."""
    title = _LINK.sub(r"\1\2", title[: 4 * _TITLE_LENGTH])
    title = " ".join(_EMPHASIS.sub(r"\2", title).split())
    if len(title) <= _TITLE_LENGTH:
        return title
    return title[: last_border(title, 0, _TITLE_LENGTH - 1)].rstrip() + "…"
