"""`memlane index --plan`, and how a fallback is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from memlane.surfaces.planned import plan_text
from memlane.surfaces.render import result_text
from memlane.values import Fallback, FileFailure, IndexPlan, SearchResult

PLAN = IndexPlan(
    provider="openai",
    model="large",
    files_to_read=1200,
    files_to_remove=1,
    unchanged=2,
    failed=(FileFailure("memory/bad.md", "not text"),),
    chunks=3000,
    from_index=1,
    from_cache=20,
    without_vector=0,
    texts=2979,
    tokens=1_200_000,
    requests=47,
    cost=0.156,
    meanwhile="searches go on as before",
)


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memlane", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_plan_leaves_no_trace(
    environment: dict[str, str], write: Callable[[str, str], Path], tmp_path: Path
) -> None:
    write("memory/tea.md", "green tea\n")
    told = run(environment, "index", "--plan")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "main: nothing was written or sent",
        "  Files      1 to read, 0 to remove, 0 unchanged",
        "  Chunks     1 to write",
        "  Vectors    0 from the index, 0 from the cache, 1 by bundled (static)",
        "  To embed   about 3 tokens in 1 call",
        "  Meanwhile  searches are by keyword alone until the vectors are there",
    ]
    assert not (tmp_path / "state").exists()
    document = json.loads(run(environment, "index", "--plan", "--json").stdout)
    assert document["agents"][0]["filesToRead"] == 1
    assert document["agents"][0]["cost"] is None


def test_a_plan_in_figures() -> None:
    assert plan_text("main", PLAN).splitlines() == [
        "main: nothing was written or sent",
        "  Files      1,200 to read, 1 to remove, 2 unchanged",
        "  Chunks     3,000 to write",
        "  Vectors    1 from the index, 20 from the cache, 2,979 by openai (large)",
        "  To embed   about 1,200,000 tokens in 47 calls, which cost about 0.156",
        "  Meanwhile  searches go on as before",
        "  failed: memory/bad.md: not text",
    ]


def test_a_result_of_the_fallback_says_so() -> None:
    result = SearchResult((), "gemini", "g", "hybrid", fallback=Fallback("openai", "no route"))
    assert "note: gemini answers in place of openai: no route" in result_text(result, colour=False)
