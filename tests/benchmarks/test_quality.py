"""The quality harness: its pure parts, and a whole round over a tiny folder with an evaluator of its own."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from benchmarks.quality.abstention import Answered, abstaining, is_answerable
from benchmarks.quality.configurations import CONFIGURATIONS, MODELS, described, index_key, section
from benchmarks.quality.folds import assign_folds, groups_of, spread
from benchmarks.quality.sets import QuestionClock, asked_at, latest_day
from benchmarks.quality.table import Row, as_markdown, as_tsv

ROOT = Path(__file__).resolve().parents[2]


# ---- folds ---------------------------------------------------------------------------------------------


def test_groups_stay_together_and_folds_are_even() -> None:
    groups = {f"q{number}": f"w{number % 10}" for number in range(100)}
    folds = assign_folds(groups)
    assert folds == assign_folds(dict(reversed(groups.items())))
    for group in set(groups.values()):
        assert len({folds[question] for question in groups if groups[question] == group}) == 1
    assert [list(folds.values()).count(fold) for fold in range(5)] == [20] * 5


def test_few_workspaces_are_parted_by_document() -> None:
    queries = [
        {"qid": "a", "workspace": ".", "relevant": ["d1#L3-L4", "d2"]},
        {"qid": "b", "workspace": ".", "relevant": ["d1"]},
        {"qid": "c", "workspace": ".", "relevant": []},
    ]
    assert groups_of(queries) == {"a": "d1", "b": "d1", "c": "qid:c"}
    many = [{**queries[0], "qid": str(n), "workspace": f"w{n}"} for n in range(5)]
    assert groups_of(many) == {str(n): f"w{n}" for n in range(5)}


def test_the_spread_over_folds() -> None:
    rows = [{"qid": qid, "mrr": value} for qid, value in (("a", 0.0), ("b", 1.0), ("c", 1.0))]
    found = spread(rows, "mrr", {"a": 0, "b": 0, "c": 3})
    assert found is not None
    assert (found.folds, found.mean, found.least, found.most) == (2, 0.75, 0.5, 1.0)
    assert found.deviation == pytest.approx(0.3535, abs=1e-3)
    assert spread([], "mrr", {}) is None
    alone = spread(rows[:1], "mrr", {"a": 0})
    assert alone is not None
    assert alone.deviation == 0.0


# ---- abstention ----------------------------------------------------------------------------------------


def test_only_labelled_questions_count() -> None:
    assert is_answerable({"relevant": ["d"], "kind": "abstention"}) is True
    assert is_answerable({"relevant": [], "kind": "abstention"}) is False
    assert is_answerable({"relevant": [], "kind": "unlabelled"}) is None


def test_abstaining_by_confidence() -> None:
    answers = [
        Answered("a", True, False, 0.9, 0.8),
        Answered("b", True, False, 0.2, 0.7),
        Answered("c", False, False, 0.1, 0.9),
        Answered("d", False, True, None, 0.0),
        Answered("e", None, True, None, 0.0),
    ]
    found = abstaining(answers, 0.5)
    assert found is not None
    assert (found.unanswerable, found.answerable, found.signal) == (2, 2, "confidence")
    assert (found.by_silence.precision, found.by_silence.recall) == (1.0, 0.5)
    assert found.by_confidence is not None
    assert (found.by_confidence.precision, found.by_confidence.recall) == (2 / 3, 1.0)
    assert found.area == 1.0


def test_without_confidence_the_top_score_stands_in() -> None:
    answers = [Answered("a", True, False, None, 0.5), Answered("b", False, False, None, 0.6)]
    found = abstaining(answers, 0.5)
    assert found is not None
    assert (found.signal, found.by_confidence, found.area) == ("top score", None, 0.0)
    assert found.by_silence.precision is None
    assert abstaining(answers[:1], 0.5) is None


# ---- the day a question is asked on --------------------------------------------------------------------


def test_the_clock_stands_where_the_question_says() -> None:
    latest = latest_day(["memory/2023-05-08.md", "memory/2023-06-01.md", "memory/2023-13-40.md", "a.md"])
    assert latest == date(2023, 6, 1)
    assert latest_day(["a.md"]) is None
    assert asked_at({"as_of": "2023-05-30T10:00"}, latest) == datetime(2023, 5, 30, 12, tzinfo=UTC)
    assert asked_at({}, latest).date() == date(2023, 6, 2)
    clock = QuestionClock(asked_at({}, latest))
    assert (clock.today(), clock.now().hour) == (date(2023, 6, 2), 12)


# ---- configurations ------------------------------------------------------------------------------------


def test_every_configuration_is_a_section() -> None:
    for name in CONFIGURATIONS:
        assert isinstance(section("auto", name), dict)
    assert {"fusion weighted", "fusion rrf"} <= set(CONFIGURATIONS)
    assert section("e5", "mmr") == {
        "provider": "bundled",
        "model": "multilingual-e5-small",
        "query": {"hybrid": {"mmr": {"enabled": True}}},
    }
    assert section("e5", "keyword") == section("auto", "keyword") == {"provider": "none"}
    assert section("openai/text-embedding-3-small", "default") == {
        "provider": "openai",
        "model": "text-embedding-3-small",
    }
    with pytest.raises(SystemExit, match="there is no model 'e6'"):
        section("e6", "default")
    assert described({}) == "every setting at its default"


def test_one_index_serves_what_differs_in_the_query_alone() -> None:
    assert index_key(section("static", "default")) == index_key(section("static", "mmr"))
    assert len({index_key(section(model, "default")) for model in MODELS}) == len(MODELS)
    assert index_key(section("auto", "keyword")) != index_key(section("auto", "default"))


# ---- the table -----------------------------------------------------------------------------------------

MEASURED = dict.fromkeys(("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10"), 0.5)


def test_the_table_in_both_forms() -> None:
    rows = [
        Row(
            "s",
            "auto",
            "default",
            "doc",
            "all",
            9,
            MEASURED,
            {"mrr": (0.4, 0.6)},
            {"chunks": 3, "ms p50": 1.5},
        ),
        Row("s", "auto", "default", "doc", "kind a|b", 4, MEASURED, {}, {"ms p50": None, "AUC": 12.345}),
    ]
    header = [("command", "python -m benchmarks.quality"), ("version", "1 | 2")]
    lines = as_tsv(header, rows).splitlines()
    assert lines[:2] == ["# command: python -m benchmarks.quality", "# version: 1 | 2"]
    names = lines[2].split("\t")
    first = dict(zip(names, lines[3].split("\t"), strict=True))
    assert (first["n"], first["mrr"], first["mrr low"], first["recall@5 low"]) == ("9", "0.500", "0.400", "")
    assert (first["ms p50"], first["chunks"], first["AUC"]) == ("1.500", "3", "")
    assert names.index("ms p50") < names.index("chunks") < names.index("AUC")
    marked = as_markdown(header, rows).splitlines()
    assert marked[:2] == ["- command: python -m benchmarks.quality", "- version: 1 \\| 2"]
    assert "0.500 (0.400–0.600)" in marked[5]
    assert "kind a\\|b" in marked[6]
    assert len({line.replace("\\|", "").count("|") for line in marked[3:]}) == 1


# ---- a whole round -------------------------------------------------------------------------------------

MATERIALIZE = """
import gzip, json, os

def read_jsonl(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return [json.loads(line) for line in file]

def materialize(set_dir, out, layout):
    docs, queries = (read_jsonl(f"{set_dir}/{name}.jsonl.gz") for name in ("docs", "queries"))
    for doc in docs:
        os.makedirs(f"{out}/w/memory", exist_ok=True)
        with open(f"{out}/w/{doc['path']}", "w") as file:
            file.write(doc["text"])
    for name, rows in (("map", docs), ("queries", queries)):
        with open(f"{out}/{name}.jsonl", "w") as file:
            file.writelines(json.dumps({**row, "workspace": "w"}) + "\\n" for row in rows)
"""
SCORE = """
def score(docs, queries, run, entries):
    path = {doc["doc_id"]: doc["path"] for doc in docs}
    ranked = {row["qid"]: [item["path"] for item in row["ranked"]] for row in run}
    rows = []
    for query in queries:
        if query["relevant"]:
            good = float(path[query["relevant"][0]] in ranked[query["qid"]][:1])
            names = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10")
            rows.append(dict(qid=query["qid"], kind=query["kind"], lang="en", level="doc", chars=9.0,
                             **dict.fromkeys(names, good)))
    return rows, {"missing": 0}

def summary(rows):
    cuts = [("all", rows)] + [("kind " + k, [r for r in rows if r["kind"] == k]) for k in ("a", "b")]
    names = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10", "chars")
    return [dict(level="doc", cut=cut, n=len(part), **{m: sum(r[m] for r in part) / len(part) for m in names})
            for cut, part in cuts]

def interval(rows, measure):
    values = [row[measure] for row in rows]
    return min(values), max(values)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one set of two documents and three questions."""
    data = tmp_path / "data"
    (data / "tiny").mkdir(parents=True)
    (data / "materialize.py").write_text(MATERIALIZE)
    (data / "score.py").write_text(SCORE)
    docs = [
        {"doc_id": "1", "path": "memory/2024-01-01.md", "text": "the lighthouse keeper is Ines\n"},
        {"doc_id": "2", "path": "memory/2024-01-02.md", "text": "the windmill grinds at night\n"},
    ]
    queries = [
        {"qid": "x", "query": "lighthouse keeper", "relevant": ["1"], "kind": "a", "lang": "en"},
        {"qid": "y", "query": "windmill night", "relevant": ["2"], "kind": "b", "lang": "en"},
        {"qid": "z", "query": "xylophone", "relevant": [], "kind": "abstention", "lang": "en"},
    ]
    for name, rows in (("docs", docs), ("queries", queries)):
        with gzip.open(data / f"tiny/{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return data


def quality(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.quality", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": ""},
    )


def test_a_round_writes_one_table(folder: Path, tmp_path: Path) -> None:
    arguments = ["--configuration", "default", "--configuration", "keyword", "--configuration", "rerank on"]
    out = tmp_path / "figures.table"
    done = quality("--eval", str(folder), *arguments, "--folds", "--jobs", "2", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "tiny: done" in done.stderr
    lines = (tmp_path / "figures.tsv").read_text("utf-8").splitlines()
    comments = [line for line in lines if line.startswith("# ")]
    assert comments[0].startswith("# command: python -m benchmarks.quality --eval")
    assert '# auto, keyword: {"provider": "none"}' in comments
    names, *rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    table = [dict(zip(names, row, strict=True)) for row in rows]
    runs = [(row["configuration"], row["cut"]) for row in table]
    assert runs[:6] == [(name, cut) for name in ("default", "keyword") for cut in ("all", "kind a", "kind b")]
    first = table[0]
    assert (first["n"], first["recall@1"], first["chunks"], first["folds"]) == ("2", "1.000", "2", "2")
    assert (first["unanswerable"], first["silence recall"]) == ("1", "1.000")
    assert float(first["ms p95"]) > 0
    assert "| tiny | auto | default | doc | all | 2 |" in (tmp_path / "figures.md").read_text("utf-8")


def test_a_kept_folder_serves_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for _ in range(2):
        done = quality("--eval", str(folder), "tiny", "--configuration", "default", "--cache", str(cache))
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-3].split("\t")[:5] == ["tiny", "auto", "default", "doc", "all"]
    assert (cache / "tiny/notes/w/memory/2024-01-01.md").is_file()


def test_what_cannot_be_measured_is_said(folder: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((), "name the evaluation folder with --eval or MEMLANE_EVAL"),
        (("--eval", str(tmp_path)), "holds no score.py"),
        (("--eval", str(folder), "none"), "there is no set 'none'; known are tiny"),
        (("--eval", str(folder), "--model", "e6"), "there is no model 'e6'"),
        (("--eval", str(folder), "--model", "bundled/other"), 'memorySearch.model is "other"'),
    ):
        done = quality(*arguments)
        assert done.returncode != 0
        assert message in done.stderr
        assert "Traceback" not in done.stderr
