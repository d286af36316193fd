from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.search.decay import age_in_days, decay_factor


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (7, 0.851), (30, 0.5), (90, 0.125), (180, 0.0156)])
def test_documented_factors_at_a_half_life_of_thirty_days(days: int, factor: float) -> None:
    assert decay_factor(days, 30) == pytest.approx(factor, abs=5e-4)


def test_the_worked_example() -> None:
    today = date(2026, 2, 10)
    notes = {date(2025, 9, 15): 0.91, date(2026, 2, 10): 0.82, date(2026, 2, 3): 0.80}
    decayed = {day: score * decay_factor(age_in_days(day, today), 30) for day, score in notes.items()}
    assert decayed[date(2025, 9, 15)] == pytest.approx(0.03, abs=0.005)
    assert decayed[date(2026, 2, 10)] == 0.82
    assert decayed[date(2026, 2, 3)] == pytest.approx(0.68, abs=0.005)
    assert max(decayed, key=decayed.__getitem__) == date(2026, 2, 10)


def test_the_future_has_age_zero() -> None:
    assert age_in_days(date(2026, 3, 1), date(2026, 2, 1)) == 0


@given(st.integers(0, 10**6), st.floats(0.001, 1e6))
def test_factors_stay_within_bounds_and_fall_with_age(days: int, half_life: float) -> None:
    assert 0 <= decay_factor(days + 1, half_life) <= decay_factor(days, half_life) <= 1
