"""Asks every question through the ordinary search and gathers what came of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from time import perf_counter
from typing import Protocol

from ..errors import UsageError
from ..search.settings import DOUBTFUL
from ..values import Hit, SearchResult, Source, Status
from ..workspace import Workspace, glob_expression, scan_tree
from .measures import DEPTH, mean_measures, measured, percentile
from .questions import Question, Target
from .reasons import Deeper, Notes, reaching
from .results import Abstention, Evaluation, Miss, Outcome


class SearchedMemory(Protocol):
    """What evaluating asks of a memory."""

    @property
    def workspace(self) -> Workspace:
        """Where the notes are."""
        ...

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        source: Source | None = None,
        path: str | None = None,
        since: date | None = None,
        until: date | None = None,
        explain: bool = False,
        sync: bool | None = None,
    ) -> SearchResult:
        """Passages that answer a query."""
        ...

    def status(self) -> Status:
        """What is indexed, and what failed."""
        ...


def evaluate(
    memory: SearchedMemory,
    questions: Sequence[Question],
    *,
    low_confidence: float = DOUBTFUL,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """How well a memory, as it is indexed now, answers the questions.

    Each is one ordinary search for ten results, with the configured threshold. The first one is asked twice,
    so that no time includes the loading of a model. `progress` is told (done, total).

    Raises UsageError without questions, and what `Memory.search` raises.
    """
    if not questions:
        raise UsageError("there are no questions to ask")
    notes = Notes(memory.workspace, scan_tree(memory.workspace), memory.status)
    ask = _asker(memory)
    ask(questions[0], max_results=DEPTH)
    outcomes: list[Outcome] = []
    misses: list[Miss] = []
    answers: list[SearchResult] = []
    for done, question in enumerate(questions, start=1):
        located = tuple(notes.located(target) for target in question.targets)
        started = perf_counter()
        answer = ask(question, max_results=DEPTH)
        milliseconds = round(1000 * (perf_counter() - started), 3)
        outcome = _outcome(question, located, answer, milliseconds, low_confidence)
        outcomes.append(outcome)
        answers.append(answer)
        misses += _misses(outcome, located, notes, Deeper(question, answer, ask))
        if progress is not None:
            progress(done, len(questions))
    return _summed(outcomes, misses, answers)


def _asker(memory: SearchedMemory) -> Callable[..., SearchResult]:
    """Asks a question within its own limits; `note` narrows the search to one path."""

    def ask(
        question: Question,
        *,
        max_results: int,
        min_score: float | None = None,
        note: str | None = None,
    ) -> SearchResult:
        if note and question.glob and not _takes_in(question.glob, note):
            return SearchResult((), "none", None, "keyword")
        return memory.search(
            question.text,
            max_results=max_results,
            min_score=min_score,
            path=question.glob if note is None else literal_glob(note),
            since=question.since,
            until=question.until,
            source=question.source,
            explain=True,
            sync=False,
        )

    return ask


def _takes_in(glob: str, path: str) -> bool:
    return re.fullmatch(glob_expression(glob), path, re.IGNORECASE) is not None


def literal_glob(path: str) -> str:
    """A glob that matches this path alone. Pure."""
    return "".join(f"[{sign}]" if sign in "*?[{" else sign for sign in path)


def _outcome(
    question: Question,
    located: Sequence[Target],
    answer: SearchResult,
    milliseconds: float,
    low_confidence: float,
) -> Outcome:
    confidence = answer.confidence
    ranks = [reaching(answer, target) for target in located]
    return Outcome(
        number=question.number,
        question=question.text,
        expected=tuple(str(target) for target in located),
        ranks=tuple(ranks),
        results=tuple(_place(hit) for hit in answer.hits[:DEPTH]),
        measures=measured(ranks) if ranks else None,
        abstained=not answer.hits or (confidence is not None and confidence < low_confidence),
        confidence=confidence,
        milliseconds=milliseconds,
    )


def _misses(outcome: Outcome, located: Sequence[Target], notes: Notes, deeper: Deeper) -> list[Miss]:
    misses = []
    for target, rank in zip(located, outcome.ranks, strict=True):
        if rank is not None:
            continue
        reason = notes.fault(target) or deeper.reason(target)
        misses.append(
            Miss(
                outcome.number,
                outcome.question,
                str(target),
                reason.code,
                reason.message,
                reason.rank,
                found_another=outcome.best_rank is not None,
            )
        )
    return misses


def _summed(
    outcomes: Sequence[Outcome], misses: Sequence[Miss], answers: Sequence[SearchResult]
) -> Evaluation:
    answerable = [one for one in outcomes if one.measures is not None]
    silent = [one for one in outcomes if one.measures is None]
    times = [one.milliseconds for one in outcomes]
    modes = Counter(str(answer.mode) for answer in answers)
    warnings = dict.fromkeys(answer.warning for answer in answers if answer.warning)
    return Evaluation(
        provider=answers[0].provider,
        model=answers[0].model,
        mode=modes.most_common(1)[0][0],
        questions=len(outcomes),
        answerable=len(answerable),
        found=sum(one.best_rank is not None for one in answerable),
        measures=mean_measures([one.measures for one in answerable if one.measures]),
        abstention=Abstention(
            questions=len(silent),
            right=sum(one.abstained for one in silent),
            empty=sum(not one.results for one in silent),
            wrong=sum(one.abstained for one in answerable),
        ),
        milliseconds_p50=percentile(times, 0.5),
        milliseconds_p95=percentile(times, 0.95),
        outcomes=tuple(outcomes),
        misses=tuple(misses),
        warnings=tuple(warnings),
    )


def _place(hit: Hit) -> str:
    return str(Target(hit.path, hit.start_line, hit.end_line))
