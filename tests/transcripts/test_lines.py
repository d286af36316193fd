"""Reading transcripts: by line, with places, whatever stands in them."""

from __future__ import annotations

import io
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.transcripts import lines as room
from memlane.transcripts.lines import Entries, decoded, moment_of


def read(data: bytes, **options: int) -> Entries:
    return Entries(io.BytesIO(data), **options)


def test_entries_know_their_lines_and_bytes() -> None:
    data = b'{"type":"session"}\n\n{"type":"message","id":"b"}\r\n'
    entries = read(data)
    assert [(entry.type, entry.line, entry.start, entry.end) for entry in entries] == [
        ("session", 1, 0, 19),
        ("message", 3, 20, len(data)),
    ]
    assert (entries.offset, entries.lines, entries.broken) == (len(data), 3, 0)


def test_unknown_types_and_fields_are_kept() -> None:
    entry = {"type": "later", "odd": [1, {"x": None}], "id": 5}
    (found,) = read(json.dumps(entry).encode())
    assert found.data == entry
    assert (found.type, found.id, dict(found.message)) == ("later", None, {})


@pytest.mark.parametrize("line", [b"{", b"[1]", b"nonsense", b"\xff\xfe{}", b"5", b"{} {}", b'{"a":' * 5000])
def test_a_broken_line_is_passed_over_and_counted(line: bytes) -> None:
    entries = read(b'{"id":"a"}\n' + line + b'\n{"id":"c"}\n')
    assert [(entry.id, entry.line) for entry in entries] == [("a", 1), ("c", 3)]
    assert (entries.broken, entries.first_broken) == (1, [2])


def test_half_a_last_line_waits_for_its_rest() -> None:
    data = b'{"id":"a"}\n{"id":"b"}\n'
    for cut in range(12, len(data) - 1):
        entries = read(data[:cut])
        assert [entry.id for entry in entries] == ["a"]
        assert (entries.offset, entries.lines, entries.broken) == (11, 1, 0)
        rest = read(data, offset=entries.offset, lines=entries.lines)
        assert [(entry.id, entry.line) for entry in rest] == [("b", 2)]


def test_a_whole_last_line_needs_no_end() -> None:
    entries = read(b'{"id":"a"}\n{"id":"b"}')
    assert [entry.id for entry in entries] == ["a", "b"]
    assert entries.offset == 21


def test_nothing_beyond_the_stop_is_looked_at() -> None:
    data = b'{"id":"a"}\n{"id":"b"}\n'
    assert [entry.id for entry in read(data, stop=15)] == ["a"]


def test_a_byte_order_mark_and_lone_surrogates() -> None:
    data = b'\xef\xbb\xbf{"id":"a"}\n{"text":"x\\ud83d y \\ud83d\\ude00"}\n{"text":"\xff"}\n'
    first, second, third = read(data)
    assert first.id == "a"
    assert second.data["text"] == "x\ufffd y \U0001f600"
    assert third.data["text"] == "\ufffd"


def test_an_over_long_line_is_passed_over_unread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(room, "LONGEST_LINE", 2**16)
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id":"a"}\n{"text":"')
        for _ in range(50):
            file.write(b"x" * 10**6)
        file.write(b'"}\n{"id":"c"}\n')
    tracemalloc.start()
    with path.open("rb") as opened:
        entries = Entries(opened)
        assert [(entry.id, entry.line) for entry in entries] == [("a", 1), ("c", 3)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert entries.first_broken == [2]
    assert entries.offset == path.stat().st_size
    assert peak < 5 * 2**20


def test_an_over_long_line_without_an_end_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LONGEST_LINE", 16)
    entries = read(b'{"id":"a"}\n' + b"x" * 100)
    assert [entry.id for entry in entries] == ["a"]
    assert entries.offset == 11


def test_times_in_every_spelling() -> None:
    moment = datetime(2025, 11, 20, 23, 33, 50, 805000, UTC)
    for value in ("2025-11-20T23:33:50.805Z", "2025-11-21T08:33:50.805+09:00", 1763681630805):
        assert moment_of(value) == moment
    assert moment_of(1763681630) == moment.replace(microsecond=0)
    assert moment_of("2025-11-20T23:33:50.805") == moment
    for value in (None, True, "soon", "", float("nan"), 1e300, -1e300, [], {}):
        assert moment_of(value) is None


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    entries = read(data)
    for entry in entries:
        json.dumps(entry.data, ensure_ascii=False).encode()
    assert entries.offset <= len(data)


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), max_size=8))
def test_any_objects_come_back(objects: list[dict[str, object]]) -> None:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in objects)
    assert [entry.data for entry in read(data)] == [decoded(json.dumps(one).encode()) for one in objects]
