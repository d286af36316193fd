from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from memlane import Memory
from memlane.tools import search_json

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


@pytest.fixture
def memory(write: Write, open_memory: Open) -> Memory:
    write("memory/2026-02-09.md", "# Log\n\n- The lighthouse keeper is called Ines.\n")
    return open_memory()


def test_the_tools_have_names_schemas_and_say_whether_they_write(memory: Memory) -> None:
    tools = memory.tools()
    assert [(tool.name, tool.read_only) for tool in tools] == [
        ("memory_search", True),
        ("memory_get", True),
        ("memory_write", False),
    ]
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)


def test_search_get_and_write_answer_in_json(memory: Memory) -> None:
    search, get, write_tool = memory.tools()
    answer = search({"query": "who keeps the lighthouse?"})
    json.dumps(answer)
    (result,) = answer["results"]
    assert set(result) == {"path", "startLine", "endLine", "score", "snippet", "source", "citation"}
    assert result["snippet"].endswith("Source: memory/2026-02-09.md#L1-L3")
    assert (answer["provider"], answer["model"], answer["mode"]) == ("bundled", "static", "hybrid")
    assert get({"path": result["path"], "from": 3, "lines": 1}) == {
        "path": "memory/2026-02-09.md",
        "text": "- The lighthouse keeper is called Ines.",
        "from": 3,
        "lines": 1,
        "exists": True,
    }
    assert write_tool({"text": "Ines likes tea"}) == {
        "path": "memory/2026-02-10.md",
        "line": 3,
        "added": True,
    }
    assert write_tool({"text": "Ines likes tea"})["added"] is False
    assert "Ines likes tea" in search({"query": "what does Ines like to drink: tea"})["results"][0]["snippet"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'query' is missing"),
        ({"query": 5}, "must be of type string"),
        ({"query": "x", "maxResults": 0}, "at least 1"),
        ({"query": "x", "maxResults": True}, "must be of type integer"),
        ({"query": "x", "minScore": 2}, "between 0 and 1"),
        ({"query": "x", "since": "last week"}, "must be a date"),
        ({"query": "x", "source": "web"}, "must be one of"),
        ({"query": "x", "limit": 3}, "no argument 'limit'"),
    ],
)
def test_wrong_arguments_are_answered_and_not_raised(
    memory: Memory, arguments: dict[str, object], message: str
) -> None:
    search, _, _ = memory.tools()
    answer = search(arguments)
    assert answer["results"] == []
    assert answer["unavailable"] is True
    assert message in answer["error"]


def test_null_means_not_given(memory: Memory) -> None:
    search, get, _ = memory.tools()
    assert search({"query": "lighthouse", "maxResults": None, "since": None})["results"]
    assert get({"path": "memory/2026-02-09.md", "from": None, "lines": None})["lines"] == 3


def test_a_failure_is_an_answer_with_what_to_do(memory: Memory, notes: Path) -> None:
    search, get, write_tool = memory.tools()
    refused = get({"path": "../etc/passwd"})
    assert refused["code"] == "path_refused"
    assert refused["action"]
    notes.rename(notes.with_name("elsewhere"))
    answer = search({"query": "lighthouse"})
    assert answer["results"] == []
    assert "no workspace folder" in answer["error"]
    assert write_tool({"text": "x"})["unavailable"] is True


def test_disabled_memory_says_so(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    memory = open_memory(enabled=False)
    assert memory.tools() == []
    answer = search_json(memory.search("tea"))
    assert answer["results"] == []
    assert answer["disabled"] is True
    assert "Memory search disabled" in answer["error"]


def test_an_explained_search_is_json_too(memory: Memory) -> None:
    answer = search_json(memory.search("lighthouse", explain=True))
    json.dumps(answer)
    explained = answer["results"][0]["explain"]
    assert explained["keywordRank"] == 1
    assert explained["matchedTerms"]
    assert answer["totals"]["keywordCandidates"] == 1
