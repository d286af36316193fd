from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.index.analyze import query_terms
from memlane.search.snippet import SNIPPET_CHARACTERS, cut_snippet, find_matches


def snippet(text: str, query: str, limit: int = SNIPPET_CHARACTERS) -> str:
    terms = query_terms(query)
    return cut_snippet(text, find_matches(text, terms), dict.fromkeys(terms, 1.0), limit=limit)


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("  a short text\n", "text") == "  a short text\n"


def test_the_window_lies_round_the_match() -> None:
    text = "word " * 400 + "the periwinkle key " + "word " * 400
    shown = snippet(text, "periwinkle")
    assert "the periwinkle key" in shown
    assert shown.startswith("…word")
    assert shown.endswith("word…")
    assert len(shown) <= SNIPPET_CHARACTERS


def test_the_window_with_more_of_the_query_wins_over_repetition() -> None:
    text = "harbour " * 60 + "filler " * 200 + "harbour light in winter " + "filler " * 100
    assert "harbour light in winter" in snippet(text, "harbour light winter")


def test_rare_terms_decide_where_the_window_lies() -> None:
    text = "harbour light " + "filler " * 200 + "periwinkle " + "filler " * 200
    terms = query_terms("harbour light periwinkle")
    weights = dict(zip(terms, (0.1, 0.1, 5.0), strict=True))
    assert "periwinkle" in cut_snippet(text, find_matches(text, terms), weights)


def test_without_a_match_the_line_most_like_the_query_is_shown() -> None:
    lines = [f"line {number} of the text, which has some length" for number in range(60)]
    text = "\n".join(lines)
    shown = cut_snippet(text, [], {}, likeness=lambda line: float(line.startswith("line 40 ")))
    assert "line 40 " in shown
    assert cut_snippet(text, [], {}).startswith("line 0 ")


def test_matches_have_the_spans_of_the_text_as_given() -> None:
    text = "Frau MÜLLER sagt: ｍüｌｌｅｒ und 部署方案"
    found = find_matches(text, query_terms("muller 部署"))
    assert [text[match.start : match.end] for match in found] == ["MÜLLER", "ｍüｌｌｅｒ", "部署", "部", "署"]


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧", "🇩🇪", "각", "é"])
def test_no_cluster_is_cut_in_half(cluster: str) -> None:
    text = cluster * 900
    shown = cut_snippet(text, [], {}, limit=101).strip("…")
    assert shown == cluster * (len(shown) // len(cluster))


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=400),
    st.text(max_size=20),
    st.integers(10, 120),
)
def test_a_snippet_is_a_part_of_the_text_within_the_limit(text: str, query: str, limit: int) -> None:
    shown = snippet(text, query, limit)
    assert len(shown) <= max(limit, 0)
    core = shown.removeprefix("…").removesuffix("…") if len(text) > limit else shown
    assert core in text
    assert unicodedata.is_normalized("NFC", shown) or not unicodedata.is_normalized("NFC", text)
