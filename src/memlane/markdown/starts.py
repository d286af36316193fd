"""What one line can begin: the block openers of CommonMark 0.31 and of GitHub's tables.

Every function looks at a line whose tabs are expanded and from which the markers and indentation of
enclosing quotes and list items have been taken. Four or more leading spaces never open anything here.
"""

from __future__ import annotations

import re

OPENERS = frozenset("#>`~<-+*_=0123456789|: \t")
"""First characters of lines that may be more than running text."""

BLANK = re.compile(r"(?!)")
"""The end of those HTML blocks that last up to a blank line: no line of text matches it."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?= |$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_RULE = re.compile(r" {0,3}([-_*])(?: *\1){2,} *$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+) *$")
_ITEM = re.compile(r" {0,3}(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_QUOTE = re.compile(r" {0,3}> ?")
_REFERENCE = re.compile(
    r""" {0,3}\[(?:[^\[\]\\]|\\.)+\]: *(?:<[^<>]*>|[^\s<]\S*)(?: +(?:"[^"]*"|'[^']*'|\([^()]*\)))? *$"""
)
_DELIMITER = re.compile(r":?-+:?$")
_PIPE = re.compile(r"(?<!\\)\|")

_VERBATIM_TAGS = "script|pre|style|textarea"
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir"
    "|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe"
    "|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary"
    "|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = r"""\s+[a-z_:][a-z0-9_.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
# What begins a block of HTML, and what ends it: a text within a line, or a blank line.
_HTML = (
    (re.compile(rf"<(?:{_VERBATIM_TAGS})(?=\s|>|$)", re.IGNORECASE), rf"</(?:{_VERBATIM_TAGS})>"),
    (re.compile(r"<!--"), r"-->"),
    (re.compile(r"<\?"), r"\?>"),
    (re.compile(r"<![a-z]", re.IGNORECASE), r">"),
    (re.compile(r"<!\[CDATA\["), r"\]\]>"),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?=\s|/?>|$)", re.IGNORECASE), ""),
)
_LONE_TAG = re.compile(
    rf"(?:<[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[a-z][a-z0-9-]*\s*>)\s*$", re.IGNORECASE
)
_HTML_ENDS = {end: re.compile(end, re.IGNORECASE) for _, end in _HTML if end}


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
    """Whether the line is a thematic break."""
    return _RULE.match(line) is not None


def fence(line: str) -> re.Pattern[str] | None:
    """For the opening line of fenced code, the pattern of the line that closes it."""
    found = _FENCE.match(line)
    if not found:
        return None
    mark = found[1]
    return re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}} *$")


def html(line: str, *, in_paragraph: bool) -> re.Pattern[str] | None:
    """For the opening line of an HTML block, the pattern that ends it (`BLANK`: up to a blank line)."""
    tag = line.lstrip(" ")
    if not tag.startswith("<"):
        return None
    for begin, end in _HTML:
        if begin.match(tag):
            return _HTML_ENDS[end] if end else BLANK
    return BLANK if not in_paragraph and _LONE_TAG.match(tag) else None


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
