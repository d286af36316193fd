from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlane.sessions.silence import SilenceFilter, delivered, is_silent

SILENT = [
    "NO_REPLY",
    " no_reply.",
    "**NO_REPLY**",
    "`No_Reply`",
    "\n\n__NO_REPLY__\n",
    "NO\\_REPLY",
    "“NO_REPLY”!",
    "> NO_REPLY",
    "```\nNO_REPLY\n```",
    "NO_REPLY\u200b",
    "（NO_REPLY）。",
]
REAL = [
    "The token NO_REPLY means that nothing is sent.",
    "NO_REPLY means silence",
    "NO_REPLY NO_REPLY",
    "NO_",
    "NO",
    "no reply",
    "NO_REPLYS",
    "XNO_REPLY",
    "NO_REPLY 👍",
    "...",
    "알겠습니다. NO_REPLY",
    "N\\O_REPLY",
    "NO\\\\_REPLY",
    "NO\\REPLY",
]


def streamed(pieces: list[str]) -> str:
    silence = SilenceFilter()
    return "".join([*map(silence.feed, pieces), silence.finish()])


@pytest.mark.parametrize("text", SILENT)
def test_the_token_alone_delivers_nothing(text: str) -> None:
    assert is_silent(text)
    assert delivered(text) == ""


@pytest.mark.parametrize("text", REAL)
def test_any_other_answer_is_delivered_as_it_stands(text: str) -> None:
    assert delivered(text) == text


def test_a_token_that_comes_in_two_pieces_delivers_nothing() -> None:
    silence = SilenceFilter()
    assert (silence.feed("NO_"), silence.feed("REPLY"), silence.finish()) == ("", "", "")


def test_a_real_answer_is_let_go_as_soon_as_it_is_one() -> None:
    silence = SilenceFilter()
    assert silence.feed(" NO_REPLY") == ""
    assert silence.feed(" means") == " NO_REPLY means"
    assert silence.feed(" silence") == " silence"
    assert silence.finish() == ""


@given(
    st.lists(
        st.sampled_from(["NO_REPLY", "no", "_", "REPLY", " ", "*", "\\", ".", "n", "x", "👍"]) | st.text()
    )
)
@example(["N", "O", "\\", "_REPLY"])
def test_cuts_change_nothing(pieces: list[str]) -> None:
    assert streamed(pieces) == delivered("".join(pieces))


@given(st.text())
def test_an_answer_is_delivered_whole_or_not_at_all(text: str) -> None:
    assert delivered(text) in {"", text}
