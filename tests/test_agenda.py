"""When passes are due. Times are told, never waited for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlane.agenda import Agenda, Turn


def test_nothing_is_due_at_first() -> None:
    agenda = Agenda(debounce=1.5)
    assert agenda.take(0.0) is None
    assert agenda.pause(0.0) > 1


def test_what_is_asked_for_is_due_at_once_and_together() -> None:
    agenda = Agenda(debounce=1.5)
    agenda.ask("search")
    agenda.ask("session start")
    agenda.ask("search")
    assert agenda.take(0.0) == Turn(("search", "session start"), ())
    assert agenda.take(0.0) is None


def test_changes_wait_for_quiet() -> None:
    agenda = Agenda(debounce=1.5)
    agenda.note_changes(["a"], 0.0)
    agenda.note_changes(["b", "a"], 1.0)
    assert agenda.take(2.4) is None
    assert agenda.pause(2.0) == 0.5
    assert agenda.take(2.5) == Turn(("watch",), ("a", "b"))
    assert not agenda.has_changes


def test_a_note_that_never_rests_is_taken_all_the_same() -> None:
    agenda = Agenda(debounce=1.0)
    taken = None
    for step in range(100):
        agenda.note_changes(["restless"], step / 10)
        if taken := agenda.take(step / 10):
            break
    assert taken == Turn(("watch",), ("restless",))
    assert step == 40


def test_a_pass_for_another_reason_covers_the_changes_so_far() -> None:
    agenda = Agenda(debounce=1.5)
    agenda.note_changes(["a"], 0.0)
    agenda.ask("search")
    assert agenda.take(0.1) == Turn(("search",), ("a",))
    assert agenda.take(10.0) is None


def test_failures_are_tried_again_after_longer_and_longer() -> None:
    agenda = Agenda(debounce=1.5)
    pauses, now = [], 0.0
    for _ in range(8):
        agenda.end_pass(now, failed=True)
        pauses.append(agenda.retry_pause)
        now += agenda.retry_pause
        assert agenda.take(now) == Turn(("retry",), ())
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    agenda.end_pass(now, failed=False)
    assert agenda.retry_pause == 0
    assert agenda.take(now + 1000) is None


def test_the_interval_and_the_poll_begin_with_the_end_of_a_pass() -> None:
    agenda = Agenda(debounce=1.5, interval=600)
    agenda.end_pass(100.0, failed=False, poll=3.0)
    assert agenda.take(102.9) is None
    assert agenda.take(103.0) == Turn(("poll",), ())
    agenda.end_pass(103.0, failed=False)
    assert agenda.take(702.0) is None
    assert agenda.take(703.0) == Turn(("interval",), ())


def test_a_turn_that_is_given_back_is_due_at_once() -> None:
    agenda = Agenda(debounce=1.5)
    agenda.note_changes(["a"], 0.0)
    turn = agenda.take(2.0)
    assert turn is not None
    agenda.give_back(turn)
    assert agenda.take(2.0) == turn


_STEPS = st.lists(st.tuples(st.sampled_from(["ask", "change", "pass"]), st.floats(0, 10)), max_size=60)


@given(_STEPS)
def test_every_reason_leads_to_a_pass_and_no_pass_comes_without_one(steps: list[tuple[str, float]]) -> None:
    agenda = Agenda(debounce=1.5)
    now, waiting = 0.0, False
    for step, pause in steps:
        now += pause
        if step == "ask":
            agenda.ask("search")
            waiting = True
        elif step == "change":
            agenda.note_changes(["a"], now)
            waiting = True
        elif agenda.take(now) is not None:
            assert waiting
            waiting = False
    now += agenda.pause(now)
    assert (agenda.take(now + 0.001) is not None) == waiting
