"""How well questions without an answer are told from those with one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memlane.evaluate.measures import Detection, area_under_curve, detection


@dataclass(frozen=True)
class Answered:
    """What a question got, as far as abstaining is concerned."""

    qid: str
    answerable: bool | None
    """None when nobody said."""
    empty: bool
    confidence: float | None
    score: float
    """Of the first result; 0 without one."""


@dataclass(frozen=True)
class Abstaining:
    """How a system stays silent."""

    unanswerable: int
    answerable: int
    by_silence: Detection
    """Nothing was found."""
    by_confidence: Detection | None
    """Nothing was found, or with a confidence below the threshold; None where confidences are not given."""
    signal: str
    """What the area is over: `confidence`, or `top score` where there is none."""
    area: float | None
    """The chance that an answerable question scores above an unanswerable one."""


def is_answerable(query: dict[str, object]) -> bool | None:
    """Whether a data set's question has an answer; None when it is not labelled."""
    if query["relevant"]:
        return True
    return False if query["kind"] == "abstention" else None


def abstaining(answers: Sequence[Answered], low_confidence: float) -> Abstaining | None:
    """The report; None for a set without labelled unanswerable questions."""
    known = [one for one in answers if one.answerable is not None]
    due = [not one.answerable for one in known]
    if not any(due):
        return None
    sure = all(one.confidence is not None for one in known if not one.empty)
    rated = sure and any(one.confidence is not None for one in known)
    values = [(one.confidence or 0.0) if rated else one.score for one in known]
    return Abstaining(
        unanswerable=sum(due),
        answerable=len(due) - sum(due),
        by_silence=detection([one.empty for one in known], due),
        by_confidence=detection([one.empty or (one.confidence or 0.0) < low_confidence for one in known], due)
        if rated
        else None,
        signal="confidence" if rated else "top score",
        area=area_under_curve(
            [value for value, silent in zip(values, due, strict=True) if not silent],
            [value for value, silent in zip(values, due, strict=True) if silent],
        ),
    )
