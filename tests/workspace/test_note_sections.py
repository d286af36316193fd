from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlane.workspace.sections import headings


def found(text: str) -> list[tuple[int, int, str]]:
    return [(heading.line, heading.level, heading.title) for heading in headings(text.split("\n"))]


def test_headings_and_their_levels():
    text = "# One\n\ntext\n### Three ###\n   ## Two\t\n#\n####### seven\n#hashtag\n    # code"
    assert found(text) == [(0, 1, "One"), (3, 3, "Three"), (4, 2, "Two"), (5, 1, "")]


def test_what_looks_like_one_in_fenced_code():
    assert found("```py\n# no\n~~~\n# no\n```\n# yes\n~~~~\n# no\n~~~\n# no\n~~~~\n# yes") == [
        (5, 1, "yes"),
        (11, 1, "yes"),
    ]


def test_a_fence_is_ended_by_a_bare_mark_only():
    assert found("```\n``` not the end\n# no\n````\n# yes") == [(4, 1, "yes")]
    assert found("``` a ` b\n# yes") == [(1, 1, "yes")]


def test_what_looks_like_one_in_frontmatter_and_comments():
    assert found("---\n# no\n---\n# yes") == [(3, 1, "yes")]
    assert found("---\n# yes\nno end") == [(1, 1, "yes")]
    assert found("<!--\n# no\n-->\n# yes\n<!-- one line -->\n# yes") == [(3, 1, "yes"), (5, 1, "yes")]


@given(st.lists(st.text(st.sampled_from("#`~- <!>a\t"), max_size=8)))
def test_any_lines_have_headings_in_order(lines):
    at = [heading.line for heading in headings(lines)]
    assert at == sorted(set(at))
    assert all(lines[line].lstrip(" ").startswith("#") for line in at)
