from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.workspace.roots import accepted_by, glob_expression


@pytest.mark.parametrize(
    ("pattern", "path", "counts"),
    [
        ("**/*.txt", "a.txt", True),
        ("**/*.txt", "x/y/a.TXT", True),
        ("**/*.txt", "a.txt.png", False),
        ("*.txt", "a.txt", True),
        ("*.txt", "x/a.txt", False),
        ("./*.txt", "a.txt", True),
        ("x/**", "x/a/b.txt", True),
        ("x/**", "y/a.txt", False),
        ("x/**/b.md", "x/b.md", True),
        ("x/**/b.md", "x/1/2/b.md", True),
        ("x/**/b.md", "xx/b.md", False),
        ("?.md", "a.md", True),
        ("?.md", "ab.md", False),
        ("a?b", "a/b", False),
        ("[a-c].md", "b.md", True),
        ("[!a-c].md", "b.md", False),
        ("[!a-c].md", "d.md", True),
        ("x[!a]y", "x/y", False),
        ("[]]", "]", True),
        ("[^a].md", "^.md", True),
        ("[z-a].md", "[z-a].md", True),
        ("**/*.{md,txt}", "x/a.txt", True),
        ("**/*.{md,txt}", "x/a.pdf", False),
        ("a.md", "axmd", False),
        ("(a|b)+", "a", False),
        ("[", "[", True),
        ("{", "{", True),
    ],
)
def test_globs(pattern, path, counts):
    assert accepted_by(pattern)(path) is counts


@given(st.text())
def test_any_text_is_a_pattern(pattern):
    re.compile(glob_expression(pattern))


@given(st.text().filter(lambda text: not set(text) & set("*?[{") and not text.startswith("./")))
def test_text_without_marks_stands_for_itself(text):
    assert re.fullmatch(glob_expression(text), text)
