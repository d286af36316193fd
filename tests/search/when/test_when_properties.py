from __future__ import annotations

import unicodedata
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.search.when import Period, nearness, periods
from memlane.search.when.grammar import TABLES, UNSPACED, Operation, language, triggers
from memlane.search.when.words import folded, han_number

WORDS = sorted(
    {
        word
        for code in TABLES
        for word in [
            *language(code).classes,
            *language(code).known,
            *triggers().words,
            *triggers().beside_years,
        ]
    }
)
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(
        ["the", "of", "de", "前", "ago", "2023-05-02", "2", "2nd", "29", "2023", "999", "月", "年", "일"]
    ),
    st.text(max_size=4),
)
QUERIES = st.builds(
    lambda pieces, joint: joint.join(pieces),
    st.lists(PIECES, max_size=8),
    st.sampled_from([" ", "", ", ", "-", "."]),
)
DAYS = st.dates()
RELATIVE = [
    "yesterday",
    "last week",
    "three weeks ago",
    "a few days ago",
    "last Monday",
    "on Tuesday",
    "this Sunday",
    "next Friday",
    "last weekend",
    "in the last 10 days",
    "지난주 수요일",
    "上周三",
    "先週の金曜日",
    "hace dos semanas",
    "vor drei Tagen",
    "il y a trois jours",
]


@given(QUERIES, DAYS)
def test_any_text_on_any_day_gives_spans_that_lie_in_it(query: str, today: date) -> None:
    for period in periods(query, today):
        assert period.start <= period.end
        assert period.phrase
        assert period.phrase in unicodedata.normalize("NFC", query)


@given(st.text(), DAYS)
def test_no_text_raises(query: str, today: date) -> None:
    periods(query, today)


@given(st.sampled_from(RELATIVE), st.dates(date(1950, 1, 1), date(2100, 1, 1)), st.integers(-500, 500))
def test_whole_weeks_later_the_phrase_means_whole_weeks_later(phrase: str, today: date, weeks: int) -> None:
    shift = timedelta(weeks=weeks)
    then = [(period.start + shift, period.end + shift) for period in periods(phrase, today)]
    assert len(then) == 1
    assert [(period.start, period.end) for period in periods(phrase, today + shift)] == then


@given(st.text())
def test_folding_keeps_every_character_in_its_place(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    assert len(folded(text)) == len(text)


@pytest.mark.parametrize("code", TABLES)
def test_every_phrase_of_the_tables_can_be_worked_out(code: str) -> None:
    samples: dict[str, str] = {"{n}": "3", "{day}": "3", "{m}": "3", "{year}": "2020", "{ord}": "3rd"}
    for word, readings in language(code).classes.items():
        for name, value in readings:
            if name != "unit" or value == "week":
                samples.setdefault(f"{{{name}}}", word)
    joint = "" if code in UNSPACED else " "
    today = date(2026, 3, 18)
    for phrase, operation in _phrases(language(code).phrases):
        if operation.verb in {"none", "since", "before", "after"} or operation.only in {"?", "!"}:
            continue
        text = joint.join(samples[step] if step.startswith("{") else step for step in phrase)
        assert periods(text, today), text


def _phrases(node: dict[Any, Any], steps: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Operation]]:
    assert steps or None not in node, "a phrase of nothing stands everywhere"
    found = []
    for step, further in node.items():
        found += [(steps, further)] if step is None else _phrases(further, (*steps, step))
    return found


@pytest.mark.parametrize(
    ("signs", "number"), [("三", 3), ("十", 10), ("十二", 12), ("二十三", 23), ("二〇二三", 2023)]
)
def test_han_numerals(signs: str, number: int) -> None:
    assert han_number(signs) == number


def test_a_very_long_text_is_read_at_its_beginning() -> None:
    assert [
        period.phrase for period in periods("yesterday " + "last week " * 100_000, date(2026, 3, 18))
    ] == [
        "yesterday",
        "last week",
    ]


# ---- nearness ----------------------------------------------------------------------------------------


DAY = Period(date(2026, 3, 10), date(2026, 3, 10), "on Tuesday")
MONTH = Period(date(2026, 3, 1), date(2026, 3, 31), "March")
YEAR = Period(date(2026, 1, 1), date(2026, 12, 31), "2026")


@pytest.mark.parametrize("period", [DAY, MONTH, YEAR])
@pytest.mark.parametrize("sign", [-1, 1])
def test_nearness_is_full_inside_and_falls_evenly_outside(period: Period, sign: int) -> None:
    edge = period.start if sign < 0 else period.end
    values = [nearness(edge + timedelta(days=sign * days), [period]) for days in range(120)]
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.0


@pytest.mark.parametrize(
    ("period", "last_near", "gone"),
    [(DAY, 2, 3), (MONTH, 16, 17), (YEAR, 57, 58)],
    ids=["day", "month", "year"],
)
def test_nearness_reaches_as_far_as_the_period_is_long(period: Period, last_near: int, gone: int) -> None:
    assert nearness(period.end + timedelta(days=last_near), [period]) > 0
    assert nearness(period.end + timedelta(days=gone), [period]) == 0


def test_the_nearest_period_counts_and_none_counts_nothing() -> None:
    assert nearness(date(2026, 3, 11), [DAY]) == pytest.approx(2 / 3)
    assert nearness(date(2026, 3, 11), [DAY, MONTH]) == 1.0
    assert nearness(date(2026, 3, 11), []) == 0.0


@given(DAYS, DAYS, DAYS)
def test_nearness_stays_within_bounds(day: date, one: date, other: date) -> None:
    assert 0.0 <= nearness(day, [Period(min(one, other), max(one, other), "")]) <= 1.0
