from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_documents import FAMILY, words

from memlane.markdown import estimate_tokens
from memlane.markdown.tokens import running_weights, weight


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four letters here and there", 7),
        ("部署方案", 4),
        ("しりとり", 4),
        ("게임", 2),
        ("：" * 2000, 2000),
        ("\U0001f600" * 5, 5),
        ("Ｆｕｌｌ", 4),
        ("Привет", 3),
        ("naïve", 2),
        ("use 部署 now", 4),
        ("\ud800", 1),
        (FAMILY, 5),
    ],
)
def test_scripts_are_weighed(text, tokens):
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_weights_add_up(one, other):
    assert weight(one + other) == weight(one) + weight(other)


@given(st.lists(words).map("".join))
def test_running_weights_end_in_the_weight(text):
    assert running_weights(text) == list(accumulate(map(weight, text)))
    assert estimate_tokens(text) == -(-weight(text) // 4)
