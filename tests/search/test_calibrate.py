from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlane.search.calibrate import MOST, chance, leads

strengths = st.lists(st.floats(0, 3.2), max_size=30).map(lambda values: sorted(values, reverse=True))


def test_unrelated_text_is_near_0_and_an_answer_that_stands_out_near_1() -> None:
    assert chance(0.5, leads([0.5, 0.48])[0]) < 0.03
    assert chance(2.3, leads([2.3, 1.2])[0]) > 0.97


def test_a_lone_candidate_stands_out_from_what_unrelated_text_reaches() -> None:
    assert chance(0.7, leads([0.7])[0]) < 0.05 < chance(1.4, leads([1.4])[0])


def test_nothing_has_no_lead() -> None:
    assert leads([]) == []


@given(strengths)
def test_the_order_of_the_evidence_is_that_of_the_chances(ranked: list[float]) -> None:
    chances = [chance(strength, lead) for strength, lead in zip(ranked, leads(ranked), strict=True)]
    assert chances == sorted(chances, reverse=True)
    assert all(0 < one <= MOST < 1 for one in chances)


@given(strengths.filter(lambda values: len(values) > 2))
def test_what_lies_behind_does_not_change_the_first(ranked: list[float]) -> None:
    assert leads(ranked)[:2] == leads(ranked[:2])
