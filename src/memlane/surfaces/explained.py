"""How a score came about, and what happened to the candidates of a query, as text.

What is known is said in words; whatever else an explanation or the totals hold is listed by its own name, so
that a new step shows without a change here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ..values import Explanation, Hit, SearchResult, SearchTotals

Rows = dict[str, str]

_DROPPED = {
    "by_score": "below the threshold",
    "missing_file": "whose file is gone",
    "by_size": "to keep the answer short",
}
_TOLD = frozenset(
    (
        *("keyword_rank", "keyword_raw", "keyword_score", "matched_terms"),
        *("vector_rank", "vector_raw", "vector_score"),
        *("media", "vector_weight", "text_weight", "fused", "threshold", "passed_by"),
        *("late", "reranked", "nearness", "strength", "lead"),
        *("age_days", "decay", "mmr_penalty", "mmr_against"),
    )
)
"""The fields of an explanation that have a row in words."""


def explanation_text(hit: Hit) -> str:
    """Every step that one result went through, one a line, ending with its score. Empty if not explained."""
    explanation = hit.explanation
    if explanation is None:
        return ""
    rows = {**_leg_rows(explanation), **_step_rows(explanation)}
    for name in explanation.__struct_fields__:
        value = getattr(explanation, name)
        if name not in _TOLD and not _is_blank(value):
            rows.setdefault(_words(name), _shown(value))
    rows["score"] = f"{hit.score:.3f}"
    return _table(rows, indent=4)


def totals_text(result: SearchResult, now: datetime) -> str:
    """What happened to the candidates of the query on the way to its results, and what each step took."""
    totals = result.totals
    rows: Rows = {"search": _search_text(result)}
    counts = {name: getattr(totals, name) for name in totals.__struct_fields__}
    found = [
        f"{value} {_words(name.removesuffix('_candidates'))}"
        for name, value in counts.items()
        if name.endswith("_candidates")
    ]
    dropped = []
    for name, value in counts.items():
        if name.startswith("dropped_") and value:
            cause = name.removeprefix("dropped_")
            dropped.append(f"{value} {_DROPPED.get(cause, _words(cause))}")
    rows["candidates"] = ", ".join(found)
    rows["dropped"] = ", ".join(dropped) or "none"
    rows["index"] = _index_text(totals, now)
    rows["time"] = _time_text(totals.milliseconds)
    told = ("generation", "last_sync", "milliseconds")
    for name, value in counts.items():
        if not name.startswith("dropped_") and not name.endswith("_candidates") and name not in told:
            rows.setdefault(_words(name), _shown(value))
    return _table({name: text for name, text in rows.items() if text}, indent=0)


def _leg_rows(explanation: Explanation) -> Rows:
    word, meaning = "no match", "no vector"
    if explanation.keyword_score is not None:
        word = (
            f"rank {explanation.keyword_rank}, BM25 {_number(explanation.keyword_raw)}"
            f" → {explanation.keyword_score:.3f}"
        )
        if explanation.matched_terms:
            word += f", terms {', '.join(explanation.matched_terms)}"
    if explanation.vector_score is not None:
        rank = f"rank {explanation.vector_rank}" if explanation.vector_rank else "beyond the candidates"
        meaning = f"{rank}, cosine {_number(explanation.vector_raw)} → {explanation.vector_score:.3f}"
    return {"keyword": word, "vector": meaning}


def _step_rows(explanation: Explanation) -> Rows:
    weights = f"{explanation.vector_weight:.2f} × vector + {explanation.text_weight:.2f} × keyword"
    passed = f", passed by {explanation.passed_by}" if explanation.passed_by else ", not passed"
    whole = explanation.media is not None and explanation.vector_weight == 1.0
    what = f" ({explanation.media}: its vector counts in full)" if whole else ""
    rows = {"fused": f"{weights} = {explanation.fused:.3f}{what}"}
    if explanation.late is not None:
        rows["late interaction"] = f"{explanation.late:.3f} for its best window"
    if explanation.reranked is not None:
        rows["reranking model"] = f"{explanation.reranked:.3f}"
    if explanation.nearness:
        rows["time asked for"] = f"{explanation.nearness:.3f}"
    if explanation.late is not None or explanation.reranked is not None:
        ahead = "ahead of" if explanation.lead >= 0 else "behind"
        rows["evidence"] = (
            f"{explanation.strength:.3f} in all, {abs(explanation.lead):.3f} {ahead} other notes"
        )
    rows |= {
        "threshold": f"{explanation.threshold:.2f}{passed}",
    }
    if explanation.decay is not None:
        days = explanation.age_days
        age = "" if days is None else f", {days} {'day' if days == 1 else 'days'} old"
        rows["decay"] = f"× {explanation.decay:.3f}{age}"
    if explanation.mmr_penalty is not None:
        against = f" for likeness to {explanation.mmr_against}" if explanation.mmr_against else ""
        rows["diversity"] = f"−{explanation.mmr_penalty:.3f}{against}"
    return rows


def _search_text(result: SearchResult) -> str:
    model = f" ({result.model})" if result.model else ""
    confidence = "" if result.confidence is None else f", confidence {result.confidence:.2f}"
    return f"{result.mode}, provider {result.provider}{model}{confidence}"


def _index_text(totals: SearchTotals, now: datetime) -> str:
    if totals.generation is None:
        return "none yet"
    return f"generation {totals.generation}{_age_text(totals.last_sync, now)}"


def _age_text(moment: str | None, now: datetime) -> str:
    if not moment:
        return ""
    try:
        written = datetime.fromisoformat(moment)
        seconds = max(0.0, (now - written).total_seconds())
    except (ValueError, TypeError):
        return f", last changed {moment}"
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f", last changed {count} {unit}{'' if count == 1 else 's'} ago"
    return ", last changed less than a minute ago"


def _time_text(milliseconds: Mapping[str, float]) -> str:
    if not milliseconds:
        return ""
    steps = ", ".join(f"{_words(step)} {taken:.1f}" for step, taken in milliseconds.items())
    return f"{sum(milliseconds.values()):.1f} ms ({steps})"


def _table(rows: Rows, *, indent: int) -> str:
    width = max(map(len, rows))
    return "\n".join(f"{' ' * indent}{name:<{width}}  {text}" for name, text in rows.items())


def _words(name: str) -> str:
    return name.replace("_", " ")


def _is_blank(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, tuple | list | dict) and not value)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value))
    return str(value)


def _number(value: float | None) -> str:
    """Three places, or three digits where the figure is smaller: BM25 of a lone note is about 0.000001."""
    if value is None:
        return "?"
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}"
