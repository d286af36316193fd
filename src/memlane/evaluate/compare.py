"""Two evaluations of the same questions, side by side. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from .measures import NAMES, bootstrap_interval, mean, sign_test
from .results import Change, Comparison, Difference, Evaluation, Outcome

_SAME = 1e-9
_LEVEL = 0.05


def compare(
    first: Evaluation, second: Evaluation, *, names: tuple[str, str] = ("first", "second")
) -> Comparison:
    """What the second configuration wins and loses against the first, and whether that is noise.

    Differences are paired by question. One counts as more than noise when the 95 % bootstrap interval of
    nDCG@10 leaves out zero and the sign test over wins and losses is below 0.05: the interval alone is too
    narrow on a handful of questions, the test alone knows nothing of sizes.

    Raises UsageError when the two did not answer the same questions.
    """
    if [_asked(one) for one in first.outcomes] != [_asked(one) for one in second.outcomes]:
        raise UsageError("the two evaluations did not ask the same questions")
    pairs = list(zip(first.outcomes, second.outcomes, strict=True))
    changes = [_change(*pair) for pair in pairs if abs(pair[1].worth - pair[0].worth) > _SAME]
    wins = sorted((one for one in changes if one.difference > 0), key=_order)
    losses = sorted((one for one in changes if one.difference < 0), key=_order)
    differences = tuple(_difference(name, pairs) for name in NAMES)
    p_value = sign_test(len(wins), len(losses))
    ranking = differences[-1]
    clear = ranking.low > 0 or ranking.high < 0
    significant = clear and p_value < _LEVEL
    return Comparison(
        *names,
        first=first,
        second=second,
        differences=differences,
        wins=tuple(wins),
        losses=tuple(losses),
        ties=len(pairs) - len(changes),
        p_value=p_value,
        significant=significant,
        verdict=_verdict(names[1], ranking.difference, changes=len(changes), significant=significant),
    )


def _asked(outcome: Outcome) -> tuple[int, str, tuple[str, ...]]:
    return outcome.number, outcome.question, outcome.expected


def _change(first: Outcome, second: Outcome) -> Change:
    return Change(
        first.number,
        first.question,
        first.best_rank,
        second.best_rank,
        second.worth - first.worth,
        answerable=bool(first.expected),
    )


def _order(change: Change) -> tuple[float, int]:
    return -abs(change.difference), change.number


def _difference(name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> Difference:
    values = [
        (float(getattr(one.measures, name)), float(getattr(other.measures, name)))
        for one, other in pairs
        if one.measures and other.measures
    ]
    before, after = mean([one for one, _ in values]), mean([other for _, other in values])
    low, high = bootstrap_interval([other - one for one, other in values])
    return Difference(NAMES[name], before, after, after - before, low, high)


def _verdict(name: str, difference: float, *, changes: int, significant: bool) -> str:
    if not changes:
        return "both answer every question alike"
    if significant:
        return f"{name} is {'better' if difference > 0 else 'worse'}, by more than noise"
    return "the difference may be noise; more questions would tell"
