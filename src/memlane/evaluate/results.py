"""What an evaluation gives: values, ready to be printed or written as JSON."""

from __future__ import annotations

from ..values import Value
from .measures import Measures


class Outcome(Value, frozen=True):
    """What one question got."""

    number: int
    """The question's own number: its line in the file."""
    question: str
    expected: tuple[str, ...]
    """Empty for a question that should find nothing."""
    ranks: tuple[int | None, ...]
    """For each expected place the rank of the first result on it; None when it is not among the first ten."""
    results: tuple[str, ...]
    """The first ten results, `path#Lstart-Lend`."""
    measures: Measures | None
    """None for a question that should find nothing."""
    abstained: bool
    """Nothing was found, or it was given with low confidence."""
    confidence: float | None
    milliseconds: float

    @property
    def best_rank(self) -> int | None:
        """The rank of the first result on an expected place."""
        return min((rank for rank in self.ranks if rank is not None), default=None)

    @property
    def worth(self) -> float:
        """One figure in 0..1: nDCG@10, or whether a question without an answer rightly found nothing."""
        return float(self.abstained) if self.measures is None else self.measures.ndcg_at_10


class Miss(Value, frozen=True):
    """An expected place that is not among the first ten results, and why.

    `code` is stable: not_a_note, no_such_file, no_such_lines, ignored, failed, filtered, not_a_candidate,
    below_threshold, ranked_low.
    """

    number: int
    question: str
    expected: str
    code: str
    reason: str
    rank: int | None = None
    found_another: bool = False
    """Another place expected by the same question is among the results."""


class Abstention(Value, frozen=True):
    """How nothing was answered where nothing is the answer, and where it is not."""

    questions: int
    """Questions that should find nothing."""
    right: int
    """Those of them that found nothing, or only with low confidence."""
    empty: int
    """Those of them that found nothing at all."""
    wrong: int
    """Questions with an answer that found nothing, or only with low confidence."""


class Evaluation(Value, frozen=True):
    """How a memory answered a set of questions."""

    provider: str
    model: str | None
    mode: str
    """`hybrid`, `keyword` or `vector`: how most questions were searched."""
    questions: int
    answerable: int
    """Questions with an expected place."""
    found: int
    """Those of them with an expected place among the first ten results."""
    measures: Measures | None
    """Means over the answerable questions."""
    abstention: Abstention
    milliseconds_p50: float
    milliseconds_p95: float
    outcomes: tuple[Outcome, ...]
    misses: tuple[Miss, ...]
    warnings: tuple[str, ...] = ()


class Difference(Value, frozen=True):
    """One measure under two configurations."""

    measure: str
    first: float
    second: float
    difference: float
    """Second minus first."""
    low: float
    """The 95 % interval of the difference, by paired bootstrap over the questions."""
    high: float


class Change(Value, frozen=True):
    """A question that the two configurations answer differently."""

    number: int
    question: str
    first_rank: int | None
    second_rank: int | None
    difference: float
    """Of nDCG@10, or of having rightly found nothing."""
    answerable: bool = True


class Comparison(Value, frozen=True):
    """Two configurations over the same questions."""

    first_name: str
    second_name: str
    first: Evaluation
    second: Evaluation
    differences: tuple[Difference, ...]
    wins: tuple[Change, ...]
    """Questions that the second answers better, the largest gain first."""
    losses: tuple[Change, ...]
    """Questions that it answers worse, the largest loss first."""
    ties: int
    p_value: float
    """Two-sided sign test over wins and losses."""
    significant: bool
    """Both the interval of nDCG@10 leaves out zero and the sign test is below 0.05."""
    verdict: str
