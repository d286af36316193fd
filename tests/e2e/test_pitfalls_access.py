"""Who may see what, on every way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.loopback.embeddings_api import OpenAiService, served

from memlane import Memory, PathRefused

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]

SHARED = [
    "agent:main:discord:group:42",
    "agent:main:slack:channel:general",
    "agent:main:slack:channel:general:thread:9",
    "agent:main:subagent:7",
    "agent:main:cron:nightly",
    "agent:other:main",
    "agent:main:telegram:direct:somebody",
    "something nobody has heard of",
    "",
]
PRIVATE = [None, "main", "agent:main:main", "AGENT:MAIN:MAIN"]


@pytest.fixture
def memory(write: Write, open_memory: Open) -> Memory:
    write("MEMORY.md", "The safe code is periwinkle.\n")
    write("memory/2026-02-10.md", "Today we spoke of the harbour.\n")
    write("memory/2026-02-09.md", "Yesterday we spoke of the bridge.\n")
    return open_memory()


@pytest.mark.parametrize("session", PRIVATE)
def test_private_sessions_see_the_curated_memory(memory: Memory, session: str | None) -> None:
    context = memory.context(session)
    assert "periwinkle" in context.text
    assert [hit.path for hit in memory.search("periwinkle", session=session)] == ["MEMORY.md"]
    assert "periwinkle" in memory.get("MEMORY.md", session=session).text


@pytest.mark.parametrize("session", SHARED)
def test_shared_sessions_never_do(memory: Memory, notes: Path, session: str) -> None:
    context = memory.context(session)
    assert "periwinkle" not in context.text
    assert context.withheld == ("MEMORY.md",)
    assert "harbour" in context.text
    assert "bridge" in context.text
    assert memory.search("periwinkle safe code", session=session).hits == ()
    for path in ("MEMORY.md", "memory.md", "Memory.MD", str(notes / "MEMORY.md"), "./MEMORY.md"):
        with pytest.raises(PathRefused):
            memory.get(path, session=session)


@pytest.mark.parametrize("session", SHARED)
def test_a_hard_link_is_no_way_round(memory: Memory, notes: Path, session: str) -> None:
    (notes / "memory/copy.md").hardlink_to(notes / "MEMORY.md")
    memory.sync()
    assert memory.search("periwinkle safe code", session=session).hits == ()
    with pytest.raises(PathRefused):
        memory.get("memory/copy.md", session=session)


@pytest.mark.parametrize("session", SHARED)
def test_the_tools_keep_to_it_too(memory: Memory, session: str) -> None:
    search, get, _ = memory.tools(session=session)
    assert search({"query": "periwinkle"})["results"] == []
    answer = get({"path": "MEMORY.md"})
    assert answer["unavailable"]
    assert "periwinkle" not in str(answer)


def test_yesterday_comes_before_today(memory: Memory) -> None:
    text = memory.context().text
    assert text.index("bridge") < text.index("harbour")


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "memory/../../x.md",
        "memory-x/a.md",
        "/etc/passwd",
        "memory/a.txt",
        "memory/%2e%2e/x.md",
        "C:\\x.md",
        "\\\\host\\x.md",
        "memory/a\x00.md",
        "secret.md",
    ],
)
def test_paths_outside_memory_are_refused_alike_whether_or_not_they_exist(
    memory: Memory, notes: Path, path: str
) -> None:
    (notes / "secret.md").write_text("secret\n")
    with pytest.raises(PathRefused) as refused:
        memory.get(path)
    assert "secret\n" not in str(refused.value)


def test_a_note_that_does_not_exist_yet_is_no_error(memory: Memory) -> None:
    excerpt = memory.get("memory/2031-01-01.md")
    assert (excerpt.exists, excerpt.text, excerpt.lines) == (False, "", 0)


def test_a_search_range_fed_to_get_gives_exactly_the_chunk(write: Write, open_memory: Open) -> None:
    write(
        "memory/a.md", "# One\n\nalpha lighthouse\nbeta\u2028gamma\n\n## Two\n\n" + "delta words here\n" * 30
    )
    memory = open_memory()
    hit = next(iter(memory.search("lighthouse")))
    excerpt = memory.get(hit.path, start=hit.start_line, lines=hit.end_line - hit.start_line + 1)
    assert excerpt.text == hit.snippet


class AnyKey(OpenAiService):
    """Lets everybody in."""

    def check(self, path: str, headers: Mapping[str, str], body: object) -> None:
        """No key is wrong."""


def test_identity_is_the_same_whoever_opens_and_whatever_the_key(
    write: Write, tmp_path: Path, open_memory: Open
) -> None:
    from memlane.embed.bundled import BundledEmbedder
    from memlane.index.identity import layout_identity, space_identity

    write("memory/a.md", "tea\n")
    service = AnyKey()
    with served(service) as url:
        remote = {"baseUrl": f"{url}/v1"}
        said = {"provider": "openai-compatible", "model": service.model}
        embedded = []
        for changed in (
            {"apiKey": "one"},
            {"apiKey": "another", "headers": {"X-Team": "gardeners"}},
            {"baseUrl": f"{url.replace('127.0.0.1', 'localhost')}/v1"},
        ):
            memory = open_memory(**said, remote=remote | changed)
            embedded.append(memory.sync().embedded)
            memory.close()
    assert embedded == [1, 0, 1]
    assert space_identity(BundledEmbedder().identity) == space_identity(BundledEmbedder().identity)
    assert layout_identity(chunk_tokens=400, chunk_overlap=80) != layout_identity(
        chunk_tokens=401, chunk_overlap=80
    )


def test_a_curated_file_too_long_for_the_context_is_named_in_status(write: Write, open_memory: Open) -> None:
    write("MEMORY.md", "# Memory\n\n" + "- a fact worth keeping\n" * 1200)
    (warning,) = open_memory().status().warnings
    assert "MEMORY.md" in warning
    assert "20,000" in warning
