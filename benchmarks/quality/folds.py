"""The spread of a measure over groups of questions. Pure.

Questions of one workspace, or about one document, are alike; whatever was tuned on some of them is flattered
by the others. Folds therefore keep such a group together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

FOLDS = 5


@dataclass(frozen=True)
class Spread:
    """A measure over folds."""

    folds: int
    """How many folds hold a question."""
    mean: float
    deviation: float
    """The standard deviation over the folds; 0 for fewer than two."""
    least: float
    most: float


def assign_folds(groups: Mapping[str, str], folds: int = FOLDS) -> dict[str, int]:
    """A fold for each question, given the group of each: groups in the order of their hash, dealt in turn.

    The same on every machine, and as even as groups can be.
    """
    order = sorted(set(groups.values()), key=lambda group: hashlib.sha256(group.encode()).hexdigest())
    fold_of = {group: place % folds for place, group in enumerate(order)}
    return {question: fold_of[group] for question, group in groups.items()}


def groups_of(queries: Sequence[Mapping[str, Any]], folds: int = FOLDS) -> dict[str, str]:
    """The group of each question: its workspace where there are at least as many as folds, else its document.

    A question without a relevant document is a group of its own.
    """
    workspaces = {query["workspace"] for query in queries}
    if len(workspaces) >= folds:
        return {query["qid"]: query["workspace"] for query in queries}
    return {
        query["qid"]: query["relevant"][0].partition("#")[0] if query["relevant"] else f"qid:{query['qid']}"
        for query in queries
    }


def spread(rows: Sequence[Mapping[str, Any]], measure: str, fold_of: Mapping[str, int]) -> Spread | None:
    """A measure's mean in each fold, summed up; None over nothing."""
    by_fold: dict[int, list[float]] = {}
    for row in rows:
        by_fold.setdefault(fold_of[row["qid"]], []).append(row[measure])
    means = [fmean(values) for values in by_fold.values()]
    if not means:
        return None
    deviation = stdev(means) if len(means) > 1 else 0.0
    return Spread(len(means), fmean(means), deviation, min(means), max(means))
