"""The documentation runs, and says what the code says."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_command_is_named_in_the_reference_and_the_readme() -> None:
    from memlane.surfaces.cli.run import cli

    reference = (ROOT / "docs/command-line.md").read_text("utf-8")
    for name in cli.list_commands(None):  # type: ignore[arg-type]
        assert f"## memlane {name}" in reference
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in ("search", "get", "remember", "context", "index", "status", "eval", "doctor", "config"):
        assert f"`memlane {name}" in readme


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MEMLANE_STATE_DIR", str(tmp_path))
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block, "README.md", "exec"), {})
    assert re.match(r"0\.\d\d memory/.+\.md:\d+\n", output.getvalue())
    assert "# MEMORY" in output.getvalue()


def test_the_reranking_model_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MEMLANE_STATE_DIR", str(tmp_path))
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/reranking.md").read_text("utf-8"), re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block, "reranking.md", "exec"), {})
    assert re.fullmatch(r"(memory/.+|MEMORY)\.md\n", output.getvalue())


def test_the_searches_of_the_readme_find_what_it_shows(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    place = ["--workspace", str(ROOT / "examples/workspace"), "--state-dir", str(tmp_path)]
    shown = re.findall(r"\$ memlane search '([^']+)'[^\n]*\n(?:…\n)?([^\n]+)\n", readme)
    assert len(shown) == 3
    for query, first in shown:
        done = subprocess.run(
            [sys.executable, "-m", "memlane", "search", query, "--json", *place],
            capture_output=True,
            text=True,
            check=True,
        )
        document = json.loads(done.stdout)
        if first.startswith("No matches"):
            assert document["results"] == []
            assert document["why"]["code"] == "nothing_relevant"
        else:
            places = [f"{one['path']}:{one['startLine']}-{one['endLine']}" for one in document["results"]]
            assert first.split()[1] in places[:2]


def test_the_demo_runs_and_shows_what_it_promises(tmp_path: Path) -> None:
    copy = tmp_path / "examples"
    subprocess.run(["cp", "-r", str(ROOT / "examples"), str(copy)], check=True)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, str(copy / "demo.py")], capture_output=True, text=True, check=True, env=environment
    )
    answers = done.stdout.split("── ")[1:]
    assert len(answers) == 6
    for answer, expected in zip(
        answers,
        (
            "memory/reference/appliances.md",
            "a828e60",
            "memory/bori.md",
            "PostgreSQL 17",
            "memory/2026-05-12.md",
            "No matches",
        ),
        strict=True,
    ):
        assert expected in answer


def test_what_the_page_on_evaluating_shows_is_what_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs/evaluation.md").read_text("utf-8")
    blocks = re.findall(r"```console\n\$ memlane (eval [^\n]+)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for command, shown in blocks:
        done = subprocess.run(
            [sys.executable, "-m", "memlane", *command.split(), "--state-dir", str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        for row in (
            "questions, provider",
            "recall@5",
            "nDCG@10",
            "answered ",
            "nothing found, rightly",
            "time, median",
        ):
            assert row in shown
            assert row in done.stdout


def test_the_questions_and_the_python_of_the_page_on_evaluating_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memlane.evaluate import read_questions

    page = (ROOT / "docs/evaluation.md").read_text("utf-8")
    (lines,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (table,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "questions.jsonl").write_text(lines, "utf-8")
    (tmp_path / "questions.csv").write_text(table, "utf-8")
    assert [len(question.targets) for question in read_questions(tmp_path / "questions.jsonl")] == [
        1,
        1,
        2,
        1,
        0,
    ]
    assert [len(question.targets) for question in read_questions(tmp_path / "questions.csv")] == [1, 0]
    subprocess.run(["cp", "-r", str(ROOT / "examples/workspace"), str(tmp_path / "notes")], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMLANE_STATE_DIR", str(tmp_path / "state"))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "evaluation.md", "exec"), {})
    assert "both answer" in output.getvalue() or "noise" in output.getvalue()


def test_the_agent_with_its_own_loop_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/own_agent_loop.py")], capture_output=True, text=True, check=True
    )
    assert "(memory was flushed: 7 new notes)" in done.stdout
    assert done.stdout.count("agent: Noted: ") == 8
    assert "The barn is green6." in done.stdout
    assert "NO_REPLY" not in done.stdout


def test_the_python_of_the_page_on_the_life_cycle_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMLANE_STATE_DIR", str(tmp_path / "state"))
    page = (ROOT / "docs/life-cycle.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block, "life-cycle.md", "exec"), {})
    assert output.getvalue() == "Hello!\n"
