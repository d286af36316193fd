from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane import UsageError
from memlane.evaluate import Question, Target, read_questions
from memlane.evaluate.questions import parse_questions


def parsed(text: str, suffix: str = ".jsonl") -> tuple[Question, ...]:
    return parse_questions(text, name="q", suffix=suffix)


def test_the_ways_to_name_places() -> None:
    whole, some = Target("memory/a.md"), Target("memory/a.md", 3, 9)
    for record, targets in (
        ({"path": "memory/a.md"}, (whole,)),
        ({"path": "./memory/a.md"}, (whole,)),
        ({"path": "memory/a.md#L3-L9"}, (some,)),
        ({"path": "memory/a.md#L3-9"}, (some,)),
        ({"path": "memory/a.md#L3"}, (Target("memory/a.md", 3, 3),)),
        ({"path": "memory/a.md", "lines": "3-9"}, (some,)),
        ({"path": "memory/a.md", "lines": [3, 9]}, (some,)),
        ({"path": "memory/a.md", "lines": 3}, (Target("memory/a.md", 3, 3),)),
        ({"expected": "memory/a.md"}, (whole,)),
        ({"expected": ["memory/a.md", "MEMORY.md", "memory/a.md"]}, (whole, Target("MEMORY.md"))),
        ({"expected": [{"path": "memory/a.md", "lines": "3-9"}]}, (some,)),
        ({"expected": []}, ()),
        ({"path": "memory/a#L.md"}, (Target("memory/a#L.md"),)),
    ):
        (question,) = parsed(json.dumps({"question": "물?", **record}))
        assert question == Question("물?", targets, number=1)


def test_limits_and_the_other_name_of_a_question() -> None:
    (question,) = parsed(
        '{"query": "x", "path": "a.md", "since": "2026-05-01", "until": "2026-05-31", "source": "memory",'
        ' "glob": "memory/**", "lang": "en"}'
    )
    assert question == Question(
        "x", (Target("a.md"),), date(2026, 5, 1), date(2026, 5, 31), "memory", "memory/**", 1
    )


def test_one_set_in_every_form(tmp_path: Path) -> None:
    lines = '{"question": "a", "path": "x.md#L2-L3"}\r\n\r\n{"question": "b; \\"c\\"", "expected": []}\r\n'
    wanted = [("a", ("x.md#L2-L3",)), ('b; "c"', ())]
    array = "[" + ",".join(lines.split("\r\n\r\n")) + "]"
    table = 'question,expected\na,x.md#L2-L3\n"b; ""c""",\n'
    for name, text in (
        ("q.jsonl", lines),
        ("q.json", array),
        ("q.txt", "\ufeff" + lines),
        ("q.csv", table),
        ("q.CSV", "\ufeff" + table),
        ("q.tsv", 'question\tpath\tlines\na\tx.md\t2-3\n\n"b; ""c"""\t\t\n'),
    ):
        file = tmp_path / name
        file.write_text(text, "utf-8", newline="")
        assert [(q.text, tuple(map(str, q.targets))) for q in read_questions(file)] == wanted, name


def test_numbers_are_lines_even_after_a_cell_of_several() -> None:
    table = 'question,expected\n"two\nlines",a.md;b.md\nlast,a.md\n'
    assert [(q.number, len(q.targets)) for q in parsed(table, ".csv")] == [(2, 2), (4, 1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes at character 2"),
        ('"x"', 'a question must be an object, not "x"'),
        ('{"path": "a.md"}', "there is no question"),
        ('{"question": " ", "path": "a.md"}', "a question is blank"),
        ('{"question": 7, "path": "a.md"}', "question must be text, not 7"),
        ('{"question": "\\ud800", "path": "a.md"}', 'question holds half a character: "\\ud800"'),
        ('{"question": "x", "expcted": []}', "there is neither path nor expected"),
        ('{"question": "x", "path": "a", "expected": []}', "there is both path and expected"),
        ('{"question": "x", "path": "a.md#L9-L3"}', "there are no lines 9-3; they count from 1"),
        ('{"question": "x", "path": "a.md#L0"}', "there are no lines 0-0; they count from 1"),
        (
            '{"question": "x", "path": "a.md", "lines": "three"}',
            'lines must be such as 7, "3-9" or [3, 9], not "three"',
        ),
        ('{"question": "x", "path": "a.md#L3", "lines": 3}', "a.md#L3 names lines already; leave lines out"),
        ('{"question": "x", "expected": [{}]}', "an expected place has no path"),
        ('{"question": "x", "expected": [null]}', "path must be text, not null"),
        (
            '{"question": "x", "path": "a", "since": "May"}',
            'since must be a date such as 2026-02-10, not "May"',
        ),
        (
            '{"question": "x", "path": "a", "since": "2026-02-02", "until": "2026-02-01"}',
            "since (2026-02-02) is later than until (2026-02-01)",
        ),
        ('{"question": "x", "path": "a", "source": "web"}', 'source must be memory or sessions, not "web"'),
    ],
)
def test_a_bad_line_is_named(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed('{"question": "x", "path": "a.md"}\n' + line + "\n")
    assert str(caught.value) == f"q, line 2: {message}"
    assert caught.value.exit_code == 2


def test_further_bad_lines_are_in_the_hint() -> None:
    with pytest.raises(UsageError) as caught:
        parsed('{"question": "x"}\n{}\n\n[]\n')
    assert str(caught.value).startswith("q, line 1: there is neither path nor expected")
    assert caught.value.hint.endswith("; also wrong: line 2, line 4")


def test_what_is_wrong_with_a_whole_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the questions .*none\.jsonl: No such file"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="cannot read the questions"):
        read_questions(tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"question": "x", "path": "a"}\n\xff\n')
    with pytest.raises(UsageError, match=r"bad\.jsonl, line 2: not UTF-8 \(byte 0xff\)"):
        read_questions(bad)
    for text in ("", "\n \n", "[]"):
        with pytest.raises(UsageError, match="q holds no questions"):
            parsed(text)
    with pytest.raises(UsageError, match=r"q, line 2: not JSON"):
        parsed('[{"question": "x",\n nonsense}]')
    with pytest.raises(UsageError, match=r"q, question 2: there is no question"):
        parsed('[{"question": "x", "path": "a"}, {}]')
    with pytest.raises(UsageError, match="q, line 2: there is no column path or expected, only question"):
        parsed("question\nx\n", ".csv")
    with pytest.raises(UsageError, match="q, line 2: 3 cells under 2 columns"):
        parsed("question,path\nx,a.md,b.md\n", ".csv")
    with pytest.raises(UsageError, match="q, line 2: not a table"):
        parsed('question,path\n"x"y,a.md\n', ".csv")
    with pytest.raises(UsageError, match="not JSON"):
        parsed("[" * 100_000)


@given(st.text(), st.sampled_from([".jsonl", ".json", ".csv", ".tsv"]))
def test_any_text_is_read_or_refused(text: str, suffix: str) -> None:
    try:
        assert parsed(text, suffix)
    except UsageError as error:
        assert str(error).startswith("q")


def test_reaching_a_place() -> None:
    lines = Target("a.md", 3, 5)
    assert [lines.reached_by("a.md", *span) for span in ((1, 2), (1, 3), (4, 4), (5, 9), (6, 9))] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert not lines.reached_by("b.md", 3, 5)
    assert Target("a.md").reached_by("a.md", 90, 99)
    assert [str(Target("a", *span)) for span in ((None, None), (3, 3), (3, 5))] == ["a", "a#L3", "a#L3-L5"]


def test_a_row_that_was_cut_short_is_no_question_without_an_answer(tmp_path: Path) -> None:
    file = tmp_path / "asked.csv"
    file.write_text("question,path\nwhere is the key?\n", "utf-8")
    with pytest.raises(UsageError, match=r"line 2: 1 cells under 2 columns"):
        read_questions(file)
