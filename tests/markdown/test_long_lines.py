from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_documents import CLUSTERS, FAMILY, lines

from memlane.markdown import is_border
from memlane.markdown.long_lines import split_line
from memlane.markdown.tokens import weight


@given(st.one_of(lines, st.text()), st.integers(4, 400))
def test_parts_give_the_line_back_and_keep_the_limit(line, limit):
    parts = split_line(line, limit)
    assert "".join(parts) == line
    assert all(0 < weight(part) <= limit for part in parts)


@given(st.lists(st.sampled_from([*CLUSTERS, "a", "漢"]), max_size=300), st.integers(40, 200))
def test_no_character_is_torn(clusters, limit):
    line = "".join(clusters)
    position = 0
    for part in split_line(line, limit):
        assert is_border(line, position)
        position += len(part)


def test_a_line_that_fits_is_left_alone():
    assert split_line("short", 5) == ["short"]
    assert split_line("", 5) == []


def test_parts_are_of_about_one_size():
    assert [len(part) for part in split_line("x" * 1000, 300)] == [250, 250, 250, 250]


def test_sentences_come_before_words_and_words_before_letters():
    line = "One two three. Four five six seven eight nine ten."
    assert split_line(line, 40) == ["One two three. ", "Four five six seven eight nine ten."]
    assert split_line("alpha beta gamma delta", 14) == ["alpha beta ", "gamma delta"]
    assert split_line("今日は晴れ。明日は雨が降るでしょう。", 48) == [
        "今日は晴れ。",
        "明日は雨が降るでしょう。",
    ]


def test_a_character_heavier_than_the_limit_is_cut_inside():
    pile = "a" + "\u0301" * 400
    parts = split_line(pile + FAMILY, 64)
    assert "".join(parts) == pile + FAMILY
    assert max(map(weight, parts)) <= 64
