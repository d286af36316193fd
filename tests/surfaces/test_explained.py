from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memlane.surfaces.explained import explanation_text, totals_text
from memlane.values import Explanation, Hit, SearchResult, SearchTotals

NOON = datetime(2026, 2, 10, 12, tzinfo=UTC)


class Richer(Explanation, frozen=True):
    """What an explanation may become."""

    title_bonus: float | None = None


def rows(explanation: Explanation) -> dict[str, str]:
    hit = Hit("a.md", 1, 2, 0.5, "text", "memory", explanation=explanation)
    return dict(line.strip().split("  ", 1) for line in explanation_text(hit).splitlines())


def test_each_step_is_a_row() -> None:
    found = rows(
        Explanation(
            keyword_rank=2, keyword_raw=0.0000012, keyword_score=0.6, vector_rank=None, vector_raw=0.41,
            vector_score=0.7, vector_weight=0.7, text_weight=0.3, fused=0.67, threshold=0.35,
            passed_by="vector", age_days=1, decay=0.977, mmr_penalty=0.12, mmr_against="b.md#L1-L2",
            matched_terms=("등대", "keeper"),
        )
    )  # fmt: skip
    assert {name: text.strip() for name, text in found.items()} == {
        "keyword": "rank 2, BM25 1.2e-06 → 0.600, terms 등대, keeper",
        "vector": "beyond the candidates, cosine 0.410 → 0.700",
        "fused": "0.70 × vector + 0.30 × keyword = 0.670",
        "threshold": "0.35, passed by vector",
        "decay": "× 0.977, 1 day old",
        "diversity": "−0.120 for likeness to b.md#L1-L2",
        "score": "0.500",
    }


def test_what_did_not_touch_the_result_has_no_row() -> None:
    found = rows(Explanation(fused=0.4, threshold=0.35))
    assert list(found) == ["keyword", "vector", "fused", "threshold", "score"]
    assert found["keyword"].strip() == "no match"
    assert found["threshold"].strip() == "0.35, not passed"


def test_that_the_vector_of_a_picture_counts_in_full_is_said() -> None:
    by_meaning = rows(Explanation(media="image", vector_weight=1.0, fused=0.8))
    assert by_meaning["fused"].endswith("= 0.800 (image: its vector counts in full)")
    by_name = rows(Explanation(media="image", vector_weight=0.6, text_weight=0.4, fused=0.8))
    assert by_name["fused"].endswith("= 0.800")


def test_fields_nobody_here_knows_are_shown() -> None:
    found = rows(Richer(title_bonus=0.1, decay=0.9))
    assert found["title bonus"].strip() == "0.100"
    assert found["decay"].strip() == "× 0.900"


def test_no_explanation_is_no_text() -> None:
    assert explanation_text(Hit("a.md", 1, 2, 0.5, "text", "memory")) == ""


class MoreTotals(SearchTotals, frozen=True):
    date_candidates: int = 4
    dropped_too_old: int = 2
    rewritten: str = "yes"


def totals(result: SearchTotals, now: datetime = NOON) -> dict[str, str]:
    text = totals_text(SearchResult((), "none", None, "keyword", totals=result), now)
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in text.splitlines()}


def test_totals_of_a_query() -> None:
    written = (NOON - timedelta(hours=2, minutes=5)).isoformat()
    assert totals(
        SearchTotals(
            keyword_candidates=3, vector_candidates=9, dropped_by_score=5, dropped_missing_file=1,
            generation=7, last_sync=written, milliseconds={"legs": 1.25, "first_rank": 0.5},
        )
    ) == {
        "search": "keyword, provider none",
        "candidates": "3 keyword, 9 vector",
        "dropped": "5 below the threshold, 1 whose file is gone",
        "index": "generation 7, last changed 2 hours ago",
        "time": "1.8 ms (legs 1.2, first rank 0.5)",
    }  # fmt: skip


def test_totals_nobody_here_knows_are_shown() -> None:
    found = totals(MoreTotals())
    assert found["candidates"] == "0 keyword, 0 vector, 4 date"
    assert found["dropped"] == "2 too old"
    assert found["rewritten"] == "yes"
    assert found["index"] == "none yet"
    assert "time" not in found


def test_ages() -> None:
    for ago, words in (
        (timedelta(seconds=-5), "less than a minute ago"),
        (timedelta(seconds=61), "1 minute ago"),
        (timedelta(days=3), "3 days ago"),
    ):
        found = totals(SearchTotals(generation=1, last_sync=(NOON - ago).isoformat()))
        assert found["index"] == f"generation 1, last changed {words}"
    assert totals(SearchTotals(generation=1, last_sync="2026-02-10"))["index"].endswith("2026-02-10")
