"""The block of settings that may stand before a note: YAML between `---` lines, TOML between `+++` lines.

Recognised, never parsed: what stands there is text like any other. A note that merely begins with a
thematic break (a letterhead between two rules, say) has no frontmatter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = {
    "---": re.compile(r"[^\s:#>*|`\[\]{}&!%@-][^:]{0,80}:(?:\s|$)"),
    "+++": re.compile(r"\s*[\w\"'.-]+\s*=|\[{1,2}[^\[\]]+\]{1,2}\s*$"),
}
_CONTINUED = re.compile(r"\s|#|- |-$|[^#>*|]*[,\]}]\s*$")
_TITLE = re.compile(r"""title\s*[:=]\s*(["']?)(.*)\1\s*$""", re.IGNORECASE)


def frontmatter_length(lines: Sequence[str]) -> int:
    """How many lines, with both its fences, the frontmatter takes; 0 when there is none."""
    mark = lines[0].rstrip() if lines else ""
    if mark not in _CLOSING:
        return 0
    key, keys = _KEY[mark], 0
    for index in range(1, len(lines)):
        line = lines[index]
        if line.rstrip() in _CLOSING[mark]:
            return index + 1 if keys else 0
        if key.match(line):
            keys += 1
        elif line and not _CONTINUED.match(line):
            return 0
    return 0


def frontmatter_title(lines: Sequence[str]) -> str:
    """The value of its `title`, empty when it has none. `lines` are those of the frontmatter alone."""
    for line in lines:
        found = _TITLE.match(line)
        if found:
            return found[2].strip()
    return ""
