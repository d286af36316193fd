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
        ("embedding models", "embed"),
        ("satellite images", "satélites"),
        ("Æsir, Łódź, straße", "lodz"),
        ("Æsir, Łódź, straße", "STRASSE"),
        ("ёлка", "елка"),
        ("письмо Сергею", "Сергей"),
        ("مُحَمَّد", "محمد"),
        ("٢٠٢٦", "2026"),
        ("soft\u00adhyphen", "softhyphen"),
        ("か\u3099っこう", "がっこう"),
        ("\u1112\u1161\u11ab국어", "한국"),
        ("重跑gen-itgc后50条", "itgc"),
        ("重跑gen-itgc后50条", "后"),
        ("src/UserService.py changed", "UserService.py"),
        ("src/UserService.py changed", "where is the user loaded from"),
        ("GitHub", "where do we keep the github tokens"),
        ("GitHub", "hub"),
        ("the missing integer", "MissingInteger"),
        ("# 2023-05-02", "what happened on May 2nd?"),
        ("# 2023-05-02", "¿qué pasó el 2 de mayo?"),
        ("# 2023-05-02", "5月2日"),
        ("# 2023-05-02", "5월 2일에 뭐 했지"),
        ("# 2023-05-02", "am 2. Mai 2023"),
        ("# 2023-06-02", "everything from June"),
        ("We met on 2 May", "2026-05-02"),
        ("memory/2023-05-02-pitch.md", "May 2, 2023"),
        ("🎉 shipped", "🎉"),
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
        ("Paul called", "Paula"),
        ("Ms Parker called", "park"),
        ("# 2023-05-02", "May 3rd"),
        ("it may, 2 of them might", "2023-05-02"),
        ("in 3 weeks we march on", "2023-03-01"),
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


@pytest.mark.parametrize(
    ("query", "telling"),
    [
        ("¿Dónde está la llave del garaje?", "llave garaje"),
        ("où est la clé du garage", "cle garage"),
        ("wo ist der Schlüssel für die Garage", "schlussel garage"),
        ("где лежит ключ от гаража", "лежит ключ гаража"),
        ("who wrote the war diary", "wrote war diary"),
        ("what is the car insurance number", "car insurance number"),
        ("How did he die?", "die"),
    ],
)
def test_function_words_are_those_of_the_language_of_the_question(query: str, telling: str) -> None:
    assert query_terms(query) == analyze(telling)


def test_question_words_and_particles_of_unspaced_scripts_decide_nothing() -> None:
    assert query_terms("部署方案是什么") == analyze("部署方案")
    assert query_terms("什么") == ["什么", "什", "么"]
    assert query_terms("서울의 다음 회의는 언제 있습니까?") == ["서울", "회의"]
    assert query_terms("언제") == ["언제"]
    assert query_terms("鮭は何ですか") == ["鮭は", "鮭"]


def test_a_name_in_two_humps_is_asked_for_as_a_whole_among_other_words() -> None:
    assert query_terms("GitHub actions cache") == analyze("github actions cache")
    assert query_terms("GitHub") == analyze("github git hub")
    assert query_terms("camelCase identifiers here") == analyze("camelcase camel case identifiers here")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("2023-05-02", ["2023-05-02", "--05-02", "2023-05", "--05"]),
        ("June 2023", ["2023-06", "--06"]),
        ("2 de mayo de 2023", ["--05-02", "2023-05-02", "2023-05", "--05"]),
        ("1er août", ["--08-01", "--08"]),
        ("12月25日", ["--12-25", "--12"]),
        ("31.12.2025", ["--12-31", "2025-12-31", "2025-12", "--12"]),
        ("2026-13-40", []),
        ("May 10:30", []),
        ("may", []),
    ],
)
def test_dates_have_one_form(text: str, terms: list[str]) -> None:
    assert [
        term for term in analyze(text) if term.startswith("--") or term[:5] in {"2023-", "2025-"}
    ] == terms


def test_a_day_is_not_asked_for_as_its_month() -> None:
    assert query_terms("on May 2nd, 2023?")[-2:] == ["--05-02", "2023-05-02"]
    assert query_terms("in May 2023")[-2:] == ["2023-05", "--05"]


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


def test_spans_are_exact_where_normalising_changes_lengths() -> None:
    text = "see ｶﾞｯｺｳ on May 2nd"
    places = {term: text[start:end] for term, start, end in term_spans(text)}
    assert places["ガッ"] == "ｶﾞｯ"
    assert places["コウ"] == "ｺｳ"
    assert places["--05-02"] == "May 2nd"


@given(_ANY)
def test_the_full_text_table_keeps_every_term_as_it_is(text: str) -> None:
    terms = analyze(text)
    connection = apsw.Connection(":memory:")
    quoted = TOKENIZER.replace('"', '""')
    connection.execute(
        f'CREATE VIRTUAL TABLE t USING fts5(body, tokenize="{quoted}");'
        "CREATE VIRTUAL TABLE words USING fts5vocab(t, row)"
    )
    connection.execute("INSERT INTO t (body) VALUES (?)", (" ".join(terms),))
    assert {term for (term,) in connection.execute("SELECT term FROM words")} == set(terms)


@given(_ANY)
def test_what_is_asked_is_indexed(text: str) -> None:
    pieces = {piece for term in analyze(text) for piece in (term, term[:1])}
    assert all(term in pieces or len(term) <= 2 for term in query_terms(text))


def test_han_characters_are_terms_by_themselves_too() -> None:
    assert analyze("部署方案") == ["部署", "部", "署方", "署", "方案", "方", "案"]
    assert analyze("게임을") == ["게임", "임을", "을"]
    assert query_terms("게임을") == ["게임"]  # 을 is a particle
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
