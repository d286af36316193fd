from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]
Run = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    def process(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "memlane", "eval", *arguments],
            env=environment,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )

    return process


@pytest.fixture
def asked(tmp_path: Path, write: Write) -> str:
    write("memory/a.md", "the lighthouse keeper is Ines\n")
    write("memory/b.md", "등대지기는 이네스다\n")
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"question": "who keeps the lighthouse?", "path": "memory/a.md#L1"}\n'
        '{"question": "windmill", "path": "memory/c.md"}\n'
        '{"question": "xylophone", "expected": []}\n',
        "utf-8",
    )
    return str(file)


def test_the_measures_and_the_misses_are_told(run: Run, asked: str) -> None:
    done = run(asked)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "3 questions, provider bundled (static), hybrid search"
    rows = {line[:24].strip(): line[24:].strip() for line in lines[2:11]}
    assert rows["recall@5"] == "0.500"
    assert rows["answered"] == "1 of 2"
    assert rows["nothing found, rightly"] == "1 of 1"
    at = lines.index("Missed (1):")
    assert lines[at + 1] == "  2. windmill"
    assert lines[at + 2].startswith("      memory/c.md: no such file: nothing is at this path")


def test_json_is_one_document(run: Run, asked: str) -> None:
    document = json.loads(run(asked, "--json").stdout)
    assert document["measures"]["recallAt5"] == 0.5
    assert document["misses"][0]["code"] == "no_such_file"
    assert document["outcomes"][0]["ranks"] == [1]
    assert document["outcomes"][2]["measures"] is None
    compared = json.loads(run(asked, "--against", "provider=none", "--json").stdout)
    assert compared["second"]["provider"] == "none"
    assert compared["significant"] is False
    assert compared["verdict"] == "both answer every question alike"


def test_two_settings_side_by_side(run: Run, asked: str, tmp_path: Path) -> None:
    before = {path.name for path in (tmp_path / "state").rglob("*")}
    assert not before
    done = run(asked, "--against", "query.hybrid.enabled=false", "--against", "query.minScore=0.99")
    assert done.returncode == 0
    assert "as configured  query.hybrid.enabled=false query.minScore=0.99" in done.stdout
    assert "Worse with query.hybrid.enabled=false query.minScore=0.99 (1), by nDCG@10:" in done.stdout
    assert "rank 1 → –" in done.stdout
    assert "0 better, 1 worse, 2 alike; sign test p = 1.000: the difference may be noise" in done.stdout


def test_another_index_never_touches_the_one_in_use(run: Run, asked: str, tmp_path: Path) -> None:
    (tmp_path / "other.json5").write_text(
        "{agents: {defaults: {memorySearch: {chunking: {tokens: 64}, provider: 'none'}}}}", "utf-8"
    )
    kept = tmp_path / "kept"
    done = run(asked, "--against", str(tmp_path / "other.json5"), "--keep", str(kept))
    assert done.returncode == 0, done.stderr
    assert "against provider none, keyword search" in done.stdout
    assert [path.suffix for path in kept.glob("*.sqlite")] == [".sqlite"]
    (index,) = [path for path in (tmp_path / "state").rglob("*.sqlite") if "embeddings" not in path.name]
    before = index.read_bytes()
    assert run(asked, "--against", "provider=none").returncode == 0
    assert index.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.jsonl",), "cannot read the questions none.jsonl"),
        (("{asked}", "--against", "provder=none"), 'provder is not known; did you mean "provider"?'),
        (("{asked}", "--against", "query.minScore=7"), "memorySearch.query.minScore is 7; allowed:"),
        (("{asked}", "--against", "none.json5"), "--against 'none.json5' is neither KEY=VALUE nor a file"),
        (("{asked}", "--against", "a.json5", "--against", "b.json5"), "two configuration files"),
        (("{asked}", "--against", "enabled=false"), "memory search is disabled under the other settings"),
        (("{asked}", "--keep", "x"), "--keep goes with --against"),
        (("{asked}", "--low-confidence", "2"), "--low-confidence"),
        ((), "Missing argument 'FILE'"),
    ],
)
def test_wrong_use_exits_with_two(run: Run, asked: str, arguments: tuple[str, ...], message: str) -> None:
    done = run(*(argument.format(asked=asked) for argument in arguments))
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bad_line_exits_with_two_and_names_it(run: Run, asked: str) -> None:
    with Path(asked).open("a", encoding="utf-8") as file:
        file.write('{"question": "x"}\n')
    done = run(asked, "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["message"]) == (
        "usage",
        f"{asked}, line 4: there is neither path nor expected",
    )


def test_disabled_memory_is_no_failure(run: Run, asked: str, tmp_path: Path) -> None:
    config = tmp_path / "off.json5"
    config.write_text("{agents: {defaults: {memorySearch: {enabled: false}}}}", "utf-8")
    done = run(asked, "--config", str(config))
    assert (done.returncode, done.stdout[:23]) == (0, "Memory search disabled.")
    assert json.loads(run(asked, "--config", str(config), "--json").stdout)["disabled"] is True


def test_the_sample_questions_are_answered_for_the_most_part(run: Run) -> None:
    done = run(str(EXAMPLES / "questions.jsonl"), "--workspace", str(EXAMPLES / "workspace"), "--json")
    document = json.loads(done.stdout)
    assert document["answerable"] == 42
    assert document["found"] >= 36
    assert not {miss["code"] for miss in document["misses"]} & {
        "not_a_note", "no_such_file", "no_such_lines", "ignored", "failed"
    }  # fmt: skip
    silence = document["abstention"]
    assert silence["questions"] == 4
    assert silence["right"] >= 1
    assert silence["wrong"] == 0
