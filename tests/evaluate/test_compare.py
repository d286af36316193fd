from __future__ import annotations

from collections.abc import Sequence

import pytest

from memlane import UsageError
from memlane.evaluate import Evaluation, compare
from memlane.evaluate.measures import mean_measures, measured
from memlane.evaluate.results import Abstention, Outcome


def evaluation(ranks: Sequence[int | None], silent: Sequence[bool] = ()) -> Evaluation:
    """One with a question a rank, then one a truth value: whether nothing was rightly found."""
    outcomes = [
        Outcome(n, f"q{n}", ("a.md",), (rank,), (), measured([rank]), rank is None, None, 1.0)
        for n, rank in enumerate(ranks, start=1)
    ]
    outcomes += [
        Outcome(n, f"q{n}", (), (), (), None, right, None, 1.0)
        for n, right in enumerate(silent, start=len(ranks) + 1)
    ]
    return Evaluation(
        "none", None, "keyword", len(outcomes), len(ranks), 0,
        mean_measures([one.measures for one in outcomes if one.measures]),
        Abstention(len(silent), sum(silent), 0, 0), 1.0, 1.0, tuple(outcomes), (),
    )  # fmt: skip


def test_the_same_twice_is_no_difference() -> None:
    one = evaluation([1, 3, None], [True])
    same = compare(one, one)
    assert (same.wins, same.losses, same.ties, same.p_value, same.significant) == ((), (), 4, 1.0, False)
    assert same.verdict == "both answer every question alike"
    assert all((row.difference, row.low, row.high) == (0, 0, 0) for row in same.differences)


def test_wins_and_losses_are_paired_and_ordered() -> None:
    found = compare(evaluation([1, 2, 4, None], [False]), evaluation([1, 1, None, 3], [True]))
    assert [(one.number, one.first_rank, one.second_rank) for one in found.wins] == [
        (5, None, None),
        (4, None, 3),
        (2, 2, 1),
    ]
    assert [one.number for one in found.losses] == [3]
    assert not found.wins[0].answerable
    assert found.ties == 1


def test_a_handful_of_questions_never_tells() -> None:
    few = compare(evaluation([None] * 5), evaluation([1] * 5), names=("a", "b"))
    assert few.differences[-1].low == 1.0
    assert not few.significant
    assert few.verdict == "the difference may be noise; more questions would tell"
    enough = compare(evaluation([None] * 6), evaluation([1] * 6), names=("a", "b"))
    assert enough.significant
    assert enough.verdict == "b is better, by more than noise"
    assert compare(evaluation([1] * 6), evaluation([None] * 6)).verdict.startswith("second is worse")


def test_different_questions_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="did not ask the same questions"):
        compare(evaluation([1]), evaluation([1, 2]))
