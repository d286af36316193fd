from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.search.fuse import (
    KEYWORD_CEILING,
    KeywordEvidence,
    VectorEvidence,
    Weights,
    adapted,
    best_coverage,
    carried_by,
    counts_in_full,
    keyword_evidence,
    reciprocal_rank,
    strength,
    term_weights,
    vector_score,
    weighted,
)


def words(score: float, coverage: float, rank: int = 1) -> KeywordEvidence:
    return KeywordEvidence(rank, 1.0, (0,), coverage, score)


def meaning(score: float, rank: int = 1) -> VectorEvidence:
    return VectorEvidence(rank, score, score)


def test_text_scores_fall_strictly_with_bm25() -> None:
    found = [(4.2, (0, 1)), (2.1, (0,)), (0.5, (0,))]
    scores = [evidence.score for evidence in keyword_evidence(found, [1.0, 1.0])]
    assert scores == sorted(set(scores), reverse=True)
    assert scores[0] == KEYWORD_CEILING


@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0])
def test_text_scores_do_not_depend_on_the_size_of_bm25(scale: float) -> None:
    found = [(4.2 * scale, (0,)), (2.1 * scale, (0,))]
    assert [round(evidence.score, 6) for evidence in keyword_evidence(found, [1.0])] == [0.95, 0.475]


def test_what_is_not_a_number_scores_nothing() -> None:
    first, second = keyword_evidence([(2.0, (0,)), (math.nan, (0,))], [1.0])
    assert (first.score, second.score) == (KEYWORD_CEILING, 0.0)
    assert keyword_evidence([(math.nan, ())], [])[0].score == 0.0
    assert vector_score(math.nan, 0.1) == 0.0


def test_a_best_hit_that_covers_little_of_the_query_scores_little() -> None:
    (covering,) = keyword_evidence([(3.0, (0, 1, 2, 3))], [1.0] * 4)
    (chance,) = keyword_evidence([(3.0, (0,))], [0.2, 3.0, 3.0, 3.0])
    assert covering.score > 0.9
    assert chance.score < 0.1


def test_rare_terms_weigh_more_and_unknown_ones_most() -> None:
    unknown, rare, common, everywhere = term_weights([0, 1, 50, 100], 100)
    assert unknown > rare > common > everywhere > 0
    assert term_weights([0], 0) == [1.0]


def test_the_vector_scale_starts_at_unrelated_and_ends_at_the_same() -> None:
    assert vector_score(0.7, 0.7) == 0.0
    assert vector_score(-0.5, 0.0) == 0.0
    assert vector_score(1.0, 0.7) == 1.0
    assert 0.3 < vector_score(0.2, 0.05) < 0.5


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 0.9))
def test_the_vector_scale_keeps_the_order(one: float, other: float, unrelated: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= vector_score(low, unrelated) <= vector_score(high, unrelated) <= 1


def test_weights_follow_the_coverage_of_the_words() -> None:
    configured = Weights(0.7, 0.3)
    none, some, all_ = (adapted(configured, share) for share in (0.0, 0.4, 1.0))
    assert none.text < 0.1
    assert some.text == pytest.approx(0.3)
    assert all_.text > 0.8
    assert adapted(Weights(1.0, 0.0), 1.0) == Weights(1.0, 0.0)
    assert adapted(Weights(0.0, 1.0), 0.0) == Weights(0.0, 1.0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_adapted_weights_still_sum_to_one(text: float, share: float) -> None:
    weights = adapted(Weights(1.0 - text, text), share)
    assert weights.vector + weights.text == pytest.approx(1.0)
    assert weights.text >= 0


@pytest.mark.parametrize(
    ("keyword", "vector", "leg"),
    [
        (None, None, None),
        (None, meaning(0.36), "vector"),
        (None, meaning(0.34), None),
        (words(0.9, 1.0), meaning(0.0), "keyword"),  # an exact rare token, whatever the model says
        (words(0.9, 0.2), meaning(0.0), None),  # one word of several, by chance
        (words(0.9, 0.2), meaning(0.2), "keyword"),
        (words(0.9, 0.2), None, "keyword"),  # no model to contradict
        (words(0.9, 0.02), None, None),
    ],
)
def test_a_candidate_needs_one_leg_that_is_sure(
    keyword: KeywordEvidence | None, vector: VectorEvidence | None, leg: str | None
) -> None:
    assert carried_by(keyword, vector, 0.35) == leg


@pytest.mark.parametrize("minimum", [0.96, 0.99, 1.0])
def test_a_minimum_above_the_keyword_ceiling_lets_no_word_pass(minimum: float) -> None:
    assert carried_by(words(0.95, 1.0), None, minimum) is None


def test_a_leg_without_a_say_counts_nothing() -> None:
    weights = Weights(0.7, 0.3)
    assert weighted(words(0.9, 1.0), meaning(0.5), weights) == pytest.approx(0.62)
    assert weighted(words(0.9, 1.0), None, weights) == pytest.approx(0.27)
    assert weighted(None, None, weights) == 0.0
    assert reciprocal_rank(words(0.9, 1.0, rank=1), meaning(0.5, rank=1), weights) == pytest.approx(1.0)
    assert reciprocal_rank(None, meaning(0.5, rank=2), weights) == pytest.approx(0.7 * 61 / 62)


def test_coverage_is_judged_by_the_leaders() -> None:
    found = [(3.0, (0,)), (2.5, (0, 1)), (2.0, ()), (1.0, (0, 1, 2))]
    assert best_coverage(found, [1.0, 1.0, 1.0]) == pytest.approx(2 / 3)
    assert best_coverage([], []) == 0.0


def test_the_vector_of_a_picture_counts_in_full_where_it_tells_more() -> None:
    weights = Weights(0.6, 0.4)
    alone = weighted(None, meaning(0.8), Weights(1.0, 0.0))
    assert alone == pytest.approx(0.8)
    assert counts_in_full(True, alone, weighted(None, meaning(0.8), weights))
    assert not counts_in_full(True, alone, 0.9)  # its name matches so well
    assert not counts_in_full(False, alone, 0.1)
    assert not counts_in_full(True, 0.0, 0.0)  # it has no vector


def test_the_vector_of_a_picture_stands_for_the_comparison_of_its_words() -> None:
    picture = strength(0.8, 0.1, 0.0, in_full=True)
    assert picture == pytest.approx(strength(0.8, 0.8, 0.0))
    assert strength(0.8, 0.9, 0.0, in_full=True) == strength(0.8, 0.9, 0.0)  # its name tells more
    assert strength(0.8, None, 0.0, in_full=True) == strength(0.8, None, 0.0)  # nothing was compared
