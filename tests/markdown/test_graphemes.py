from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_documents import CLUSTERS

from memlane.markdown import is_border
from memlane.markdown.graphemes import last_border

SEPARATE = ["a", " ", "漢", "가", "ガ", "！", "。", "é"]


@pytest.mark.parametrize(
    "cluster",
    [
        *CLUSTERS,
        "\r\n",
        "가\u11a8",  # LV syllable with a final consonant
        "\u1100\u1161",
        "ก\u0e33",
        "ﾊ\uff9f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\u0600123"[:2],
    ],
)
def test_nothing_is_cut_within_one_character(cluster):
    text = f"漢{cluster}漢"
    assert [index for index in range(1, len(text)) if is_border(text, index)] == [1, 1 + len(cluster)]


@given(st.lists(st.sampled_from([*CLUSTERS, *SEPARATE]), max_size=30))
def test_borders_are_those_between_characters(clusters):
    text = "".join(clusters)
    expected, position = [0], 0
    for cluster in clusters:
        position += len(cluster)
        expected.append(position)
    if not clusters:
        expected = [0]
    assert [index for index in range(len(text) + 1) if is_border(text, index)] == expected


@given(st.text(), st.integers(-3, 300))
def test_any_text_and_any_place_have_an_answer(text, index):
    assert is_border(text, index) in (True, False)


def test_a_run_of_flags_is_counted_from_a_known_border():
    flags = "\U0001f1f0\U0001f1f7" * 5
    assert [is_border(flags, index) for index in range(11)] == [index % 2 == 0 for index in range(11)]
    assert not is_border(flags, 4, floor=3)
    assert is_border(flags, 5, floor=3)


def test_last_border_falls_back_to_the_limit_inside_one_character():
    assert last_border("ab漢字", 0, 3) == 3
    assert last_border("a" + "\u0301" * 50, 0, 20) == 20
    assert last_border("abe\u0301x", 0, 3) == 2
