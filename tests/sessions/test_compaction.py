from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlane.sessions.chat import Message, ToolCall
from memlane.sessions.compaction import Recorded, context_of, cut_point, parts, spliced
from memlane.sessions.decision import estimate, message_tokens
from memlane.sessions.record import mended

USER = Message("user", "u" * 40)
ANSWER = Message("assistant", "a" * 40)
CALL = Message("assistant", calls=(ToolCall("1", "t", {}),))
RESULT = Message("tool", "r" * 40, call_id="1", name="t")
TURN = [USER, CALL, RESULT, ANSWER]
SIZE = estimate(TURN)


def test_recent_turns_are_kept_whole_from_a_user_turn_on() -> None:
    assert cut_point(TURN * 5, keep=2 * SIZE, most=999) == 12
    assert cut_point(TURN * 5, keep=3 * SIZE - 1, most=999) == 12
    assert cut_point(TURN * 5, keep=5 * SIZE, most=999) == 16


def test_the_last_turn_is_kept_whole_though_it_is_large() -> None:
    assert cut_point(TURN * 2, keep=1, most=999) == 4


def test_a_single_turn_too_large_is_cut_before_an_answer_of_the_assistant() -> None:
    single = [USER, CALL, RESULT, CALL, RESULT, ANSWER]
    tail = message_tokens(ANSWER) + message_tokens(RESULT)
    assert cut_point(single, keep=tail + message_tokens(CALL), most=60) == 3
    assert cut_point([USER, ANSWER, *single], keep=tail + message_tokens(CALL), most=60) == 5
    assert cut_point(single, keep=tail, most=60) == 5
    assert cut_point([USER], keep=1, most=1) == 0
    assert cut_point([], keep=1, most=1) == 0


@given(
    st.lists(st.sampled_from([[USER, ANSWER], TURN, [CALL, RESULT]]), max_size=8),
    st.integers(0, 200),
    st.integers(0, 200),
)
def test_no_result_is_parted_from_its_call(turns: list[list[Message]], keep: int, most: int) -> None:
    messages = [message for turn in turns for message in turn]
    cut = cut_point(messages, keep=keep, most=most)
    assert cut == 0 or messages[cut].role in {"user", "assistant"}
    assert mended(messages[cut:]) == messages[cut:]


def recorded(*names: str) -> list[Recorded]:
    return [Recorded(name, Message("user", name)) for name in names]


def test_a_context_is_the_last_summary_and_what_it_kept() -> None:
    whole = [*recorded("a", "b", "c"), Recorded("s", summary="one", first_kept="b"), *recorded("d")]
    summary, kept = spliced(whole)
    assert (summary, [item.id for item in kept]) == ("one", ["b", "c", "d"])
    summary, kept = spliced([*whole, Recorded("t", summary="two", first_kept="d"), *recorded("e")])
    assert (summary, [item.id for item in kept]) == ("two", ["d", "e"])
    summary, kept = spliced([*whole, Recorded("t", summary="two", first_kept="gone"), *recorded("e")])
    assert (summary, [item.id for item in kept]) == ("two", ["e"])


def test_the_summary_is_shown_before_the_turns() -> None:
    shown = context_of("be kind", "we met", [USER])
    assert [message.role for message in shown] == ["system", "user", "user"]
    assert shown[1].text.endswith("we met")
    assert context_of("", "", [USER]) == [USER]


def test_parts_hold_all_that_was_said_in_pieces_that_fit() -> None:
    texts = parts([*TURN, Message("user", "가" * 1_000)], 100)
    assert all(estimate([Message("user", text)]) <= 104 for text in texts)
    assert "".join(texts).count("가") == 1_000
    assert "Assistant calls t: {}" in texts[0]
    assert parts([], 100) == []


def test_calls_and_answers_are_paired_where_a_turn_was_interrupted() -> None:
    assert mended([USER, RESULT, ANSWER]) == [USER, ANSWER]
    shown = mended([USER, CALL, USER])
    assert [message.role for message in shown] == ["user", "assistant", "tool", "user"]
    assert "interrupted" in shown[2].text
