"""Forgetting, from end to end: what was planted is in no byte of anything derived, and does not come back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.said import line, put, store, transcript

from memlane import Memory
from memlane.errors import SessionError, StoreError, UsageError
from memlane.testing import HashEmbedder

PLANTED = "Quaxelbrunn Straße 77"
Open = Callable[..., Memory]
Write = Callable[[str, str], Path]


def bytes_of(folder: Path, *, besides: tuple[str, ...] = ()) -> bytes:
    """Every byte of the files below a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in besides]
    assert files
    return b"\0".join(path.read_bytes() for path in files)


def assert_absent(data: bytes, *words: str) -> None:
    for word in words:
        for form in (word, word.lower(), word.upper(), word.casefold()):
            for code in ("utf-8", "utf-16-le", "utf-16-be"):
                assert form.encode(code) not in data, (form, code)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def sessions(state: Path) -> Path:
    return state / "agents" / "main" / "sessions"


def filled(write: Write) -> Path:
    note = write(
        "memory/2026-02-09.md",
        f"# Log\n\n- 10:00 Anna lives at {PLANTED}\n  with her cat\n- 11:00 the router is fine\n",
    )
    for number in range(40):
        write(f"memory/note-{number}.md", f"# Note {number}\n\nThe kettle number {number} whistles.\n")
    write("MEMORY.md", f"# Memory\n\n## People\n\n- Anna: {PLANTED.upper()}\n- Bert: unknown\n")
    return note


def test_a_dry_run_changes_nothing(open_memory: Open, write: Write, state: Path) -> None:
    note = filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    before = note.read_bytes()
    plan = memory.forget(phrase=PLANTED)
    assert plan.status == "planned" and plan.tombstone is None
    assert [(one.path, one.start_line, one.end_line) for one in plan.places] == [
        ("MEMORY.md", 5, 5),
        ("memory/2026-02-09.md", 3, 4),
    ]
    assert "with her cat" in plan.places[1].text
    assert note.read_bytes() == before
    assert memory.search("Quaxelbrunn").hits
    assert memory.forgotten() == []
    assert not list(state.rglob("*.forgotten.json"))


def test_a_phrase_is_in_no_byte_of_anything_derived(open_memory: Open, write: Write, state: Path) -> None:
    note = filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    assert "quaxelbrunn" in str(bytes_of(state).lower())
    receipt = memory.forget(phrase=f"  {PLANTED.swapcase()} ", dry_run=False)
    assert receipt.status == "done" and receipt.remaining == ()
    assert receipt.derived.chunks == 2 and receipt.derived.vectors == 2 and receipt.derived.cached >= 2
    assert PLANTED not in repr(receipt)
    assert_absent(bytes_of(state), PLANTED, "Quaxelbrunn", "her cat")
    assert PLANTED in note.read_text("utf-8")
    assert not memory.search("Quaxelbrunn").hits
    assert memory.search("router").hits
    memory.close()
    assert_absent(bytes_of(state), PLANTED, "Quaxelbrunn")


def test_it_does_not_come_back(open_memory: Open, write: Write, state: Path) -> None:
    filled(write)
    open_memory(embedder=HashEmbedder()).forget(phrase=PLANTED, dry_run=False)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync(force=True)
    write("memory/new.md", f"- again {PLANTED}\n- wholesome\n")
    memory.sync()
    assert memory.search("wholesome").hits
    assert_absent(bytes_of(state), PLANTED, "Quaxelbrunn")
    for path in state.rglob("*.sqlite*"):
        path.unlink()
    fresh = open_memory(embedder=HashEmbedder())
    fresh.sync()
    assert_absent(bytes_of(state), PLANTED, "Quaxelbrunn")


def test_undo_brings_back_what_notes_still_hold(open_memory: Open, write: Write) -> None:
    filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    receipt = memory.forget(phrase=PLANTED, dry_run=False)
    (stone,) = memory.forgotten()
    assert (stone.id, stone.kind, stone.length) == (receipt.tombstone, "phrase", len(PLANTED) + 1)
    with pytest.raises(UsageError, match="'zzz' names no tombstone"):
        memory.unforget("zzz")
    assert memory.unforget(stone.id) == stone
    memory.sync()
    assert memory.search("Quaxelbrunn").hits
    assert memory.forgotten() == []


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_notes_lose_the_entry_and_nothing_else(
    open_memory: Open, write: Write, notes: Path, state: Path, ending: str, mark: str
) -> None:
    text = f"# Log\n\n- 10:00 Anna: {PLANTED}\n  her cat\n- 11:00 fine 🦊 서울\n\n\nlast, no end"
    kept = "# Log\n\n- 11:00 fine 🦊 서울\n\n\nlast, no end"
    note = write("memory/a.md", mark + text.replace("\n", ending))
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    receipt = memory.forget(phrase=PLANTED, notes=True, dry_run=False)
    assert receipt.places[0].changed
    assert note.read_bytes().decode() == mark + kept.replace("\n", ending)
    assert_absent(bytes_of(state) + bytes_of(notes), PLANTED)
    assert memory.search("fine").hits[0].start_line == 1


def test_a_file_that_cannot_be_read_is_told_of(
    open_memory: Open, write: Write, notes: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("memory/a.md", f"- Anna: {PLANTED}\n- fine\n")
    (notes / "memory/b.md").write_bytes(PLANTED.encode("utf-16"))
    put(sessions, "abc.jsonl", transcript(("user", PLANTED)))
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    assert memory.forget(phrase=PLANTED).warning is None  # neither was to be changed
    real = Path.open

    def denied(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "abc.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)
    for dry_run in (True, False):
        told = memory.forget(phrase=PLANTED, notes=True, transcripts=True, dry_run=dry_run).warning or ""
        assert "b.md" in told
        assert f"cannot read {sessions / 'abc.jsonl'}: Permission denied" in told
    assert (notes / "memory/a.md").read_text("utf-8") == "- fine\n"


def test_a_transcript_that_cannot_be_deleted_is_an_error(
    open_memory: Open, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sessions, "abc.jsonl", transcript(("user", PLANTED)))
    real = Path.unlink

    def denied(path: Path, *, missing_ok: bool = False) -> None:
        if path.name == "abc.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        real(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", denied)
    memory = open_memory(embedder=HashEmbedder())
    with pytest.raises(SessionError, match=r"cannot write .*abc\.jsonl: Permission denied"):
        memory.forget(session_named="abc", transcripts=True, dry_run=False)


def test_a_note_by_its_path(open_memory: Open, write: Write, notes: Path, state: Path) -> None:
    filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    plan = memory.forget(path=str(notes / "memory" / "2026-02-09.md"))
    assert [(one.path, one.deleted) for one in plan.files] == [("memory/2026-02-09.md", False)]
    receipt = memory.forget(path="memory/2026-02-09.md", dry_run=False)
    assert receipt.derived.files == 1
    assert "memory/2026-02-09.md" not in {hit.path for hit in memory.search("router")}
    assert_absent(bytes_of(state), "her cat", "2026-02-09.md")
    (notes / "memory" / "2026-02-09.md").rename(notes / "memory" / "renamed.md")
    memory.sync()
    assert "memory/renamed.md" not in {hit.path for hit in memory.search("router")}
    memory.forget(path="memory/", notes=True, dry_run=False)
    assert not list((notes / "memory").glob("note-*"))
    assert (notes / "MEMORY.md").exists()


def test_a_session_and_what_waits_of_it(open_memory: Open, state: Path, sessions: Path) -> None:
    put(sessions, "abc.jsonl", transcript(("user", f"I live at {PLANTED}"), ("assistant", "noted")))
    put(sessions, "def.jsonl", transcript(("user", "the router hums"), ("assistant", "indeed")))
    store(sessions, {"agent:main:main": {"sessionId": "abc"}, "agent:main:x": {"sessionId": "def"}})
    unsaved = state / "memory" / "unsaved" / "main"
    put(unsaved, "x.json", json.dumps({"session": "s", "text": "said", "transcript": "/x/abc.jsonl"}))
    put(unsaved, "y.json", json.dumps({"session": "s", "text": "other", "transcript": "/x/def.jsonl"}))
    options: dict[str, Any] = {
        "experimental": {"sessionMemory": True},
        "sources": ["memory", "sessions"],
        "embedder": HashEmbedder(),
    }
    memory = open_memory(**options)
    memory.sync()
    assert memory.search("Quaxelbrunn").hits
    receipt = memory.forget(session_named="main", dry_run=False)
    assert receipt.derived.swept == ("x.json",) and receipt.derived.files == 1
    assert not memory.search("Quaxelbrunn").hits and memory.search("router").hits
    assert_absent(bytes_of(state, besides=(".jsonl",)), PLANTED, "Quaxelbrunn")
    put(sessions, "abc.jsonl.reset.2026-02-10T00-00-00.000Z", (sessions / "abc.jsonl").read_text("utf-8"))
    memory.sync()
    assert not memory.search("Quaxelbrunn").hits
    receipt = memory.forget(session_named="abc", transcripts=True, dry_run=False)
    assert len(receipt.files) == 2 and receipt.sessions == ("agent:main:main",)
    assert_absent(bytes_of(state), PLANTED)
    assert list(json.loads((sessions / "sessions.json").read_text("utf-8"))) == ["agent:main:x"]


def test_transcripts_lose_the_string_and_keep_their_chain(
    open_memory: Open, state: Path, sessions: Path
) -> None:
    result = [{"type": "text", "text": f"file says {PLANTED}"}]
    path = put(
        sessions,
        "abc.jsonl",
        transcript(
            line("user", f"at {PLANTED}", id="1"),
            line("toolResult", result, id="2", parentId="1"),
            f'{{"broken {PLANTED}',
            line("user", "the router hums", id="3", parentId="2"),
        ),
    )
    before = path.read_text("utf-8").splitlines()
    memory = open_memory(
        experimental={"sessionMemory": True}, sources=["memory", "sessions"], embedder=HashEmbedder()
    )
    memory.sync()
    plan = memory.forget(phrase=PLANTED, transcripts=True)
    assert [(one.start_line, one.end_line, one.changed) for one in plan.places] == [(2, 4, True)]
    memory.forget(phrase=PLANTED, transcripts=True, dry_run=False)
    after = path.read_text("utf-8").splitlines()
    assert_absent(bytes_of(state), PLANTED)
    assert (len(after), after[0], after[3], after[4]) == (5, before[0], "", before[4])
    assert [json.loads(one)["id"] for one in after[1:3]] == ["1", "2"]
    assert json.loads(after[1])["message"]["content"] == "[forgotten]"
    assert memory.search("router").hits


def test_what_was_set_aside_and_left_over_goes(
    open_memory: Open, write: Write, notes: Path, state: Path
) -> None:
    filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    (store_path,) = (p for p in (state / "memory").glob("*.sqlite") if "embeddings" not in p.name)
    put(store_path.parent, f"{store_path.name}.corrupt-20260101T000000", PLANTED)
    put(store_path.parent, f"{store_path.stem}.embeddings.sqlite.corrupt-20260101T000000-wal", "x")
    put(notes / "memory", ".a.md.memlane.tmp", f"- {PLANTED}")
    put(notes / "memory", ".b.md.memlane.tmp", "- harmless")
    receipt = memory.forget(phrase=PLANTED, dry_run=False)
    assert len(receipt.derived.swept) == 3
    assert_absent(bytes_of(state), PLANTED)
    assert not (notes / "memory" / ".a.md.memlane.tmp").exists()
    assert (notes / "memory" / ".b.md.memlane.tmp").exists()


def test_another_index_of_the_agent_catches_up(open_memory: Open, write: Write, tmp_path: Path) -> None:
    filled(write)
    elsewhere = tmp_path / "elsewhere.sqlite"
    other = open_memory(embedder=HashEmbedder(), store={"path": str(elsewhere)})
    other.sync()
    other.close()
    open_memory(embedder=HashEmbedder()).forget(phrase=PLANTED, dry_run=False)
    assert b"Quaxelbrunn" in elsewhere.read_bytes()
    again = open_memory(embedder=HashEmbedder(), store={"path": str(elsewhere)})
    assert not again.search("Quaxelbrunn").hits
    again.close()
    assert_absent(elsewhere.read_bytes(), PLANTED, "Quaxelbrunn")


def test_a_broken_list_of_tombstones_is_an_error(open_memory: Open, write: Write, state: Path) -> None:
    filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.forget(phrase=PLANTED, dry_run=False)
    put(state / "memory", "main.forgotten.json", "{")
    with pytest.raises(StoreError, match=r"main\.forgotten\.json cannot be used"):
        memory.sync()


@pytest.mark.parametrize(
    ("request_of", "message"),
    [
        ({}, "say one thing that is to be forgotten"),
        ({"phrase": "ab", "path": "memory/a.md"}, "say one thing that is to be forgotten"),
        ({"phrase": " x "}, "a phrase has at least 2 characters"),
        ({"path": "."}, "'.' is no path of a note"),
        ({"session_named": "nobody"}, "there is no session 'nobody'"),
    ],
)
def test_what_cannot_be_meant(open_memory: Open, request_of: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_memory(embedder=HashEmbedder()).forget(**request_of)  # type: ignore[arg-type]


_KILLED = """
import os, sys
from pathlib import Path
from memlane import Memory
from memlane.testing import HashEmbedder
import memlane.backends.forgetting as forgetting

point = sys.argv[3]
def die(*_args, **_options):
    os._exit(9)
if point == "erase": forgetting.erase = die
if point == "compact": forgetting.compact = die
if point == "cache": forgetting.texts = die
memory = Memory.open(state_dir=sys.argv[1], environ={}, embedder=HashEmbedder())
memory.forget(phrase=sys.argv[2], dry_run=False)
"""


@pytest.mark.parametrize("point", ["erase", "cache", "compact"])
def test_after_a_kill_the_next_pass_goes_on(open_memory: Open, write: Write, state: Path, point: str) -> None:
    filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    memory.close()
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(state), PLANTED, point], check=False)
    assert ended.returncode == 9
    assert len(open_memory(embedder=HashEmbedder()).forgotten()) == 1
    again = open_memory(embedder=HashEmbedder())
    assert not again.search("Quaxelbrunn").hits
    assert again.search("router").hits
    again.close()
    assert_absent(bytes_of(state), PLANTED, "Quaxelbrunn")


_SEARCHING = """
import sys
from memlane import Memory
from memlane.testing import HashEmbedder
memory = Memory.open(state_dir=sys.argv[1], environ={}, embedder=HashEmbedder())
print("ready", flush=True)
while not sys.stdin.readline().startswith("end"):
    memory.search("kettle number whistles")
    memory.search("Quaxelbrunn")
"""


def test_while_other_processes_search(open_memory: Open, write: Write, state: Path) -> None:
    filled(write)
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    searching = [
        subprocess.Popen(
            [sys.executable, "-c", _SEARCHING, str(state)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    try:
        for process in searching:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            assert process.stdin is not None
            process.stdin.write(b"go\n" * 40)
            process.stdin.flush()
        receipt = memory.forget(phrase=PLANTED, dry_run=False)
        assert receipt.status == "done"
    finally:
        for process in searching:
            process.communicate(b"end\n", timeout=120)
    assert [process.returncode for process in searching] == [0, 0]
    assert_absent(bytes_of(state), PLANTED, "Quaxelbrunn")


def test_an_agent_is_not_shown_it_either(open_memory: Open, write: Write, sessions: Path) -> None:
    write("memory/2026-02-10.md", f"- 09:00 {PLANTED}\n- 10:00 fine\n")
    write("MEMORY.md", f"# Memory\n\n- {PLANTED}\n- kept\n")
    put(sessions, "abc.jsonl", transcript(("user", f"at {PLANTED}"), ("assistant", "noted")))
    memory = open_memory(
        experimental={"sessionMemory": True}, sources=["memory", "sessions"], embedder=HashEmbedder()
    )
    memory.forget(phrase=PLANTED, dry_run=False)
    shown = memory.context().text
    assert PLANTED not in shown and "fine" in shown and "kept" in shown
    assert memory.get("MEMORY.md", start=2).text.split("\n")[:3] == ["", "", "- kept"]
    assert memory.get("sessions/abc.jsonl").text == "User: [forgotten]\nAssistant: noted"
    assert PLANTED not in "".join(memory.export_session("abc"))
    memory.forget(path="MEMORY.md", dry_run=False)
    assert "kept" not in memory.context().text
    assert not memory.get("MEMORY.md").exists
    memory.forget(path="sessions/abc.jsonl", dry_run=False)
    assert not memory.get("sessions/abc.jsonl").exists
