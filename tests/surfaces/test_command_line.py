from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]
Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = [sys.executable, "-m", "memlane"]


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Runs `memlane` as a process."""

    def process(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*PROGRAM, *arguments], env=environment, input=stdin, capture_output=True, check=False
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    return process


def test_a_first_day(run: Run, notes: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    made = run("init", "--workspace", str(new))
    assert made.returncode == 0
    assert (new / "MEMORY.md").is_file()
    again = run("init", "--workspace", str(new))
    assert "nothing was changed" in again.stdout
    assert (
        run("remember", "The", "lighthouse", "keeper", "is", "Ines", "--workspace", str(new)).returncode == 0
    )
    found = run("search", "who keeps the lighthouse?", "--workspace", str(new))
    assert found.returncode == 0
    assert "Ines" in found.stdout
    assert "\x1b[" not in found.stdout


def test_search_prints_score_place_and_snippet(run: Run, write: Write) -> None:
    write("memory/a.md", "# Log\n\nthe lighthouse keeper\n")
    done = run("search", "lighthouse keeper")
    head, *snippet = done.stdout.rstrip("\n").split("\n")
    score, place = head.split()
    assert 0 < float(score) < 1
    assert place == "memory/a.md:1-3"
    assert snippet == ["  # Log", "", "  the lighthouse keeper"]
    assert done.stderr == ""


def test_the_query_option_wins_and_neither_is_an_error(run: Run, write: Write) -> None:
    write("memory/a.md", "lighthouse\n")
    write("memory/b.md", "windmill\n")
    assert "a.md" in run("search", "windmill", "--query", "lighthouse").stdout
    done = run("search")
    assert done.returncode == 2
    assert "there is no query" in done.stderr


def test_no_match_says_why_and_is_no_failure(run: Run, write: Write) -> None:
    write("memory/a.md", "lighthouse\n")
    done = run("search", "xylophone", "--no-sync")
    assert done.returncode == 0
    assert done.stdout.startswith("No matches: nothing is indexed yet")


def test_explain_shows_each_step(run: Run, write: Write) -> None:
    write("memory/a.md", "lighthouse\n")
    done = run("search", "lighthouse keeper", "--explain")
    rows = dict(line.strip().split(maxsplit=1) for line in done.stdout.splitlines()[2:] if line.strip())
    assert rows["keyword"].startswith("rank 1, BM25 ")
    assert rows["vector"].startswith("rank 1, cosine ")
    assert rows["threshold"].startswith("0.35, passed by ")
    assert rows["late"].startswith("interaction  0.")
    assert rows["evidence"].endswith("ahead of other notes")
    assert 0 < float(rows["score"]) < 1
    assert rows["candidates"] == "1 keyword, 1 vector"
    assert rows["index"] == "generation 1, last changed less than a minute ago"
    assert " ms (legs " in rows["time"]


def test_explain_tells_of_the_candidates_even_when_none_was_good_enough(run: Run, write: Write) -> None:
    write("memory/a.md", "lighthouse\n")
    done = run("search", "lighthouse xylophone zither theorbo quena", "--min-score", "1", "--explain")
    assert done.stdout.startswith("No matches")
    assert "dropped     1 below the threshold" in done.stdout
    document = json.loads(run("search", "xylophone", "--min-score", "1", "--explain", "--json").stdout)
    assert document["results"] == []
    assert document["totals"]["generation"] == 1
    assert "totals" not in json.loads(run("search", "xylophone", "--min-score", "1", "--json").stdout)


def test_get_prints_lines_and_says_what_is_not_there(run: Run, write: Write) -> None:
    write("memory/a.md", "one\ntwo\nthree\n")
    assert run("get", "memory/a.md", "--from", "2", "--lines", "1").stdout == "two\n"
    assert "more follows: --from 3" in run("get", "memory/a.md", "--from", "2", "--lines", "1").stderr
    missing = run("get", "memory/none.md")
    assert (missing.returncode, missing.stdout) == (0, "")
    assert "does not exist yet" in missing.stderr
    assert "ends before line 9" in run("get", "memory/a.md", "--from", "9").stderr


def test_remember_reads_standard_input(run: Run, notes: Path) -> None:
    assert run("remember", "-", stdin="쌀을 사다\nund Müsli".encode()).returncode == 0
    (log,) = (notes / "memory").glob("*.md")
    assert "쌀을 사다" in log.read_text("utf-8")
    assert "und Müsli" in log.read_text("utf-8")
    bad = run("remember", "-", stdin=b"\xff\xfe")
    assert bad.returncode == 2
    assert "not UTF-8" in bad.stderr
    assert run("remember").returncode == 2


def test_index_reports_and_exits_with_three_when_some_files_failed(
    run: Run, write: Write, notes: Path
) -> None:
    write("memory/a.md", "lighthouse\n")
    assert run("index").stdout.startswith("main: 1 indexed, 0 unchanged (1 chunks, 1 embedded)")
    (notes / "memory/bad.md").write_bytes(b"\x00")
    done = run("index")
    assert done.returncode == 3
    assert "failed: memory/bad.md: NUL at byte 0" in done.stdout
    assert run("index", "--force").returncode == 3


def test_status_tells_what_is_there(run: Run, write: Write) -> None:
    write("memory/a.md", "lighthouse\n")
    before = run("status")
    assert "no, 1 file differs" in before.stdout
    after = run("status", "--index", "--deep")
    assert after.returncode == 0
    for part in ("Provider      bundled (static)", "Files         1", "1 of 1 chunks, 384 dimensions", "yes"):
        assert part in after.stdout


def test_disabled_memory_says_so_and_is_no_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state/openclaw.json").write_text("{agents: {defaults: {memorySearch: {enabled: false}}}}")
    for command in (("search", "x"), ("index",), ("status",)):
        done = run(*command)
        assert done.returncode == 0
        assert "Memory search disabled." in done.stdout


def test_every_agent_is_covered_unless_one_is_named(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    del environment["MEMLANE_WORKSPACE"]
    agents = [{"id": name, "workspace": str(tmp_path / name)} for name in ("ann", "bob")]
    (tmp_path / "state").mkdir()
    (tmp_path / "state/openclaw.json").write_text(json.dumps({"agents": {"list": agents}}))
    for name in ("ann", "bob"):
        (tmp_path / name / "memory").mkdir(parents=True)
        (tmp_path / name / "memory/a.md").write_text(f"the lighthouse of {name}\n")
    assert [one["agent"] for one in json.loads(run("index", "--json").stdout)["agents"]] == ["ann", "bob"]
    assert [one["agent"] for one in json.loads(run("status", "--json").stdout)["agents"]] == ["ann", "bob"]
    assert "lighthouse of ann" in run("search", "lighthouse").stdout
    assert "lighthouse of bob" in run("search", "lighthouse", "--agent", "bob").stdout
    unknown = run("search", "lighthouse", "--agent", "eve")
    assert unknown.returncode == 2
    assert "ann" in unknown.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "key"),
    [
        (("search", "lighthouse"), 0, "results"),
        (("search", "xylophone"), 0, "why"),
        (("search", ""), 0, "why"),
        (("search",), 2, "error"),
        (("search", "x", "--max-results", "0"), 2, "error"),
        (("search", "x", "--max-results", "many"), 2, "error"),
        (("search", "x", "--since", "tomorrow"), 2, "error"),
        (("search", "x", "--workspace", "/nowhere/at/all"), 1, "error"),
        (("search", "x", "--frobnicate"), 2, "error"),
        (("serach", "x"), 2, "error"),
        (("get", "../x"), 2, "error"),
        (("get", "memory/none.md"), 0, "exists"),
        (("get", "memory/a.md", "--from", "0"), 2, "error"),
        (("remember", "tea"), 0, "added"),
        (("context",), 0, "text"),
        (("index",), 0, "agents"),
        (("status",), 0, "agents"),
        (("status", "--deep", "--index"), 0, "agents"),
        (("doctor",), 0, "agents"),
        (("doctor", "--fix"), 0, "agents"),
        (("doctor", "--workspace", "/nowhere/at/all"), 1, "agents"),
        (("doctor", "--config", "/nowhere.json"), 1, "agents"),
        (("doctor", "--agent", "nobody"), 2, "error"),
        (("config", "check"), 0, "settings"),
        (("config", "check", "--config", "/nowhere.json"), 2, "error"),
        (("init",), 0, "workspace"),
    ],
)
def test_json_is_exactly_one_document(
    run: Run, write: Write, arguments: tuple[str, ...], code: int, key: str
) -> None:
    write("memory/a.md", "lighthouse\n")
    done = run(*arguments, "--json")
    assert done.returncode == code, done.stderr
    document = json.loads(done.stdout)
    assert key in document
    if key == "error":
        assert set(document["error"]) == {"code", "message", "hint"}


def test_json_carries_what_the_tool_answers(run: Run, write: Write) -> None:
    write("memory/a.md", "# Log\n\nlighthouse 🏠 등대\n")
    document = json.loads(run("search", "lighthouse", "--json", "--explain").stdout)
    (result,) = document["results"]
    assert (result["path"], result["startLine"], result["endLine"]) == ("memory/a.md", 1, 3)
    assert "등대" in result["snippet"]
    assert document["mode"] == "hybrid"
    assert result["explain"]["keywordRank"] == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "{agents: {defaults: {\n  memorySearch: {query: {maxResults: oops}}}}}",
            ["openclaw.json", "line 2"],
        ),
        ("{agents: {defaults: {memorySearch: {query: {maxResults: 0}}}}}", ["query.maxResults", "0"]),
        ("{agents: {defaults: {memorySearch: {provider: 5}}}}", ["memorySearch.provider", "5"]),
        ("{memorySearch: {enabled: true}}", ["agents.defaults.memorySearch"]),
        ("{agents: {defaults: {workspace: '${NOWHERE_SET}'}}}", ["NOWHERE_SET", "agents.defaults.workspace"]),
        ("[]", ["openclaw.json"]),
    ],
)
def test_a_bad_configuration_names_file_key_and_value(
    run: Run, tmp_path: Path, text: str, parts: list[str]
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state/openclaw.json").write_text(text)
    done = run("search", "x")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr


def test_config_check_prints_values_with_origin_and_warns_of_unknown_keys(run: Run, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state/openclaw.json").write_text(
        "{agents: {defaults: {memorySearch: {query: {maxResult: 3, minScore: 0.5},"
        " remote: {apiKey: 'sk-TEST123'}}}}}"
    )
    done = run("config", "check")
    assert done.returncode == 0
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("memorySearch.query.minScore")]
    assert "0.5" in line
    assert "openclaw.json" in line
    assert "maxResults" in done.stderr
    assert "sk-TEST123" not in done.stdout + done.stderr


def test_what_is_uploaded_is_said_and_large_files_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/large.png").write_bytes(b"x" * 200)
    (tmp_path / "photos/page.jpg").write_bytes(b"<html>")
    (tmp_path / "state").mkdir()
    search = {
        "provider": "gemini",
        "model": "gemini-embedding-2",
        "extraPaths": [str(tmp_path / "photos")],
        "multimodal": {"enabled": True, "maxFileBytes": 100},
        "remote": {"apiKey": "no-key", "baseUrl": "http://127.0.0.1:9"},
    }
    document = {"agents": {"defaults": {"memorySearch": search}}}
    (tmp_path / "state/openclaw.json").write_text(json.dumps(document))
    said = "are uploaded to http://127.0.0.1:9, whole and with their paths"
    assert said in run("config", "check").stdout
    assert said in json.loads(run("config", "check", "--json").stdout)["notices"][0]
    indexed = run("index", "--verbose")
    assert indexed.returncode == 3
    assert "large.png: 200 bytes, more than multimodal.maxFileBytes (100)" in indexed.stdout
    assert "page.jpg: not an image of a kind that can be embedded" in indexed.stdout
    assert "skipped 1 too large file (--verbose names them)" in run("index").stdout
    status = run("status").stdout
    assert said in status
    assert "Media         1 image\n" in status
    assert "skipped: " in status
    assert run("search", "page.jpg", "--no-sync").stdout.startswith("No matches")


def test_config_schema_is_a_json_schema(run: Run) -> None:
    import jsonschema

    schema = json.loads(run("config", "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_help_and_version(run: Run) -> None:
    from memlane import __version__

    assert run("--version").stdout == f"memlane {__version__}\n"
    overview = run("--help").stdout
    for command in (
        "init",
        "index",
        "search",
        "get",
        "remember",
        "context",
        "status",
        "config",
        "completion",
    ):
        assert command in overview
        assert run(command, "--help").returncode == 0
    assert "did you mean 'search'" in run("serach").stderr
    for shell in ("bash", "zsh", "fish"):
        assert "_MEMLANE_COMPLETE" in run("completion", shell).stdout


def test_an_internal_failure_is_one_line_without_debug(run: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state/memory").write_text("a file where a folder must be")
    write("memory/a.md", "tea\n")
    done = run("search", "tea")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "state/memory" in done.stderr
    assert "Traceback" in run("search", "tea", "--debug").stderr


def test_a_reader_that_goes_away_is_no_failure(environment: dict[str, str], write: Write) -> None:
    for number in range(50):
        write(f"memory/{number}.md", "the lighthouse keeper " * 100 + "\n")
    command = [*PROGRAM, "search", "lighthouse", "--max-results", "50", "--min-score", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""


def many_notes(write: Write, count: int = 400) -> None:
    for number in range(count):
        write(
            f"memory/{number}.md",
            f"# Note {number}\n\n" + f"topic{number} words and more words. " * 60 + "\n",
        )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_control_c_stops_cleanly_and_the_next_run_goes_on(
    environment: dict[str, str], write: Write, run: Run, number: signal.Signals
) -> None:
    many_notes(write)
    index = Path(environment["MEMLANE_STATE_DIR"], "memory")
    for _ in range(10):  # it may be done before the signal comes
        with subprocess.Popen(
            [*PROGRAM, "index", "--force"], env=environment, stderr=subprocess.PIPE
        ) as process:
            while process.poll() is None and not list(index.glob("*.sqlite-wal")):
                time.sleep(0.005)
            process.send_signal(number)
            assert process.stderr is not None
            errors = process.stderr.read().decode()
            code = process.wait()
        if code:
            break
    assert code == 130
    assert errors == "\nmemlane: interrupted\n  what was done so far is kept\n"
    assert run("index").returncode == 0
    assert "topic399" in run("search", "topic399").stdout


def test_killed_at_any_moment_the_index_opens_and_completes(
    environment: dict[str, str], write: Write, run: Run
) -> None:
    many_notes(write)
    for delay in (0.2, 0.35, 0.5, 0.7, 0.9, 1.2):
        with subprocess.Popen([*PROGRAM, "index"], env=environment, stderr=subprocess.DEVNULL) as process:
            time.sleep(delay)
            process.kill()
            process.wait()
        assert run("search", "topic1", "--no-sync").returncode == 0
    done = run("index")
    assert done.returncode == 0, done.stderr
    status = json.loads(run("status", "--json").stdout)["agents"][0]
    assert status["statistics"]["files"] == 400
    assert status["statistics"]["vectors"] == status["statistics"]["chunks"]


def test_several_processes_at_once_all_answer(environment: dict[str, str], write: Write) -> None:
    many_notes(write, 60)
    commands = [["index"], ["search", "topic5"], ["index", "--force"], ["search", "topic7"], ["status"]]
    running = [
        subprocess.Popen(
            [*PROGRAM, *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for command in commands
    ]
    for process in running:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert b"Traceback" not in errors
        assert b"locked" not in errors
        assert output


def test_results_that_are_hardly_an_answer_say_so(run: Run, write: Write) -> None:
    for name in "abcdef":
        write(f"memory/{name}.md", f"the neighbour called about the fence {name}\n")
    done = run("search", "how many moons does the planet of the fence have", "--min-score", "0")
    assert done.stdout.rstrip().endswith(
        "note: nothing in the notes seems to answer this; these are the nearest passages"
    )


def test_a_warning_is_printed_once(run: Run, write: Write, tmp_path: Path) -> None:
    write("memory/a.md", "green tea\n")
    config = tmp_path / "openai.json5"
    config.write_text("{agents: {defaults: {memorySearch: {provider: 'openai'}}}}", "utf-8")
    done = run("search", "tea", "--config", str(config))
    assert done.returncode == 0
    warning = "the provider openai cannot be used: no key in memorySearch.remote.apiKey"
    assert (done.stdout + done.stderr).count(warning) == 1


@pytest.mark.parametrize(("provider", "code"), [("openai", 3), ("none", 0)])
def test_vectors_that_are_wanted_and_cannot_be_made_are_work_left_undone(
    run: Run, write: Write, tmp_path: Path, provider: str, code: int
) -> None:
    write("memory/a.md", "green tea\n")
    config = tmp_path / "one.json5"
    config.write_text(f"{{agents: {{defaults: {{memorySearch: {{provider: '{provider}'}}}}}}}}", "utf-8")
    done = run("index", "--config", str(config))
    assert done.returncode == code
    assert done.stderr.count("cannot be used") == (1 if code else 0)
    assert run("search", "tea", "--config", str(config)).returncode == 0
