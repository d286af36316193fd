"""Writing transcripts: chained, whole, and one after the other."""

from __future__ import annotations

import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from memlane.clock import FixedClock
from memlane.errors import SessionError, UsageError
from memlane.transcripts.append import Transcript, last_entry


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_transcript_as_the_platform_writes_it(folder: Path, clock: FixedClock) -> None:
    transcript = Transcript.begin(folder, "abc", cwd="/w", clock=clock)
    first = transcript.append_message({"role": "user", "content": "hello"})
    second = transcript.append_message(
        {"role": "assistant", "content": [{"type": "text", "text": "안녕 👋"}]}
    )
    third = transcript.append_compaction("so far", first_kept_entry_id=second, tokens_before=9)
    header, one, two, three = entries(transcript.path)
    at = "2026-02-10T12:30:00.000Z"
    assert header == {"type": "session", "version": 3, "id": "abc", "cwd": "/w", "timestamp": at}
    assert (one["type"], one["id"], one["parentId"], one["timestamp"]) == ("message", first, None, at)
    assert one["message"] == {"timestamp": 1770726600000, "role": "user", "content": "hello"}
    assert (two["id"], two["parentId"]) == (second, first)
    assert three == {
        "type": "compaction",
        "id": third,
        "parentId": second,
        "timestamp": at,
        "summary": "so far",
        "firstKeptEntryId": second,
        "tokensBefore": 9,
    }


def test_one_that_is_there_is_gone_on_with(folder: Path, clock: FixedClock) -> None:
    one = Transcript.begin(folder, "abc", clock=clock).append({"type": "note"})
    Transcript.begin(folder, "abc", clock=clock).append({"type": "note"})
    assert [entry.get("parentId") for entry in entries(folder / "abc.jsonl")] == [None, None, one]


def test_an_id_that_is_no_file_name_is_refused(folder: Path, clock: FixedClock) -> None:
    for bad in ("../x", "", "a/b", ".hidden", "a b", "x" * 300):
        if bad:
            with pytest.raises(UsageError, match="is no session id"):
                Transcript.begin(folder, bad, clock=clock)
    assert not folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_files_are_private(folder: Path, clock: FixedClock) -> None:
    path = Transcript.begin(folder, clock=clock).path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_half_a_line_of_another_writer_is_ended_first(folder: Path, clock: FixedClock) -> None:
    transcript = Transcript.begin(folder, "abc", clock=clock)
    first = transcript.append({"type": "note"})
    with transcript.path.open("a") as file:
        file.write('{"type":"mess')
    transcript.append({"type": "note"})
    lines = transcript.path.read_text().split("\n")
    assert lines[2] == '{"type":"mess'
    assert json.loads(lines[3])["parentId"] == first


def test_a_full_disk_leaves_nothing_half(
    folder: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = Transcript.begin(folder, "abc", clock=clock)
    before = transcript.path.read_bytes()

    def fails(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memlane.transcripts.append.write_all", fails)
    with pytest.raises(SessionError, match=r"cannot write .*abc\.jsonl: No space left"):
        transcript.append({"type": "note"})
    assert transcript.path.read_bytes() == before


def test_a_transcript_that_is_gone_is_not_made_anew(folder: Path, clock: FixedClock) -> None:
    transcript = Transcript.begin(folder, "abc", clock=clock)
    transcript.path.unlink()
    with pytest.raises(SessionError, match="cannot read"):
        transcript.append({"type": "note"})


def test_what_is_no_json_is_refused(folder: Path, clock: FixedClock) -> None:
    transcript = Transcript.begin(folder, "abc", clock=clock)
    for value in (float("nan"), object()):
        with pytest.raises(UsageError, match="is no JSON"):
            transcript.append({"type": "note", "value": value})
    transcript.append({"type": "note", "value": "\ud800"})
    assert entries(transcript.path)[1]["value"] == "?"


def test_archives(folder: Path, clock: FixedClock) -> None:
    transcript = Transcript.begin(folder, "abc", clock=clock)
    put_away = transcript.archive("reset")
    assert put_away.name == "abc.jsonl.reset.2026-02-10T12-30-00.000Z"
    assert put_away.is_file()
    Transcript.begin(folder, "abc", clock=clock)
    with pytest.raises(SessionError, match="is there already"):
        transcript.archive("reset")
    assert transcript.archive("deleted").name == "abc.jsonl.deleted.2026-02-10T12-30-00.000Z"


def test_the_last_entry_is_found_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = json.dumps({"id": "long", "text": "x" * 300_000})
    for text, expected in (
        ("", None),
        ("\n\n", None),
        ('{"id":"a"}\n{"no":"id"}\nbroken\n', "a"),
        (f'{{"id":"a"}}\n{long}\n', "long"),
        (f'{{"id":"a"}}\n{long}\n{{"id":"b"}}', "b"),
        ('\ufeff{"id":"a"}\n', "a"),
    ):
        path.write_text(text, "utf-8")
        found = last_entry(path)
        assert (found["id"] if found else None) == expected


def test_threads_tear_nothing(folder: Path, clock: FixedClock) -> None:
    transcript = Transcript.begin(folder, "abc", clock=clock)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda number: transcript.append({"type": "note", "n": number}), range(60)))
    found = entries(transcript.path)[1:]
    assert sorted(entry["id"] for entry in found) == sorted(made)
    assert [entry["parentId"] for entry in found] == [None, *(entry["id"] for entry in found[:-1])]


def test_processes_tear_nothing(folder: Path, clock: FixedClock, tmp_path: Path) -> None:
    Transcript.begin(folder, "abc", clock=clock)
    script = tmp_path / "writer.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom memlane.clock import SystemClock\n"
        "from memlane.transcripts.append import Transcript\n"
        "t = Transcript(Path(sys.argv[1]), clock=SystemClock())\n"
        "for n in range(40): t.append_message({'role': 'user', 'content': 'x' * 2000})\n"
    )
    with ThreadPoolExecutor(2) as pool:
        done = list(
            pool.map(lambda _: run([sys.executable, script, folder / "abc.jsonl"], check=False), range(2))
        )
    assert [one.returncode for one in done] == [0, 0]
    found = entries(folder / "abc.jsonl")[1:]
    assert len(found) == 80
    assert [entry["parentId"] for entry in found] == [None, *(entry["id"] for entry in found[:-1])]
