from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.search.calibrate import MOST, chance, leads

evidence = st.lists(st.tuples(st.floats(0, 3.2), st.sampled_from("abc")), max_size=30).map(
    lambda values: sorted(values, reverse=True)
)


def test_unrelated_text_is_near_0_and_an_answer_that_stands_out_near_1() -> None:
    assert chance(0.5, leads([(0.5, "a"), (0.48, "b")])[0]) < 0.03
    assert chance(2.3, leads([(2.3, "a"), (1.2, "b")])[0]) > 0.95


def test_a_lone_candidate_stands_out_from_what_unrelated_text_reaches() -> None:
    assert chance(0.7, leads([(0.7, "a")])[0]) < 0.05 < chance(1.4, leads([(1.4, "a")])[0])


def test_nothing_has_no_lead() -> None:
    assert leads([]) == []


def test_passages_of_one_note_do_not_compete() -> None:
    alone = leads([(1.8, "a"), (1.0, "b")])
    together = leads([(1.8, "a"), (1.75, "a"), (1.0, "b")])
    assert together[0] == alone[0]
    assert together[1] == pytest.approx(0.75)
    assert leads([(1.8, "a"), (1.75, "b"), (1.7, "a")])[2] < 0


@given(evidence)
def test_the_order_of_the_evidence_is_that_of_the_chances(ranked: list[tuple[float, str]]) -> None:
    chances = [chance(strength, lead) for (strength, _), lead in zip(ranked, leads(ranked), strict=True)]
    assert chances == sorted(chances, reverse=True)
    assert all(0 < one <= MOST < 1 for one in chances)


@given(evidence)
def test_only_the_best_of_other_notes_counts(ranked: list[tuple[float, str]]) -> None:
    for (strength, note), lead in zip(ranked, leads(ranked), strict=True):
        others = [other for other, name in ranked if name != note]
        assert lead == strength - max([*others, 0.8])
