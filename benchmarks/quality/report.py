"""From the runs of a set to rows of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memlane.evaluate.measures import percentile

from .abstention import Abstaining, abstaining
from .folds import assign_folds, groups_of, spread
from .runs import Combination, Run, run_set
from .sets import EvaluationData, LaidOut
from .table import MEASURES, WITH_INTERVAL, Cell, Row


def measure_set(
    folder: Path,
    name: str,
    *,
    combinations: list[Combination],
    cache: Path,
    folds: bool,
    cuts: bool,
    low_confidence: float,
) -> tuple[list[Row], list[str]]:
    """The rows of a set under every combination, and what was passed over."""
    data = EvaluationData(folder)
    place = cache / name
    place.mkdir(parents=True, exist_ok=True)
    out, runs, skipped = run_set(data, name, combinations, place)
    rows = [
        row
        for run in runs
        for row in rows_of(data, name, out, run, folds=folds, cuts=cuts, low_confidence=low_confidence)
    ]
    return rows, skipped


def rows_of(
    data: EvaluationData, name: str, out: LaidOut, run: Run, *, folds: bool, cuts: bool, low_confidence: float
) -> list[Row]:
    """The rows of one run: all queries, each kind and each language, by level."""
    scored = data.scored(name, run.ranked, out.entries)
    rows = []
    for cut in data.cuts(scored):
        if cut["cut"] != "all" and not cuts:
            continue
        part = _part(scored, cut["level"], cut["cut"])
        extra: dict[str, Cell] = {"chars": round(cut["chars"])}
        if cut["cut"] == "all":
            extra |= _costs(run)
            extra |= _spreads(out, part) if folds else {}
            extra |= _silence(run, low_confidence)
        rows.append(
            Row(
                name,
                run.model,
                run.configuration,
                cut["level"],
                cut["cut"],
                cut["n"],
                {measure: float(cut[measure]) for measure in MEASURES},
                {measure: data.interval(part, measure) for measure in WITH_INTERVAL},
                extra,
            )
        )
    return rows


def _part(scored: list[dict[str, Any]], level: str, cut: str) -> list[dict[str, Any]]:
    """The queries of a cut: `all`, `kind …` or `lang …`."""
    rows = [row for row in scored if row["level"] == level]
    key, _, value = cut.partition(" ")
    return [row for row in rows if row[key] == value] if value else rows


def _costs(run: Run) -> dict[str, Cell]:
    answerable = [one for one in run.answers if one.answerable]
    return {
        "silent": sum(one.empty for one in answerable) / len(answerable) if answerable else None,
        "ms p50": percentile(run.milliseconds, 0.5),
        "ms p95": percentile(run.milliseconds, 0.95),
        "chunks": run.chunks,
        "index MB": run.index_bytes / 1e6,
        "index s": run.index_seconds,
    }


def _spreads(out: LaidOut, rows: list[dict[str, Any]]) -> dict[str, Cell]:
    """Standard deviation, least and most over the folds, for the measures with intervals."""
    fold_of = assign_folds(groups_of(out.queries))
    cells: dict[str, Cell] = {}
    for measure in WITH_INTERVAL:
        found = spread(rows, measure, fold_of)
        if found is not None:
            cells["folds"] = found.folds
            cells[f"{measure} fold sd"] = found.deviation
            cells[f"{measure} fold min"] = found.least
            cells[f"{measure} fold max"] = found.most
    return cells


def _silence(run: Run, low_confidence: float) -> dict[str, Cell]:
    """How unanswerable questions are told, where the set has some."""
    found = abstaining(run.answers, low_confidence)
    if found is None:
        return {}
    return {
        "unanswerable": found.unanswerable,
        "silence precision": found.by_silence.precision,
        "silence recall": found.by_silence.recall,
        **_by_confidence(found),
        f"AUC {found.signal}": found.area,
    }


def _by_confidence(found: Abstaining) -> dict[str, Cell]:
    if found.by_confidence is None:
        return {}
    return {
        "low confidence precision": found.by_confidence.precision,
        "low confidence recall": found.by_confidence.recall,
    }
