"""Transcripts as a source of memory: from files in the platform's format to results, on every way there."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.said import line, put, store, talk, transcript

from memlane import Memory, PathRefused
from memlane.index.write import FileWriter
from memlane.testing import HashEmbedder, RecordingObserver

ON: dict[str, Any] = {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}
EAGER = {**ON, "sync": {"sessions": {"deltaMessages": 0}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "agents" / "main" / "sessions"


def found(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.path for hit in memory.search(query, **options)]


def test_off_unless_asked_for(open_memory: Callable[..., Memory], folder: Path) -> None:
    put(folder, "a.jsonl", transcript(("user", "the zebra is striped")))
    memory = open_memory()
    memory.sync()
    assert found(memory, "zebra") == []
    with pytest.raises(PathRefused):
        memory.get("sessions/a.jsonl")


def test_an_existing_transcript_is_found_at_first_sight(
    open_memory: Callable[..., Memory], folder: Path
) -> None:
    text = transcript(("user", "which animal?"), ("assistant", [{"type": "text", "text": "the zebra"}]))
    put(folder, "a.jsonl", text)
    memory = open_memory(**ON)
    report = memory.sync()
    assert (report.indexed, report.complete, report.failed) == (1, True, ())
    (hit,) = memory.search("zebra")
    assert (hit.path, hit.source, hit.start_line, hit.end_line) == ("sessions/a.jsonl", "sessions", 2, 3)
    assert "User: which animal?" in hit.snippet
    said = memory.get(hit.path, start=hit.start_line, lines=hit.end_line - hit.start_line + 1)
    assert said.text == "User: which animal?\nAssistant: the zebra"
    assert memory.sync().unchanged == 1
    assert memory.status().statistics.by_source == {"sessions": 1}


def test_only_what_was_said_is_found(open_memory: Callable[..., Memory], folder: Path) -> None:
    turns: list[tuple[str, object] | str] = [
        ("user", [{"type": "text", "text": "spokenword"}, {"type": "image", "data": "imageword"}]),
        (
            "assistant",
            [{"type": "thinking", "thinking": "thoughtword"}, {"type": "text", "text": "answerword"}],
        ),
        ("assistant", [{"type": "toolCall", "name": "x", "arguments": {"q": "callword"}}]),
        ("toolResult", [{"type": "text", "text": "resultword"}]),
        ("system", "systemword"),
        ("assistant", "**NO_REPLY**"),
        ("assistant", "HEARTBEAT_OK"),
        ("assistant", "NO_REPLY is what I would say to tokenword"),
        ("user", "before <memory-recall n=1>recalledword</memory-recall> afterword"),
        ("user", "<memlane-notes>\nnoteword\n</memlane-notes>\nasideword <memory-recall>tornword"),
        json.dumps({"type": "compaction", "summary": "summaryword"}),
        json.dumps({"type": "custom", "message": {"role": "user", "content": "customword"}}),
    ]
    put(folder, "a.jsonl", transcript(*turns))
    memory = open_memory(**ON, provider="none")
    memory.sync()
    for word in ("spokenword", "answerword", "tokenword", "afterword", "asideword"):
        assert found(memory, word), word
    for word in (
        "image",
        "thought",
        "call",
        "result",
        "system",
        "recalled",
        "note",
        "torn",
        "summary",
        "custom",
    ):
        assert not found(memory, f"{word}word"), word
    assert not found(memory, "HEARTBEAT_OK")


def test_sessions_in_which_nobody_talks_are_left_out(
    open_memory: Callable[..., Memory], folder: Path
) -> None:
    kinds = {
        "main": True,
        "discord:group:7": True,
        "cron:daily": False,
        "subagent:x": False,
        "main:heartbeat": False,
    }
    for number, kind in enumerate(kinds):
        put(folder, f"s{number}.jsonl", transcript(("user", f"zebra in {kind}, heartbeat cron sub-agent")))
    put(folder, "old.jsonl", transcript(("user", "zebra of an old session")))
    store(folder, {f"agent:main:{kind}": {"sessionId": f"s{number}"} for number, kind in enumerate(kinds)})
    memory = open_memory(**ON)
    memory.sync()
    expected = {f"sessions/s{number}.jsonl" for number, kept in enumerate(kinds.values()) if kept}
    assert set(found(memory, "zebra", max_results=20)) == {*expected, "sessions/old.jsonl"}


def test_a_broken_store_changes_nothing_and_is_told(open_memory: Callable[..., Memory], folder: Path) -> None:
    put(folder, "a.jsonl", transcript(("user", "the zebra")))
    memory = open_memory(**ON)
    memory.sync()
    (folder / "sessions.json").write_text("{")
    put(folder, "b.jsonl", transcript(("user", "the zebra again")))
    report = memory.sync()
    assert [one.path for one in report.failed] == ["sessions"]
    assert "sessions.json cannot be understood" in report.failed[0].reason
    assert found(memory, "zebra") == ["sessions/a.jsonl"]


def test_an_agent_has_its_own_transcripts_alone(
    open_memory: Callable[..., Memory], folder: Path, tmp_path: Path
) -> None:
    put(folder, "a.jsonl", transcript(("user", "the zebra")))
    put(tmp_path / "state" / "agents" / "other" / "sessions", "b.jsonl", transcript(("user", "their zebra")))
    memory = open_memory(**ON)
    memory.sync()
    assert found(memory, "zebra") == ["sessions/a.jsonl"]
    assert not memory.get("sessions/b.jsonl").exists


def test_a_broken_line_is_told_of_and_half_a_line_waits(
    open_memory: Callable[..., Memory], folder: Path, observer: RecordingObserver
) -> None:
    whole = transcript(("user", "the zebra"), "{broken", ("user", "the walrus"))
    last = line("user", "the ostrich", minute=9)
    path = put(folder, "a.jsonl", whole + last[:40])
    memory = open_memory(**EAGER, provider="none")
    memory.sync()
    assert observer.warnings == ["sessions/a.jsonl: 1 line could not be read and was passed over (line 3)"]
    assert found(memory, "walrus")
    assert not found(memory, "ostrich")
    with path.open("a") as file:
        file.write(f"{last[40:]}\n")
    memory.sync()
    (hit,) = memory.search("ostrich")
    assert hit.end_line == 5


class TestGrowth:
    def test_little_growth_waits_and_enough_is_indexed(
        self, open_memory: Callable[..., Memory], folder: Path
    ) -> None:
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**ON, provider="none")
        memory.sync()
        for number in range(50):
            assert not found(memory, "walrus"), number
            with path.open("a") as file:
                file.write(f"{line('user', f'the walrus {number}')}\n")
            report = memory.sync()
            assert report.indexed == (number == 49)
        assert found(memory, "walrus")

    def test_many_bytes_are_enough_too(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**ON, provider="none")
        memory.sync()
        with path.open("a") as file:
            file.write(f"{line('toolResult', 'x' * 100_000)}\n{line('user', 'the walrus')}\n")
        assert memory.sync().indexed == 1
        assert found(memory, "walrus")

    def test_a_named_session_is_indexed_however_little_it_grew(
        self, open_memory: Callable[..., Memory], folder: Path
    ) -> None:
        store(folder, {"agent:main:main": {"sessionId": "a"}})
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**ON, provider="none")
        memory.sync()
        with path.open("a") as file:
            file.write(f"{line('user', 'the walrus')}\n")
        for session in (None, "agent:main:other", "agent:else:main"):
            assert memory.sync(session=session).indexed == 0
        assert memory.sync(session="agent:main:main").indexed == 1
        assert found(memory, "walrus")

    def test_force_covers_transcripts(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**ON, provider="none")
        memory.sync()
        with path.open("a") as file:
            file.write(f"{line('user', 'the walrus')}\n")
        assert memory.sync(force=True).indexed == 1
        assert found(memory, "walrus")

    def test_only_the_new_part_is_embedded(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        words = [f"word{number} " * 300 for number in range(8)]
        path = put(folder, "a.jsonl", transcript(*talk(words)))
        embedder = HashEmbedder()
        memory = open_memory(**EAGER, embedder=embedder, cache={"enabled": False})
        memory.sync()
        embedder.documents.clear()
        with path.open("a") as file:
            file.write(f"{line('user', 'the walrus', minute=60)}\n")
        memory.sync()
        assert embedder.documents == ["User: the walrus"]

    @pytest.mark.parametrize("apart", [1, 400])
    def test_grown_bit_by_bit_is_the_same_as_read_at_once(
        self, open_memory: Callable[..., Memory], folder: Path, apart: float
    ) -> None:
        words = [f"turn {number} " + f"word{number} " * (number * 37 % 500) for number in range(24)]
        tools = [line("toolResult", "y" * 2000, minute=apart * number) for number in range(24)]
        turns: list[Any] = [part for pair in zip(talk(words), tools, strict=True) for part in pair]
        text = transcript(*turns, apart=apart).encode()
        memory = open_memory(**EAGER, provider="none")
        path = put(folder, "a.jsonl", "")
        for end in range(0, len(text), 997):
            path.write_bytes(path.read_bytes() + text[end : end + 997])
            memory.sync()
        grown = passages(memory)
        memory.sync(force=True)
        assert grown == passages(memory)
        assert len(grown) > 10

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text[: len(text) // 2].rsplit(b"\n", 1)[0] + b"\n",
            lambda text: b"",
            lambda text: text.replace(b"word3", b"wrod3"),
            lambda text: text[text.index(b"\n") + 1 :],
            lambda text: text + text[len(text) // 2 :],
            lambda text: text.replace(b"word1", b"much longer than that word1"),
        ],
    )
    def test_a_rewritten_file_is_read_anew(
        self, open_memory: Callable[..., Memory], folder: Path, change: Callable[[bytes], bytes]
    ) -> None:
        words = [f"turn {number} " + f"word{number} " * 200 for number in range(20)]
        path = put(folder, "a.jsonl", transcript(*talk(words)))
        memory = open_memory(**EAGER, provider="none")
        memory.sync()
        path.write_bytes(change(path.read_bytes()))
        os.utime(path, ns=(1, path.stat().st_mtime_ns + 10**9))
        memory.sync()
        rewritten = passages(memory)
        memory.sync(force=True)
        assert rewritten == passages(memory)

    def test_a_writer_at_work_tears_nothing(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**EAGER, provider="none")
        done = threading.Event()

        def write_on() -> None:
            with path.open("a", buffering=1) as file:
                for number in range(3000):
                    half = line(
                        "user" if number % 2 else "assistant", f"word{number} and more", minute=number
                    )
                    file.write(half[:20])
                    file.flush()
                    file.write(f"{half[20:]}\n")
            done.set()

        writer = threading.Thread(target=write_on)
        writer.start()
        while not done.is_set():
            memory.sync()
        writer.join()
        memory.sync()
        grown = passages(memory)
        memory.sync(force=True)
        assert grown == passages(memory)

    def test_what_a_pass_was_killed_in_is_gone_on_with(
        self, open_memory: Callable[..., Memory], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memlane.index.transcripts._CHUNKS_A_BATCH", 3)
        monkeypatch.setattr("memlane.index.update._FIRST_CHUNKS", 3)
        monkeypatch.setattr("memlane.index.update._CHUNKS_A_TRANSACTION", 3)
        put(folder, "a.jsonl", transcript(*talk(f"word{number} " * 150 for number in range(40))))
        memory = open_memory(**ON, provider="none")
        stored: list[int] = []
        original = FileWriter.apply

        def dies(writer: FileWriter, change: Any) -> None:
            stored.append(1)
            if len(stored) == 3:
                raise KeyboardInterrupt
            original(writer, change)

        monkeypatch.setattr(FileWriter, "apply", dies)
        with pytest.raises(KeyboardInterrupt):
            memory.sync()
        assert 0 < len(passages(memory)) < 15
        monkeypatch.setattr(FileWriter, "apply", original)
        assert memory.sync().indexed == 1
        resumed = passages(memory)
        memory.sync(force=True)
        assert resumed == passages(memory)

    def test_a_plan_counts_what_was_said(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        path = put(folder, "a.jsonl", transcript(*talk(f"word{number} " * 300 for number in range(8))))
        memory = open_memory(**ON, embedder=HashEmbedder())
        plan = memory.plan()
        assert (plan.files_to_read, plan.chunks, plan.texts) == (1, 16, 16)
        memory.sync()
        with path.open("a") as file:
            file.write(f"{line('user', 'the walrus', minute=60)}\n")
        assert memory.plan().files_to_read == 0

    def test_a_touched_file_embeds_nothing(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        path = put(folder, "a.jsonl", transcript(*talk(f"word{number} " * 300 for number in range(8))))
        embedder = HashEmbedder()
        memory = open_memory(**EAGER, embedder=embedder, cache={"enabled": False})
        memory.sync()
        embedder.documents.clear()
        os.utime(path, ns=(1, path.stat().st_mtime_ns + 10**9))
        memory.sync()
        assert embedder.documents == []


def passages(memory: Memory) -> list[tuple[Any, ...]]:
    """What is indexed of transcripts."""
    index = memory._backend._file.store()  # type: ignore[attr-defined]
    with index._database.reading() as connection:
        return list(
            connection.execute(
                "SELECT f.path, c.start_line, c.end_line, c.text, c.first_at, c.last_at FROM chunks c"
                " JOIN files f ON f.id = c.file JOIN generations g ON g.id = f.generation WHERE g.current"
                " ORDER BY f.path, c.start_line, c.id"
            )
        )


class TestArchives:
    def test_a_reset_transcript_is_still_found_and_nothing_is_embedded_again(
        self, open_memory: Callable[..., Memory], folder: Path
    ) -> None:
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        embedder = HashEmbedder()
        memory = open_memory(**ON, embedder=embedder, cache={"enabled": False})
        memory.sync()
        embedder.documents.clear()
        name = "a.jsonl.reset.2026-02-10T12-00-00.000Z"
        path.rename(folder / name)
        put(folder, "a.jsonl", transcript(("user", "the walrus")))
        memory.sync()
        assert found(memory, "zebra")[0] == f"sessions/{name}"
        assert found(memory, "walrus")[0] == "sessions/a.jsonl"
        assert embedder.documents == ["User: the walrus"]
        assert memory.get(f"sessions/{name}", start=2, lines=1).text == "User: the zebra"

    def test_what_was_not_indexed_before_a_reset_is_then(
        self, open_memory: Callable[..., Memory], folder: Path
    ) -> None:
        path = put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**ON, provider="none")
        memory.sync()
        with path.open("a") as file:
            file.write(f"{line('user', 'the walrus')}\n")
        memory.sync()
        assert not found(memory, "walrus")
        path.rename(folder / "a.jsonl.reset.1")
        memory.sync()
        assert found(memory, "walrus") == found(memory, "zebra") == ["sessions/a.jsonl.reset.1"]

    @pytest.mark.parametrize("how", ["renamed", "removed", "all at once"])
    def test_a_deleted_transcript_is_gone_everywhere(
        self, open_memory: Callable[..., Memory], folder: Path, how: str
    ) -> None:
        paths = [
            put(folder, f"a{number}.jsonl", transcript(("user", f"the zebra {number}")))
            for number in range(30)
        ]
        kept = put(folder, "kept.jsonl", transcript(("user", "the walrus")))
        memory = open_memory(**ON, embedder=HashEmbedder())
        memory.sync()
        assert memory.status().cache_entries == 31
        gone = paths[:1] if how != "all at once" else paths
        for path in gone:
            if how == "renamed":
                path.rename(folder / f"{path.name}.deleted.2026-02-10T12-00-00.000Z")
            else:
                path.unlink()
        assert not set(found(memory, "zebra 0", sync=False)) & {f"sessions/{path.name}" for path in gone}
        assert memory.sync().removed == len(gone)
        status = memory.status()
        assert status.cache_entries == status.statistics.vectors == status.statistics.chunks == 31 - len(gone)
        assert not memory.get(f"sessions/{paths[0].name}").exists
        assert kept.exists()

    def test_one_that_becomes_housekeeping_goes(
        self, open_memory: Callable[..., Memory], folder: Path
    ) -> None:
        put(folder, "a.jsonl", transcript(("user", "the zebra")))
        memory = open_memory(**ON)
        memory.sync()
        store(folder, {"agent:main:cron:x": {"sessionId": "a"}})
        memory.sync()
        assert found(memory, "zebra") == []


def test_links_are_passed_over_and_named(
    open_memory: Callable[..., Memory], folder: Path, tmp_path: Path
) -> None:
    target = put(tmp_path, "elsewhere.jsonl", transcript(("user", "the zebra")))
    folder.mkdir(parents=True)
    (folder / "a.jsonl").symlink_to(target)
    memory = open_memory(**ON)
    assert memory.sync().skipped_links == ("sessions/a.jsonl",)
    assert found(memory, "zebra") == []
    with pytest.raises(PathRefused):
        memory.get("sessions/a.jsonl")


class TestTime:
    def test_filters_by_the_day_on_which_it_was_said(
        self, open_memory: Callable[..., Memory], folder: Path
    ) -> None:
        # 23:30 UTC on the 8th is 00:30 on the 9th in Berlin.
        early = line("user", "the zebra at night", minute=-630)
        late = line("user", "the zebra at noon", minute=1440)
        put(folder, "a.jsonl", transcript(early, late))
        memory = open_memory(**ON, provider="none")
        memory.sync()

        def lines(**options: date) -> list[int]:
            return sorted(hit.start_line for hit in memory.search("zebra", **options))

        assert lines() == [2, 3]
        assert lines(since=date(2026, 2, 9), until=date(2026, 2, 9)) == [2]
        assert lines(since=date(2026, 2, 10)) == [3]
        assert lines(until=date(2026, 2, 8)) == []
        assert lines(since=date.min, until=date.max) == [2, 3]

    def test_decay_counts_from_the_message(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        put(folder, "a.jsonl", transcript(("user", "the zebra")))  # on 9 February
        settings = {"query": {"hybrid": {"temporalDecay": {"enabled": True}}}}
        memory = open_memory(**ON, **settings)
        memory.sync()
        (hit,) = memory.search("zebra", explain=True)
        assert hit.explanation is not None
        assert hit.explanation.age_days == 1

    def test_a_day_that_is_asked_for(self, open_memory: Callable[..., Memory], folder: Path) -> None:
        for day in range(5):
            put(folder, f"d{day}.jsonl", transcript(line("user", "we met the zebra", minute=-1440 * day)))
        memory = open_memory(**ON)
        memory.sync()
        assert found(memory, "what was it about the zebra on 7 February 2026?")[0] == "sessions/d2.jsonl"


class TestBalance:
    @pytest.mark.parametrize("provider", ["bundled", "none"])
    def test_one_note_is_not_drowned(
        self,
        open_memory: Callable[..., Memory],
        folder: Path,
        write: Callable[[str, str], Path],
        provider: str,
    ) -> None:
        write("memory/blue.md", "the blue whale sings at night\n")
        for number in range(200):
            put(folder, f"s{number}.jsonl", transcript(("user", "the blue whale sings at night")))
        memory = open_memory(**ON, provider=provider)
        memory.sync()
        for places in (1, 2, 6):
            hits = found(memory, "the blue whale sings at night", max_results=places)
            assert len(hits) == places
            if places > 1:
                assert "memory/blue.md" in hits

    def test_one_transcript_is_not_drowned(
        self, open_memory: Callable[..., Memory], folder: Path, write: Callable[[str, str], Path]
    ) -> None:
        for number in range(200):
            write(f"memory/n{number}.md", "the blue whale sings at night\n")
        put(folder, "a.jsonl", transcript(("user", "the blue whale sings at night")))
        memory = open_memory(**ON)
        memory.sync()
        assert "sessions/a.jsonl" in found(memory, "the blue whale sings at night", max_results=6)

    def test_what_has_nothing_to_do_with_it_gets_no_place(
        self, open_memory: Callable[..., Memory], folder: Path, write: Callable[[str, str], Path]
    ) -> None:
        write("memory/tax.md", "income tax is due in July\n")
        for number in range(30):
            put(folder, f"s{number}.jsonl", transcript(("user", f"the blue whale sings at night {number}")))
        memory = open_memory(**ON)
        memory.sync()
        assert "memory/tax.md" not in found(memory, "blue whale sings", max_results=6)


def test_a_search_does_not_wait_for_many_transcripts(
    open_memory: Callable[..., Memory], folder: Path, write: Callable[[str, str], Path]
) -> None:
    write("memory/a.md", "the zebra in a note\n")
    put(folder, "big.jsonl", transcript(*talk("the zebra " * 2000 for _ in range(20))))
    put(folder, "small.jsonl", transcript(("user", "the small zebra")))
    memory = open_memory(**ON)
    result = memory.search("zebra")
    assert {hit.path for hit in result} == {"memory/a.md", "sessions/small.jsonl"}
    assert result.stale
    assert result.warning == "1 transcript is not indexed yet; memlane index reads it"
    memory.sync()
    assert not memory.search("zebra").stale


def test_transcripts_alone(
    open_memory: Callable[..., Memory], folder: Path, write: Callable[..., Path]
) -> None:
    write("memory/a.md", "the zebra in a note\n")
    put(folder, "a.jsonl", transcript(("user", "the zebra")))
    memory = open_memory(experimental={"sessionMemory": True}, sources=["sessions"])
    memory.sync()
    assert found(memory, "zebra") == ["sessions/a.jsonl"]


def test_switched_off_again_it_is_gone(open_memory: Callable[..., Memory], folder: Path) -> None:
    put(folder, "a.jsonl", transcript(("user", "the zebra")))
    open_memory(**ON).sync()
    memory = open_memory()
    memory.sync()
    assert memory.status().statistics.files == 0


ODD = ["", "\n\n\n", "\ufeff", "null\n", "[]\n{}\n", "\0\0\0\n", '{"type":"message"}\n', "x" * 5000]


@pytest.mark.parametrize("text", ODD)
def test_odd_files_do_no_harm(open_memory: Callable[..., Memory], folder: Path, text: str) -> None:
    put(folder, "odd.jsonl", text)
    put(folder, "fine.jsonl", transcript(("user", "the zebra")))
    memory = open_memory(**EAGER)
    assert memory.sync().failed == ()
    assert found(memory, "zebra") == ["sessions/fine.jsonl"]
    assert memory.sync().unchanged == 2


def test_odd_texts_are_searched(open_memory: Callable[..., Memory], folder: Path) -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    turns = [
        ("user", "끝말잇기 게임을 했다"),
        ("assistant", "今天讨论了部署方案"),
        ("user", "a\r\nzebra\r\nb \0 c"),
        ("user", f"{family} " * 900),
    ]
    surrogate = line("user", "surrogateword").replace("surrogateword", "\\ud83d walrus")
    put(folder, "a.jsonl", transcript(*turns, surrogate).replace("\n", "\r\n"))
    memory = open_memory(**ON, provider="none")
    memory.sync()
    for query in ("끝말", "部署", "zebra", "walrus"):
        assert found(memory, query) == ["sessions/a.jsonl"], query
    assert all(
        not text.startswith("\u200d") and not text.endswith("\u200d")
        for _, _, _, text, *_ in passages(memory)
    )


def test_a_long_message_is_cut_like_any_text(open_memory: Callable[..., Memory], folder: Path) -> None:
    sections = "\n".join(f"## Part {number}\n\n" + f"word{number} " * 120 for number in range(30))
    put(folder, "a.jsonl", transcript(("user", "short"), ("assistant", sections), ("user", "afterwards")))
    memory = open_memory(**ON, provider="none")
    memory.sync()
    (hit, *_) = memory.search("word17")
    assert (hit.start_line, hit.end_line) == (3, 3)
    assert "word17" in hit.snippet
    assert [one[1:3] for one in passages(memory)][:1] == [(2, 2)]
    assert memory.get(hit.path, start=3, lines=1).text == f"Assistant: {sections.strip()}"
