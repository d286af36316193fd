from __future__ import annotations

import json
import os
from pathlib import Path

import json5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.config.document import _as_json, parse_json5, read_document
from memlane.errors import ConfigError


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "openclaw.json"
    path.write_bytes(data)
    return path


def test_reads_plain_json_and_json5(tmp_path: Path) -> None:
    assert read_document(written(tmp_path, b'{"a": [1, 2]}')) == {"a": [1, 2]}
    text = b"""// the agents
    {
      a: 1, 'b': 'say "hi"', $c: [1, 2,], /* why */ "d": {e: null,},
      f: .5, g: +1, h: 0xff, i: 'it\\'s', j: "two \\
lines",
    }
    """
    assert read_document(written(tmp_path, text)) == {
        "a": 1, "b": 'say "hi"', "$c": [1, 2], "d": {"e": None},
        "f": 0.5, "g": 1, "h": 255, "i": "it's", "j": "two lines",
    }  # fmt: skip


def test_a_missing_file_is_no_document(tmp_path: Path) -> None:
    assert read_document(tmp_path / "absent.json") is None
    assert read_document(tmp_path / "no folder" / "absent.json") is None


def test_a_byte_order_mark_is_tolerated(tmp_path: Path) -> None:
    assert read_document(written(tmp_path, b"\xef\xbb\xbf{a: 1}")) == {"a": 1}


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, b'{\n a: 1,\n b: "caf\xe9"}')
    with pytest.raises(ConfigError) as caught:
        read_document(path)
    assert str(caught.value) == f"{path}, line 3: byte 0xe9 is not UTF-8"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("{a: 1,\n b: }", 2, 5),
        ("{a: 1\n b: 2}", 2, 2),
        ('{\n\n "a": 1 "b": 2}', 3, 9),
        ("{a: 1} x", 1, 8),
        ("{a: [1,,2]}", 1, 8),
        ("{a: 1,\n b: 2", 2, 6),
        ("{a: 'x\ny'}", 1, 7),
    ],
)
def test_an_error_names_file_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_json5(text, name="openclaw.json")
    assert str(caught.value).startswith(f"openclaw.json, line {line}, column {column}: unexpected ")


@pytest.mark.parametrize("text", ["", " \n", "[" * 3000, "{a:" * 3000 + "1" + "}" * 3000, "9" * 5000])
def test_what_no_reader_can_take_is_still_one_error_that_names_the_file(text: str) -> None:
    with pytest.raises(ConfigError, match=r"openclaw\.json"):
        parse_json5(text, name="openclaw.json")


def test_an_empty_file_is_not_taken_for_no_settings(tmp_path: Path) -> None:
    path = written(tmp_path, b" \n")
    with pytest.raises(ConfigError) as caught:
        read_document(path)
    assert str(caught.value) == f"{path} is empty"
    assert "write {} into it" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[1]", "a list"), ('"x"', "a string"), ("3", "a number"), ("null", "null"), ("true", "true or false")],
)
def test_the_top_level_must_be_an_object(tmp_path: Path, text: str, kind: str) -> None:
    path = written(tmp_path, text.encode())
    with pytest.raises(ConfigError) as caught:
        read_document(path)
    assert str(caught.value) == f"{path} holds {kind} at its top level; an object is needed"


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_document(tmp_path)
    assert str(caught.value) == f"{tmp_path} is a folder, not a configuration file"
    assert caught.value.hint == f"did you mean {tmp_path / 'openclaw.json'}?"


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "openclaw.json"
    os.mkfifo(path)
    for unfit in (path, Path(os.devnull)):
        with pytest.raises(ConfigError) as caught:
            read_document(unfit)
        assert str(caught.value) == f"{unfit} is a pipe, device or socket, not a configuration file"
        assert caught.value.hint == "put the configuration into a file and name that"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = written(tmp_path, b"{}")
    path.chmod(0)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        read_document(path)


def test_a_path_below_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, b"{}") / "openclaw.json"
    with pytest.raises(ConfigError, match="cannot be read: Not a directory"):
        read_document(path)


# ---- the quick reader agrees with the thorough one ---------------------------------------------------

FRAGMENTS = st.sampled_from(
    ["a", "$b", '"a"', "'b'", "'\t'", "1", "-1", "01", "0x1", ".5", "5.", "1e5", "+1", "-", "true", "truex",
     "null", "NaN", "Infinity", "// c\n", "//", "/* d */", "/*", " ", "\n", "\r", '"\\n"', "'\\''",
     '"\\x41"', '"\\u0041"', '"\\u00"', "\u00a0", '"\u2028"', ",", ":", "{", "}", "[", "]", "é"]
)  # fmt: skip


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    comma = st.sampled_from(["", ",", " , // end\n", ",,"])
    colon = st.sampled_from([":", " :", "/**/:"])
    pair = st.tuples(FRAGMENTS, colon, inner).map("".join)
    lists = st.tuples(st.just("["), st.lists(inner, max_size=3).map(",".join), comma, st.just("]"))
    objects = st.tuples(st.just("{"), st.lists(pair, max_size=3).map(",".join), comma, st.just("}"))
    return st.one_of(lists.map("".join), objects.map("".join))


@given(st.recursive(FRAGMENTS, nested, max_leaves=8))
def test_the_quick_reading_is_never_another_one(text: str) -> None:
    rewritten = _as_json(text)
    if rewritten is None:
        return
    try:
        quick = json.loads(rewritten)
    except ValueError:
        return
    assert repr(quick) == repr(json5.loads(text))


@given(st.text(alphabet="ab1{}[]:,'\"\\/* \n.-", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_json5(text, name="openclaw.json")
    except ConfigError as error:
        assert "openclaw.json" in str(error)
