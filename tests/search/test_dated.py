from __future__ import annotations

from datetime import date, timedelta

import pytest

from memlane.index.analyze import query_terms
from memlane.search.dated import AskedTime, asked_time

TODAY = date(2026, 2, 10)  # a Tuesday


def asked(question: str) -> AskedTime:
    return asked_time(question, query_terms(question), TODAY)


@pytest.mark.parametrize(
    "question", ["what did we cook yesterday?", "어제 뭐 먹었지?", "昨天吃了什么", "¿qué comimos ayer?"]
)
def test_a_day_that_is_meant_is_searched_for(question: str) -> None:
    time = asked(question)
    assert time.terms == ("2026-02-09",)
    assert time.is_day(date(2026, 2, 9))
    assert time.nearness(date(2026, 2, 9)) == 1.0
    assert 0 < time.nearness(date(2026, 2, 8)) < 1
    assert time.nearness(date(2026, 1, 1)) == 0.0


def test_a_day_without_its_year_fits_in_every_year() -> None:
    time = asked("what dish did I make on May 5th?")
    for year in (2023, 2025, 2026):
        assert time.nearness(date(year, 5, 5)) == 1.0
        assert time.is_day(date(year, 5, 5))
    assert not time.is_day(date(2023, 5, 6))


def test_a_day_with_its_year_fits_in_that_year_alone() -> None:
    time = asked("what dish did I make on May 5th 2023?")
    assert time.nearness(date(2023, 5, 5)) == 1.0
    assert time.nearness(date(2022, 5, 5)) == 0.0
    assert time.terms == ()  # it stands in the question as it is


def test_a_month_tells_less_than_a_day_and_is_none() -> None:
    time = asked("what did we decide in January?")
    middle = date(2026, 1, 15)
    assert 0.3 < time.nearness(middle) < 0.6
    assert not time.is_day(middle)


def test_a_week_lies_between() -> None:
    time = asked("who called last week?")
    assert asked("in January?").nearness(date(2026, 1, 15)) < time.nearness(date(2026, 2, 4)) < 1
    assert time.terms == ()


def test_a_question_without_time_says_nothing() -> None:
    time = asked("what does Mira drink?")
    assert not time.said
    assert time.nearness(TODAY) == time.nearness(TODAY - timedelta(days=400)) == 0.0


@pytest.mark.parametrize("number", ["4711-12", "0000-00-00", "2026-13", "1850-05-06"])
def test_other_numbers_are_no_dates(number: str) -> None:
    time = asked(f"ticket {number} on May 6th")
    assert time.nearness(date(2023, 5, 6)) == 1.0
