"""What one line can begin: the block openers of CommonMark 0.31 and of GitHub's tables.

Every function looks at a line whose tabs are expanded and from which the markers and indentation of
enclosing quotes and list items have been taken. Four or more leading spaces never open anything here.
"""

from __future__ import annotations

import re

OPENERS = frozenset("#>`~<-+*_=0123456789|: \t")
"""First characters of lines that may be more than running text."""

MARKERS = frozenset(">-+*0123456789")
"""First characters of markers of quotes and list items."""

BLANK = re.compile(r"(?!)")
"""The end of those HTML blocks that last up to a blank line: no line of text matches it."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?= |$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+) *$")
_ITEM = re.compile(r" {0,3}(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_QUOTE = re.compile(r" {0,3}> ?")
_REFERENCE = re.compile(
    r""" {0,3}\[(?:[^\[\]\\]|\\.)+\]: *(?:<[^<>]*>|[^\s<]\S*)(?: +(?:"[^"]*"|'[^']*'|\([^()]*\)))? *$"""
)
_DELIMITER = re.compile(r":?-+:?$")
_PIPE = re.compile(r"(?<!\\)\|")

_BLOCK_TAG_NAMES = """
    address article aside base basefont blockquote body caption center col colgroup dd details dialog dir
    div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html
    iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary
    table tbody td tfoot th thead title tr track ul
"""
_BLOCK_TAGS = frozenset(_BLOCK_TAG_NAMES.split())
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?=\s|/?>|$)")
_ATTRIBUTE = r"""\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_LONE_TAG = re.compile(rf"(?:<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*$")
_VERBATIM = re.compile(r"<(?:script|pre|style|textarea)(?=\s|>|$)", re.IGNORECASE)
_VERBATIM_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
# Other blocks of HTML that last up to a text within a line, by how they begin.
_HTML = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
)


def is_blank(line: str) -> bool:
    """Whether Markdown takes the line as blank: spaces and tabs only."""
    return not line.strip(" \t")


def quote(line: str) -> int:
    """The width of the marker of a block quote, 0 for none."""
    found = _QUOTE.match(line)
    return found.end() if found else 0


def heading(line: str) -> tuple[int, str] | None:
    """Level and title of a heading written with `#`."""
    found = _HEADING.match(line)
    if not found:
        return None
    title = line[found.end() :].strip(" ")
    bare = title.rstrip("#")
    if bare != title and (not bare or bare.endswith(" ")):
        title = bare.rstrip(" ")
    return len(found[1]), title


def underline(line: str) -> int:
    """The level of heading that the line makes of the paragraph above it, 0 for none."""
    found = _UNDERLINE.match(line)
    return 0 if not found else 1 if found[1][0] == "=" else 2


def is_rule(line: str) -> bool:
    """Whether the line, which is not blank, is a thematic break."""
    text = line.strip(" ")
    mark = text[0]
    return (
        mark in "-_*" and not text.strip(mark + " ") and text.count(mark) >= 3 and not line.startswith("    ")
    )


def fence(line: str) -> re.Pattern[str] | None:
    """For the opening line of fenced code, the pattern of the line that closes it."""
    found = _FENCE.match(line)
    if not found:
        return None
    mark = found[1]
    return re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}} *$")


def html(line: str, *, in_text: bool) -> re.Pattern[str] | None:
    """For the opening line of an HTML block, the pattern that ends it (`BLANK`: up to a blank line).

    Within a paragraph or table a tag that is no block's (`<b>` alone on its line) begins nothing.
    """
    text = line.lstrip(" ")
    if _VERBATIM.match(text):
        return _VERBATIM_END
    for begin, end in _HTML:
        if begin.match(text):
            return end
    tag = _TAG.match(text)
    if tag and tag[1].lower() in _BLOCK_TAGS:
        return BLANK
    return BLANK if not in_text and _LONE_TAG.match(text) else None


def item(line: str, *, in_paragraph: bool) -> tuple[str, int] | None:
    """Kind of marker and width (marker and indentation of what follows) of a list item.

    Within a paragraph only an item with text, and of numbered ones only number 1, begins a list.
    """
    found = _ITEM.match(line)
    if not found:
        return None
    width = found.end()
    rest = line[width:]
    padding = len(rest) - len(rest.lstrip(" "))
    empty = padding == len(rest)
    if in_paragraph and (empty or (found[1] is not None and int(found[1]) != 1)):
        return None
    return line[width - 1], width + (padding if padding <= 4 and not empty else 1)


def is_reference(line: str) -> bool:
    """Whether the line is a link's definition (those that take one line)."""
    return _REFERENCE.match(line) is not None


def is_table(header: str, line: str) -> bool:
    """Whether `line` is the row of dashes that makes a table of `header` above it."""
    row = line.strip(" ")
    if len(row) < 2 or row.strip("-:| ") or row.startswith("- ") or "|" not in header:
        return False
    marks = [cell.strip(" ") for cell in row.split("|")]
    if any(not _DELIMITER.match(mark) for mark in marks if mark) or not all(marks[1:-1]):
        return False
    cells = _PIPE.split(header.strip(" "))
    cells = cells[cells[0] == "" :]
    cells = cells[: len(cells) - (bool(cells) and cells[-1] == "")]
    return len(cells) > 0 and len(cells) == sum(map(bool, marks))
