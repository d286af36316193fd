from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import memlane
from memlane import AsyncMemory, ConfigError, Memory, UsageError, WorkspaceError, errors
from memlane.forget.plan import TombstoneInfo

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


def test_the_example_of_the_documentation_works(write: Write, notes: Path, tmp_path: Path) -> None:
    write("memory/router.md", "We decided to replace the router with an Omada ER605.\n")
    with Memory.open(workspace=notes, state_dir=tmp_path / "state", environ={}) as memory:
        memory.sync()
        hits = list(memory.search("what did we decide about the router?"))
        assert hits[0].path == "memory/router.md"
        assert (hits[0].start_line, hits[0].end_line) == (1, 1)
        memory.remember("Prefers tea", durable=True)
        assert "Prefers tea" in memory.get("MEMORY.md", start=1, lines=40).text


def test_what_is_remembered_is_found_at_once(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "something\n")
    memory = open_memory()
    memory.search("anything")
    memory.remember("The lighthouse keeper is called Ines")
    assert [hit.path for hit in memory.search("lighthouse keeper")] == ["memory/2026-02-10.md"]


def test_reading_and_writing_open_no_index(write: Write, tmp_path: Path, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    memory = open_memory()
    memory.get("memory/a.md")
    memory.remember("coffee")
    assert not (tmp_path / "state/memory").exists()


def test_threads_may_share_a_memory(write: Write, open_memory: Open) -> None:
    for number in range(20):
        write(f"memory/{number}.md", f"note {number} about topic{number}\n")
    memory = open_memory()
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                assert memory.search(f"topic{number}").hits[0].path == f"memory/{number}.md"
                memory.sync()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_asyncio_twin_gives_the_same(write: Write, notes: Path, tmp_path: Path) -> None:
    write("memory/a.md", "the lighthouse keeper\n")

    async def work() -> list[str]:
        async with AsyncMemory.open(workspace=notes, state_dir=tmp_path / "state", environ={}) as memory:
            assert (await memory.sync()).indexed == 1
            await memory.remember("tea")
            assert (await memory.get("memory/a.md")).lines == 1
            assert (await memory.context()).session_kind == "main"
            await memory.sync()
            assert (await memory.status()).statistics.files == 2
            found = await asyncio.gather(*(memory.search("lighthouse") for _ in range(4)))
            return [result.hits[0].path for result in found]

    assert asyncio.run(work()) == ["memory/a.md"] * 4


def test_every_call_has_an_asyncio_twin() -> None:
    def calls(of: type) -> set[str]:
        return {name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))}

    assert calls(AsyncMemory) == calls(Memory)
    assert inspect.signature(AsyncMemory.search) == inspect.signature(Memory.search)


def test_the_asyncio_twin_calls_what_a_host_made_of_its_memory(tmp_path: Path) -> None:
    class Louder(Memory):
        def forgotten(self) -> list[TombstoneInfo]:
            raise UsageError("nothing is forgotten here")

    memory = AsyncMemory(Louder.open(workspace=tmp_path, state_dir=tmp_path / "state", environ={}))
    with pytest.raises(UsageError, match="nothing is forgotten here"):
        asyncio.run(memory.forgotten())


def test_two_workspaces_of_one_agent_have_indexes_of_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "memory").mkdir(parents=True)
        (tmp_path / name / "memory/a.md").write_text(f"the lighthouse of {name}\n")
    for name in ("one", "two", "one"):
        with Memory.open(workspace=tmp_path / name, state_dir=tmp_path / "state", environ={}) as memory:
            (hit,) = memory.search("lighthouse")
            assert name in hit.snippet
    assert len(list((tmp_path / "state/memory").glob("*.sqlite"))) == 2


def test_a_missing_workspace_is_a_clear_error(tmp_path: Path) -> None:
    memory = Memory.open(workspace=tmp_path / "nowhere", state_dir=tmp_path / "state", environ={})
    with pytest.raises(WorkspaceError, match="no workspace folder") as caught:
        memory.search("tea")
    assert "memlane init" in caught.value.hint
    memory.close()


def test_an_unknown_agent_names_the_known_ones(open_memory: Open) -> None:
    with pytest.raises(UsageError, match="main"):
        open_memory(agent="nobody")


def test_a_wrong_value_names_file_key_and_value(tmp_path: Path) -> None:
    (tmp_path / "openclaw.json").write_text("{agents: {defaults: {memorySearch: {query: {minScore: 7}}}}}")
    with pytest.raises(ConfigError) as caught:
        Memory.open(state_dir=tmp_path, environ={})
    for part in ("openclaw.json", "agents.defaults.memorySearch.query.minScore", "7"):
        assert part in str(caught.value)


def test_an_explicit_provider_without_a_key_leaves_keyword_search(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    result = open_memory(provider="openai").search("tea")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert result.mode == "keyword"
    assert result.warning is not None
    assert result.warning == (
        "the provider openai cannot be used: no key in memorySearch.remote.apiKey, auth profiles, the"
        " environment (OPENAI_API_KEY) or models.providers.openai.apiKey (set OPENAI_API_KEY);"
        " keyword search only"
    )


def test_search_limits_are_checked(open_memory: Open) -> None:
    memory = open_memory()
    with pytest.raises(UsageError, match="maxResults"):
        memory.search("x", max_results=0)
    with pytest.raises(UsageError, match="minScore"):
        memory.search("x", min_score=1.5)


def test_public_names_exist() -> None:
    for name in memlane.__all__:
        assert getattr(memlane, name) is not None
    assert set(memlane.__all__) == {*memlane._HOMES, "__version__"}


def test_every_error_is_public() -> None:
    raised = {
        name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)
    }
    assert raised <= set(memlane.__all__)


def test_other_names_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        memlane.Nothing  # noqa: B018
