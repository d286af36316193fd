"""What a pass would do, told before anything is written or sent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.flights import Remote

from memlane import AsyncMemory, Memory
from memlane.embed.sqlite_cache import SqliteCache
from memlane.testing import HashEmbedder

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


def fill(write: Write, count: int, *, prefix: str = "n") -> None:
    for number in range(count):
        write(f"memory/{prefix}{number}.md", f"note {prefix}{number} on tea\n")


def test_a_fresh_memory_is_planned_without_a_trace(
    write: Write, open_memory: Open, tmp_path: Path, notes: Path
) -> None:
    fill(write, 20)
    write("memory/again.md", "note n3 on tea\n")
    remote = Remote()
    memory = open_memory(embedder=remote, remote={"pricePerMillionTokens": 1000})
    plan = memory.plan()
    assert (plan.files_to_read, plan.chunks, plan.texts, plan.requests) == (21, 21, 20, 3)
    assert (plan.from_index, plan.from_cache, plan.provider, plan.model) == (0, 0, "remote", "words")
    assert plan.cost == plan.tokens / 1000
    assert plan.meanwhile == "searches are by keyword alone until the vectors are there"
    assert list((tmp_path / "state").iterdir()) == [tmp_path / "state/openclaw.json"]
    assert remote.batches == remote.queries == []

    report = memory.sync()
    assert (report.chunks, report.embedded) == (plan.chunks, plan.texts)
    assert len(remote.batches) == plan.requests


def test_a_plan_says_what_the_pass_then_does(write: Write, open_memory: Open, notes: Path) -> None:
    fill(write, 20)
    remote = Remote()
    memory = open_memory(embedder=remote)
    memory.sync()
    assert memory.plan().meanwhile == "searches go on as before"
    write("memory/n1.md", "note n1 on coffee\n")
    write("memory/n2.md", "note n3 on tea\n")
    (notes / "memory/n4.md").unlink()
    fill(write, 3, prefix="new")
    plan = memory.plan()
    assert (plan.files_to_read, plan.files_to_remove, plan.unchanged) == (5, 1, 17)
    assert (plan.chunks, plan.from_index, plan.from_cache, plan.texts) == (5, 1, 0, 4)
    assert "new passages are found by keyword" in plan.meanwhile
    report = memory.sync()
    assert (report.chunks, report.embedded, report.removed) == (5, 4, 1)
    assert memory.plan().texts == 0


def test_another_model_is_planned_from_the_index_and_the_cache(write: Write, open_memory: Open) -> None:
    fill(write, 20)
    open_memory(embedder=Remote(model="one")).sync()
    open_memory(embedder=Remote(model="two")).sync()
    fill(write, 4, prefix="new")
    back = open_memory(embedder=Remote(model="one"))
    plan = back.plan()
    assert (plan.files_to_read, plan.from_index, plan.from_cache, plan.texts) == (4, 0, 20, 4)
    assert plan.meanwhile == "searches are by keyword alone until the vectors are there"
    third = open_memory(embedder=Remote(model="three")).plan()
    assert (third.from_cache, third.texts, third.requests) == (0, 24, 3)
    report = back.sync()
    assert (report.from_cache, report.embedded) == (20, 4)


@pytest.mark.parametrize("force", [False, True])
def test_a_plan_changes_no_byte(write: Write, open_memory: Open, tmp_path: Path, force: bool) -> None:
    fill(write, 20)
    memory = open_memory(embedder=Remote(model="one"))
    memory.sync()
    memory.close()
    (tmp_path / "state/memory/main.sqlite.lock").unlink()

    def contents() -> dict[str, str]:
        files = (tmp_path / "state").rglob("*")
        return {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.is_file() and not file.name.endswith(("-shm", "-wal"))
        }

    before = contents()
    write("memory/n1.md", "note n1 on coffee\n")
    remote = Remote(model="one")
    memory = open_memory(embedder=remote)
    plan = memory.plan(force=force)
    memory.close()
    assert (plan.from_index, plan.from_cache, plan.texts) == ((0, 19, 1) if force else (0, 0, 1))
    assert contents() == before
    assert remote.batches == []


def test_looking_counts_as_no_use_of_the_cache(write: Write, open_memory: Open, tmp_path: Path) -> None:
    fill(write, 3)
    open_memory(embedder=Remote()).sync()
    cache = SqliteCache(tmp_path / "state/memory/main.embeddings.sqlite", max_entries=9, max_bytes=10**9)
    uses = "SELECT group_concat(used) FROM uses"
    before = cache._open().execute(uses).get
    open_memory(embedder=Remote()).plan(force=True)
    assert cache._open().execute(uses).get == before
    cache.close()


def test_files_that_cannot_be_read_are_named_and_texts_too_long_counted(
    write: Write, open_memory: Open
) -> None:
    write("memory/bad.md", "nul \0 sign\n")
    write("memory/good.md", "x" * 900 + "\n")
    remote = Remote()
    remote.max_input_tokens = 24
    memory = open_memory(embedder=remote)
    plan = memory.plan()
    assert [failure.path for failure in plan.failed] == ["memory/bad.md"]
    assert (plan.texts, plan.without_vector) == (0, plan.chunks)
    assert memory.sync().without_vector == plan.without_vector > 1


def test_without_a_provider_there_is_nothing_to_embed(write: Write, open_memory: Open) -> None:
    fill(write, 2)
    plan = open_memory(provider="none").plan()
    assert (plan.provider, plan.chunks, plan.texts, plan.tokens, plan.requests) == ("none", 2, 0, 0, 0)
    assert plan.meanwhile == "searches are by keyword alone"


async def _planned(notes: Path, state: Path) -> int:
    embedder = HashEmbedder()
    async with AsyncMemory.open(workspace=notes, state_dir=state, environ={}, embedder=embedder) as memory:
        return (await memory.plan()).texts


def test_the_twin_for_asyncio_plans_too(write: Write, notes: Path, tmp_path: Path) -> None:
    import asyncio

    fill(write, 2)
    assert asyncio.run(_planned(notes, tmp_path / "state")) == 2
