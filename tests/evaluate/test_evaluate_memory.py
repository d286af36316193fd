from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from memlane import AsyncMemory, Memory, UsageError
from memlane.evaluate import Question, Target
from memlane.evaluate.run import evaluate
from memlane.testing import RecordingObserver

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


def code(memory: Memory, question: str, path: str, *lines: int, **limits: object) -> tuple[str, str]:
    """Why the place was missed, or ("found", rank)."""
    found = memory.evaluate([Question(question, (Target(path, *lines),), **limits)])  # type: ignore[arg-type]
    if found.misses:
        (miss,) = found.misses
        return miss.code, miss.reason
    return "found", str(found.outcomes[0].best_rank)


def test_what_is_found_and_what_is_not(write: Write, open_memory: Open, observer: RecordingObserver) -> None:
    write("memory/a.md", "the lighthouse keeper is Ines\n")
    write("memory/b.md", "등대지기는 이네스다\n")
    memory = open_memory(provider="none")
    found = memory.evaluate(
        [
            Question("who keeps the lighthouse?", (Target("memory/a.md", 1, 1),), number=1),
            Question("등대지기", (Target("memory/b.md"), Target("memory/a.md")), number=2),
            Question("xylophone", (), number=3),
        ]
    )
    assert (found.questions, found.answerable, found.found) == (3, 2, 2)
    assert [one.ranks for one in found.outcomes] == [(1,), (1, None), ()]
    assert found.measures is not None
    assert found.measures.recall_at_10 == pytest.approx(0.75)
    assert (found.abstention.questions, found.abstention.right, found.abstention.wrong) == (1, 1, 0)
    (miss,) = found.misses
    assert (miss.number, miss.code, miss.found_another) == (2, "not_a_candidate", True)
    assert observer.stages[-1] == ("ask", 3, 3)
    assert 0 < found.milliseconds_p50 <= found.milliseconds_p95


def test_faults_of_the_note_itself(write: Write, notes: Path, open_memory: Open) -> None:
    write("memory/2026-05-12.md", "lighthouse\n")
    write("memory/empty.md", "")
    write("memory/.hidden.md", "lighthouse\n")
    write("README.md", "lighthouse\n")
    (notes / "memory/bad.md").write_bytes(b"\x00lighthouse")
    (notes / "memory/link.md").symlink_to(notes / "README.md")
    memory = open_memory(provider="none")
    for path, lines, expected, words in (
        ("README.md", (), "not_a_note", "notes are MEMORY.md"),
        ("../secret.md", (), "not_a_note", "notes are MEMORY.md"),
        ("memory/.hidden.md", (), "not_a_note", "notes are MEMORY.md"),
        ("memory/link.md", (), "ignored", "symbolic link"),
        ("memory/bad.md", (), "failed", "NUL at byte 0"),
        ("memory/2026-05-21.md", (), "no_such_file", "did you mean memory/2026-05-12.md?"),
        ("memory/other/entirely.md", (), "no_such_file", "nothing is at this path"),
        ("memory/empty.md", (), "no_such_lines", "it is empty"),
        ("memory/2026-05-12.md", (2, 3), "no_such_lines", "it ends at line 1"),
    ):
        found, reason = code(memory, "lighthouse", path, *lines)
        assert (found, words in reason) == (expected, True), (path, found, reason)


def test_a_path_is_meant_however_it_is_written(write: Write, notes: Path, open_memory: Open) -> None:
    write("memory/카페 [1]*.md", "lighthouse\n")
    memory = open_memory(provider="none")
    assert code(memory, "lighthouse", "memory/카페 [1]*.md") == ("found", "1")
    assert code(memory, "lighthouse", str(notes / "memory/카페 [1]*.md")) == ("found", "1")
    decomposed = "memory/\u110f\u1161\u1111\u1166 [1]*.md"
    assert code(memory, "lighthouse", decomposed) == ("found", "1")


def test_reasons_of_the_search(write: Write, open_memory: Open) -> None:
    for number in range(14):
        write(f"memory/2026-01-{number + 1:02d}.md", "lighthouse lighthouse keeper\n")
    write("memory/2026-03-01.md", "lighthouse and little else\n")
    write("memory/2026-03-02.md", "lighthouse " + "and much else besides " * 40 + "\n")
    write("memory/[odd] {name}.md", "windmill of the old miller\n")
    memory = open_memory(provider="none")
    assert code(memory, "lighthouse", "memory/2026-03-01.md")[0] == "ranked_low"
    assert "it ranks 15" in code(memory, "lighthouse", "memory/2026-03-01.md")[1]
    assert code(memory, "lighthouse", "memory/[odd] {name}.md") == (
        "not_a_candidate",
        "it has no word in common with the question, and words alone are searched",
    )
    assert code(memory, "windmill", "memory/[odd] {name}.md", glob="memory/2026*") == (
        "filtered",
        "the question's glob leave it out",
    )
    weak, reason = code(memory, "lighthouse xylophone zither theorbo quena sackbut", "memory/2026-03-02.md")
    assert weak == "below_threshold"
    assert reason.startswith("too weak in both legs: keyword 0.")


def test_limits_of_the_question_that_leave_the_note_out(write: Write, open_memory: Open) -> None:
    from datetime import date

    write("memory/2026-01-01.md", "lighthouse\n")
    write("memory/2026-02-01.md", "lighthouse\n")
    memory = open_memory(provider="none")
    limited = {"since": date(2026, 1, 15), "until": date(2026, 3, 1)}
    assert code(memory, "lighthouse", "memory/2026-01-01.md", **limited) == (
        "filtered",
        "the question's since and until leave it out",
    )
    assert code(memory, "lighthouse", "memory/2026-02-01.md", **limited) == ("found", "1")


def test_a_candidate_list_that_is_too_short_is_told(write: Write, open_memory: Open) -> None:
    for number in range(130):
        write(f"memory/n{number:03d}.md", "lighthouse lighthouse keeper\n")
    write("memory/z.md", "lighthouse " + "and much else besides " * 40 + "\n")
    memory = open_memory(provider="none")
    found, reason = code(memory, "lighthouse", "memory/z.md")
    assert found in {"not_a_candidate", "ranked_low"}
    assert "keyword" in reason
    assert "rank 131" in reason or "ranks 131" in reason or "ranks below the first" in reason


def test_confidence_decides_what_counts_as_nothing(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "the lighthouse keeper is Ines\n")
    memory = open_memory(provider="none")
    memory.sync()

    class Sure:
        def __init__(self, confidence: float) -> None:
            self.confidence = confidence

        def __getattr__(self, name: str) -> object:
            return getattr(memory, name)

        def search(self, query: str, **options: object) -> object:
            result = memory.search(query, **options)  # type: ignore[arg-type]

            class Answer:
                confidence = self.confidence

                def __getattr__(self, name: str) -> object:
                    return getattr(result, name)

            return Answer()

    asked = [Question("lighthouse", ()), Question("lighthouse keeper", (Target("memory/a.md"),))]
    unsure = evaluate(Sure(0.03), asked)  # type: ignore[arg-type]
    assert (unsure.abstention.right, unsure.abstention.empty, unsure.abstention.wrong) == (1, 0, 1)
    sure = evaluate(Sure(0.7), asked)  # type: ignore[arg-type]
    assert (sure.abstention.right, sure.abstention.wrong) == (0, 0)
    assert evaluate(Sure(0.3), asked, low_confidence=0.2).abstention.right == 0  # type: ignore[arg-type]


def test_what_cannot_be_asked(open_memory: Open, notes: Path) -> None:
    memory = open_memory(provider="none")
    with pytest.raises(UsageError, match="there are no questions to ask"):
        memory.evaluate([])
    with pytest.raises(UsageError, match="low_confidence must lie between 0 and 1, not 2"):
        memory.evaluate([Question("x", ())], low_confidence=2)
    with pytest.raises(UsageError, match=r"Memory search disabled\."):
        open_memory(enabled=False).evaluate([Question("x", ())])


def test_the_async_twin_gives_the_same(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "lighthouse\n")
    memory = open_memory(provider="none")
    questions = [Question("lighthouse", (Target("memory/a.md"),))]
    one = memory.evaluate(questions)

    async def ask() -> object:
        return await AsyncMemory(memory).evaluate(questions)

    other = asyncio.run(ask())
    assert [replace(o, milliseconds=0) for o in other.outcomes] == [  # type: ignore[attr-defined]
        replace(o, milliseconds=0) for o in one.outcomes
    ]


def test_settings_given_with_the_call_win(write: Write, notes: Path, tmp_path: Path) -> None:
    from memlane import ConfigError

    write("memory/a.md", "lighthouse\n")
    state = tmp_path / "state"
    state.mkdir()
    (state / "openclaw.json").write_text(
        '{"agents": {"list": [{"id": "main", "memorySearch":'
        ' {"provider": "auto", "query": {"minScore": 0.1}}}]}}'
    )

    def opened(section: dict[str, object]) -> Memory:
        return Memory.open(workspace=notes, state_dir=state, environ={}, memory_search=section)

    with opened({"provider": "none", "query": {"maxResults": 3}}) as memory:
        search = memory.settings.memory_search
        assert (search.provider, search.query.max_results, search.query.min_score) == ("none", 3, 0.1)
        assert memory.settings.origin("memorySearch.provider").kind == "flag"
        assert str(memory.settings.origin("memorySearch.provider")) == "memorySearch.provider"
        assert memory.settings.origin("memorySearch.query.minScore").kind == "agent"
    with pytest.raises(
        ConfigError, match=r"settings given with the call: memorySearch\.query\.minScore is 7; allowed"
    ):
        opened({"query": {"minScore": 7}})
    with pytest.raises(ConfigError, match=r'memorySearch\.provder is not known; did you mean "provider"\?'):
        opened({"provder": "none"})


def test_an_address_given_with_the_call_gets_no_key_of_another_host(notes: Path, tmp_path: Path) -> None:
    from memlane import ConfigError

    state = tmp_path / "state"
    state.mkdir()
    remote = '{"baseUrl": "https://a.example/v1", "apiKey": "sk-1"}'
    (state / "openclaw.json").write_text(
        f'{{"agents": {{"defaults": {{"memorySearch": {{"provider": "openai", "remote": {remote}}}}}}}}}'
    )

    def opened(**given: str) -> Memory:
        section = {"remote": given}
        return Memory.open(workspace=notes, state_dir=state, environ={}, memory_search=section)

    with pytest.raises(ConfigError, match=r"remote\.apiKey is for"):
        opened(baseUrl="https://b.example/v1")
    opened(baseUrl="https://a.example/v2").close()
    opened(baseUrl="https://b.example/v1", apiKey="sk-2").close()


def test_the_index_is_asked_as_it_is_when_no_look_at_the_notes_is_wanted(
    write: Write, open_memory: Open
) -> None:
    write("memory/a.md", "the lighthouse keeper is Ines\n")
    memory = open_memory()
    memory.sync()
    write("memory/b.md", "the harbour master is Ferran\n")
    asked = [Question("harbour master", (Target("memory/b.md"),))]
    assert memory.evaluate(asked, sync=False).found == 0
    assert memory.evaluate(asked).found == 1
