from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.evaluate.measures import (
    Detection,
    Measures,
    area_under_curve,
    bootstrap_interval,
    detection,
    mean_measures,
    measured,
    percentile,
    sign_test,
)

ranks = st.lists(st.integers(0, 30).map(lambda rank: rank or None), min_size=1, max_size=12)


def test_by_hand() -> None:
    assert measured([1]) == Measures(1.0, 1.0, 1.0, 1.0, 1.0)
    assert measured([None]) == Measures(0.0, 0.0, 0.0, 0.0, 0.0)
    assert measured([11]) == measured([None])
    two = measured([6, 2])
    assert (two.recall_at_1, two.recall_at_5, two.recall_at_10, two.mrr) == (0.0, 0.5, 1.0, 0.5)
    assert two.ndcg_at_10 == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / (1 + 1 / math.log2(3)))
    assert measured([1, 1]).ndcg_at_10 == 1.0  # one result over both places


@given(ranks)
def test_every_measure_is_a_share_and_recall_grows_with_depth(found: list[int | None]) -> None:
    row = measured(found)
    assert all(0 <= value <= 1 for value in (row.mrr, row.ndcg_at_10))
    assert 0 <= row.recall_at_1 <= row.recall_at_5 <= row.recall_at_10 <= 1
    assert (row.mrr > 0) == (row.recall_at_10 > 0)


def test_means() -> None:
    assert mean_measures([]) is None
    rows = [measured([1]), measured([None])]
    assert mean_measures(rows) == Measures(0.5, 0.5, 0.5, 0.5, 0.5)


def test_percentiles_interpolate() -> None:
    assert percentile([], 0.5) == 0.0
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([0.0, 10.0], 0.95) == pytest.approx(9.5)


def test_area_under_the_curve() -> None:
    assert area_under_curve([], [1.0]) is None
    assert area_under_curve([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert area_under_curve([0.1], [0.9]) == 0.0
    assert area_under_curve([0.5], [0.5]) == 0.5
    assert area_under_curve([0.9, 0.4], [0.5, 0.4]) == pytest.approx((2 + 0.5) / 4)


def test_detection() -> None:
    found = detection([True, True, False, False], [True, False, True, False])
    assert found == Detection(1, 1, 1)
    assert (found.precision, found.recall) == (0.5, 0.5)
    nothing = detection([False], [False])
    assert (nothing.precision, nothing.recall) == (None, None)


def test_the_sign_test_by_hand() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_test(1, 0) == 1.0
    assert sign_test(6, 0) == pytest.approx(2 / 64)
    assert sign_test(5, 1) == sign_test(1, 5) == pytest.approx(2 * 7 / 64)
    assert sign_test(1500, 1500) == 1.0


def test_the_bootstrap_interval_holds_the_mean_and_shrinks() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 250
    low, high = bootstrap_interval(few)
    assert low < 0.5 < high
    narrow = bootstrap_interval(many)
    assert narrow[1] - narrow[0] < high - low
    assert bootstrap_interval(few) == (low, high)
    assert bootstrap_interval([0.25] * 9) == (0.25, 0.25)
    assert bootstrap_interval([]) == (0.0, 0.0)
