"""Evaluations and comparisons as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evaluate import Comparison, Evaluation
    from ..evaluate.results import Change, Miss

_LONGEST_QUESTION = 90


def evaluation_text(evaluation: Evaluation, *, verbose: bool = False) -> str:
    """The measures of one evaluation and what it missed."""
    blocks = ["\n".join([_heading(evaluation), "", *_table([_column(evaluation)])])]
    missed = [miss for miss in evaluation.misses if not miss.found_another]
    partly = [miss for miss in evaluation.misses if miss.found_another]
    if missed:
        count = evaluation.answerable - evaluation.found
        blocks.append("\n".join([f"Missed ({count}):", *_misses(missed)]))
    if partly and verbose:
        blocks.append("\n".join([f"Answered, but missed as well ({len(partly)}):", *_misses(partly)]))
    elif partly:
        places = _counted(len(partly), "further expected place")
        blocks.append(f"{places} of answered questions missed (--verbose lists them).")
    if wrong := _wrong_answers(evaluation):
        count = evaluation.abstention.questions - evaluation.abstention.right
        blocks.append("\n".join([f"Answered although nothing should be found ({count}):", *wrong]))
    blocks += [f"warning: {warning}" for warning in evaluation.warnings]
    return "\n\n".join(blocks)


def comparison_text(comparison: Comparison) -> str:
    """Two evaluations side by side, and which questions they answer differently."""
    first, second = comparison.first, comparison.second
    names = ("", comparison.first_name, comparison.second_name, "difference", "95 % interval")
    rows: list[Sequence[str]] = [names]
    for one in comparison.differences:
        interval = f"{_signed(one.low)} … {_signed(one.high)}"
        rows.append((one.measure, f"{one.first:.3f}", f"{one.second:.3f}", _signed(one.difference), interval))
    rows += [
        (label, *values)
        for label, *values in zip(_LABELS, _facts(first), _facts(second), strict=True)
        if any(value != "–" for value in values)
    ]
    blocks = ["\n".join([_heading(first), f"against {_provider(second)}", "", *_aligned(rows)])]
    for title, changes in (("Better", comparison.wins), ("Worse", comparison.losses)):
        if changes:
            heading = f"{title} with {comparison.second_name} ({len(changes)}), by nDCG@10:"
            blocks.append("\n".join([heading, *_changes(changes)]))
    wins, losses = len(comparison.wins), len(comparison.losses)
    blocks.append(
        f"{wins} better, {losses} worse, {comparison.ties} alike; sign test p = {comparison.p_value:.3f}:"
        f" {comparison.verdict}."
    )
    blocks += [f"warning: {warning}" for warning in dict.fromkeys((*first.warnings, *second.warnings))]
    return "\n\n".join(blocks)


_LABELS = (
    "answered",
    "nothing found, rightly",
    "nothing found, wrongly",
    "time, median",
    "time, 95th percentile",
)


def _facts(evaluation: Evaluation) -> tuple[str, ...]:
    """What goes with each of the labels."""
    silence = evaluation.abstention
    return (
        f"{evaluation.found} of {evaluation.answerable}" if evaluation.answerable else "–",
        f"{silence.right} of {silence.questions}" if silence.questions else "–",
        f"{silence.wrong} of {evaluation.answerable}" if evaluation.answerable else "–",
        f"{evaluation.milliseconds_p50:.1f} ms",
        f"{evaluation.milliseconds_p95:.1f} ms",
    )


def _column(evaluation: Evaluation) -> list[tuple[str, str]]:
    from ..evaluate.measures import NAMES

    measures = evaluation.measures
    rows = [(NAMES[name], f"{getattr(measures, name):.3f}") for name in NAMES] if measures else []
    facts = zip(_LABELS, _facts(evaluation), strict=True)
    return rows + [(label, fact) for label, fact in facts if fact != "–"]


def _table(columns: Sequence[list[tuple[str, str]]]) -> list[str]:
    return _aligned([row for column in columns for row in column])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns, as wide as the widest; the last column is not padded."""
    count = max(len(row) for row in rows)
    widths = [max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]


def _heading(evaluation: Evaluation) -> str:
    return f"{_counted(evaluation.questions, 'question')}, {_provider(evaluation)}"


def _provider(evaluation: Evaluation) -> str:
    model = f" ({evaluation.model})" if evaluation.model else ""
    return f"provider {evaluation.provider}{model}, {evaluation.mode} search"


def _misses(misses: Sequence[Miss]) -> list[str]:
    lines: list[str] = []
    last = None
    for miss in misses:
        if miss.number != last or not lines:
            lines.append(f"  {_numbered(miss.number, miss.question)}")
            last = miss.number
        kind = miss.code.replace("_", " ")
        lines.append(f"      {miss.expected}: {kind}: {miss.reason}")
    return lines


def _wrong_answers(evaluation: Evaluation) -> list[str]:
    lines = []
    for one in evaluation.outcomes:
        if not one.expected and not one.abstained:
            sure = "" if one.confidence is None else f", confidence {one.confidence:.2f}"
            lines += [f"  {_numbered(one.number, one.question)}", f"      {one.results[0]}{sure}"]
    return lines


def _changes(changes: Sequence[Change]) -> list[str]:
    rows = []
    for change in changes:
        if change.answerable:
            ranks = [str(rank) if rank else "–" for rank in (change.first_rank, change.second_rank)]
            how = f"rank {ranks[0]} → {ranks[1]}"
        else:
            how = "finds nothing now" if change.difference > 0 else "finds something now"
        rows.append((f"  {how}", _signed(change.difference), _numbered(change.number, change.question)))
    return _aligned(rows)


def _numbered(number: int, question: str) -> str:
    line = " ".join(question.split())
    short = line if len(line) <= _LONGEST_QUESTION else f"{line[: _LONGEST_QUESTION - 1]}…"
    return f"{number}. {short}" if number else short


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
