from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.embed.pieces import Vocabulary
from memlane.errors import ProviderUnavailable

PIECES = ["▁tea", "▁te", "a", "t", "e", "▁", "部署", "部", "署", "▁café"]
SCORES = [-1.0, -2.0, -3.0, -3.0, -3.0, -4.0, -1.0, -5.0, -5.0, -1.0]


def vocabulary() -> Vocabulary:
    return Vocabulary("".join(f"{piece}\n" for piece in PIECES).encode(), array("f", SCORES))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("tea", ["▁tea"]),
        ("TEA!", ["▁tea"]),
        ("Tea, tea", ["▁tea", "▁tea"]),
        ("teat", ["▁tea", "t"]),
        ("部署", ["部署"]),
        ("署部", ["署", "部"]),
        ("ｔｅａ", ["▁tea"]),  # full-width forms
        ("cafe\u0301", ["▁café"]),  # decomposed accent
        ("xyz", ["▁"]),  # characters outside the vocabulary have no piece
        ("", []),
        ("!?…", []),
    ],
)
def test_segmentation(text: str, pieces: list[str]) -> None:
    assert [PIECES[piece] for piece in vocabulary().encode(text)] == pieces


@given(st.text(alphabet="tea 部署caféxyz!", max_size=200))
def test_looking_up_single_words_gives_what_the_whole_table_gives(text: str) -> None:
    loaded = vocabulary()
    loaded.encode("xyz " * 30)  # loads the table
    assert vocabulary().encode(text) == loaded.encode(text)


@given(st.text())
def test_any_text_can_be_encoded(text: str) -> None:
    assert all(0 <= piece < len(PIECES) for piece in vocabulary().encode(text))


def test_a_table_that_does_not_fit_its_scores_is_refused() -> None:
    with pytest.raises(ProviderUnavailable, match="damaged"):
        Vocabulary(b"a\nb\n", array("f", [0.0])).encode("xyz")
