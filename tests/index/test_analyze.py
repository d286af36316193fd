from __future__ import annotations

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlane.index.analyze import TOKENIZER, analyze, match_expression, query_terms, term_spans
from memlane.index.stem import stem


def found(text: str, query: str) -> bool:
    """Whether the full-text table finds a text by a query."""
    connection = apsw.Connection(":memory:")
    quoted = TOKENIZER.replace('"', '""')
    connection.execute(
        f"CREATE VIRTUAL TABLE t USING fts5(body, content='', contentless_delete=1, tokenize=\"{quoted}\")"
    )
    connection.execute("INSERT INTO t (rowid, body) VALUES (1, ?)", (" ".join(analyze(text)),))
    terms = query_terms(query)
    return bool(
        terms and connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (match_expression(terms),)).get
    )


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("memorySearch.query.hybrid is on", "memorySearch.query.hybrid"),
        ("memorySearch.query.hybrid is on", "hybrid"),
        ("memorySearch.query.hybrid is on", "memory"),
        ("commit a828e60 broke it", "A828E60"),
        ("apply_secrets failed", "secrets"),
        ("see DEC-0054", "0054"),
        ("gateway 2026.4.10", "2026.4.10"),
        ("use @scope/ui-kit here", "@scope/ui-kit"),
        ("use @scope/ui-kit here", "ui-kit"),
        ("write it in C++ or C#", "C++"),
        ("write it in C++ or C#", "c#"),
        ("INC2041 again", "INC 2041"),
        ("the 10th of May", "10"),
        ("Dov's opinion", "Dov"),
        ("Müller, Ærø, Ångström", "MULLER"),
        ("café", "cafe\u0301"),
        ("Сергей едет", "СЕРГЕЙ"),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("สวัสดีครับ", "ดีคร"),
        ("हिन्दी में लिखा", "हिन्दी"),
        ("كتاب جديد", "كتاب"),
        ("שלום עולם", "שלום"),
        ("今天讨论了部署方案", "方案"),
        ("部署", "署"),
        ("今天讨论了部署方案", "论"),
        ("running meetings and decisions", "decide run meeting decision"),
        ("la nación", "nation"),
        ("families", "family"),
    ],
)
def test_found(text: str, query: str) -> None:
    assert found(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("green tea", "coffee"),
        ("部署方案", "预算"),
        ("й", "и"),  # another letter, not an accent
        ("version 2026.4.10", "2025.7.11"),
        ("anything", "!!! ???"),
        ("", "word"),
    ],
)
def test_not_found(text: str, query: str) -> None:
    assert not found(text, query)


def test_stop_words_decide_no_question_and_are_kept_where_they_are_all_there_is() -> None:
    assert query_terms("what did we decide about the router?") == [*analyze("we"), *analyze("decide router")]
    assert query_terms("to be or not to be") == ["not"]
    assert query_terms("what is it that they have") == list(
        dict.fromkeys(analyze("what is it that they have"))
    )
    assert query_terms("Person A") == analyze("person a")
    assert query_terms("who") == ["who"]


def test_a_term_is_asked_once() -> None:
    assert query_terms("tea tea TEA téa") == ["tea"]


def test_identifiers_are_terms_whole_and_by_part() -> None:
    assert analyze("memorySearch.query") == [
        "memorysearch.query",
        *analyze("memorysearch memory search query"),
    ]
    assert analyze("@scope/ui-kit") == ["@scope/ui-kit", *analyze("scope ui kit")]
    assert analyze("HTTPServer") == [stem("httpserver"), stem("http"), stem("server")]


_ANY = st.text(st.characters(exclude_categories=[]), max_size=120)
_HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=2, max_size=12)
_HANGUL = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=2, max_size=12)
_KANA = st.text(st.characters(min_codepoint=0x3041, max_codepoint=0x3096), min_size=2, max_size=12)


@given(_ANY)
def test_any_text_can_be_analysed_and_asked(text: str) -> None:
    assert all(term and not term.isspace() and " " not in term for term in analyze(text))
    found(text.encode("utf-8", "replace").decode(), text)


@given(_ANY)
def test_spans_lie_within_the_text_in_order_and_give_the_terms(text: str) -> None:
    spans = list(term_spans(text))
    assert [term for term, _, _ in spans] == analyze(text)
    assert all(0 <= start < end <= len(text) for _, start, end in spans)
    starts = [start for _, start, _ in spans]
    assert starts == sorted(starts)


def test_han_characters_are_terms_by_themselves_too() -> None:
    assert analyze("部署方案") == ["部署", "部", "署方", "署", "方案", "方", "案"]
    assert analyze("게임을") == ["게임", "임을", "을"]
    assert query_terms("게임을") == ["게임", "임을"]
    assert list(term_spans("in 部署")) == [("in", 0, 2), ("部署", 3, 5), ("部", 3, 4), ("署", 4, 5)]


@settings(max_examples=60)
@given(st.one_of(_HAN, _HANGUL, _KANA), st.data())
def test_any_part_of_an_unspaced_run_is_found(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert found(run, run[start:end])


@given(st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1, max_size=20))
def test_a_word_finds_itself_in_any_case(word: str) -> None:
    if analyze(word):
        assert found(f"before {word} after", word)


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=20))
def test_stems_are_short_and_never_empty(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1
    assert bool(stem(word)) == bool(word)
