"""One table of figures, as Markdown and as TSV, under a header that says how it came about. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = str | int | float | None

WITH_INTERVAL = ("recall@5", "mrr", "ndcg@10")
"""Measures that are given with their 95 % interval."""
MEASURES = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10")
COSTS = ("chars", "silent", "ms p50", "ms p95", "chunks", "index MB", "index s")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    set_name: str
    model: str
    configuration: str
    level: str
    cut: str
    n: int
    figures: dict[str, float]
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    extra: dict[str, Cell] = field(default_factory=dict)
    """Further columns by name, such as costs and spreads; absent ones stay blank."""


KEYS = ("set", "model", "configuration", "level", "cut", "n")


def as_tsv(header: Sequence[tuple[str, str]], rows: Sequence[Row]) -> str:
    """Every figure in a column of its own; the header as comment lines."""
    more = _extra_columns(rows)
    bounds = [f"{measure} {end}" for measure in WITH_INTERVAL for end in ("low", "high")]
    lines = [f"# {name}: {value}" for name, value in header]
    lines.append("\t".join((*KEYS, *MEASURES, *bounds, *more)))
    for row in rows:
        limits = [row.intervals.get(measure, (None, None)) for measure in WITH_INTERVAL]
        cells: list[Cell] = [*_keys(row), *(row.figures[measure] for measure in MEASURES)]
        cells += [end for pair in limits for end in pair]
        cells += [row.extra.get(name) for name in more]
        lines.append("\t".join(_plain(cell) for cell in cells))
    return "\n".join(lines) + "\n"


def as_markdown(header: Sequence[tuple[str, str]], rows: Sequence[Row]) -> str:
    """The same for reading: intervals in brackets beside their measure."""
    more = _extra_columns(rows)
    names = (*KEYS, *MEASURES, *more)
    lines = [f"- {name}: {_escaped(value)}" for name, value in header]
    lines += ["", _line(names), _line([*["---"] * 5, *["---:"] * (len(names) - 5)])]
    for row in rows:
        cells = [_plain(cell) for cell in _keys(row)]
        for measure in MEASURES:
            text = f"{row.figures[measure]:.3f}"
            if measure in row.intervals:
                low, high = row.intervals[measure]
                text += f" ({low:.3f}–{high:.3f})"
            cells.append(text)
        lines.append(_line([*cells, *(_plain(row.extra.get(name)) for name in more)]))
    return "\n".join(lines) + "\n"


def _keys(row: Row) -> list[Cell]:
    return [row.set_name, row.model, row.configuration, row.level, row.cut, row.n]


def _extra_columns(rows: Sequence[Row]) -> list[str]:
    """Costs first, in their order, then whatever else a row has."""
    found = dict.fromkeys(name for row in rows for name in row.extra)
    return [name for name in COSTS if name in found] + [name for name in found if name not in COSTS]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _plain(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.3f}" if abs(cell) < 10 else f"{cell:.1f}"
    return str(cell)
