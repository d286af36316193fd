"""The command line under conditions that nobody asks for."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memlane import Memory

Write = Callable[[str, str], Path]
PROGRAM = [sys.executable, "-m", "memlane"]


def index_file(environment: dict[str, str]) -> Path:
    """The index of a workspace named by the environment has the workspace's digest in its name."""
    (file,) = Path(environment["MEMLANE_STATE_DIR"], "memory").glob("main-????????.sqlite")
    return file


def shell(command: str, environment: dict[str, str], **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", command.replace("memlane", f"'{sys.executable}' -m memlane")],
        env={**environment, **more},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}])
def test_text_survives_any_locale(environment: dict[str, str], notes: Path, locale: dict[str, str]) -> None:
    assert shell("memlane remember 'café 끝말'", environment, **locale).returncode == 0
    (log,) = (notes / "memory").glob("*.md")
    assert "café 끝말" in log.read_text("utf-8")
    assert "끝말" in shell("memlane search 끝말", environment, **locale).stdout.decode()


def test_text_that_is_not_utf8_is_refused_as_argument_and_as_input(
    environment: dict[str, str], notes: Path
) -> None:
    for command in ("memlane remember $'caf\\xe9'", "printf 'caf\\xe9' | memlane remember -"):
        done = shell(command, environment)
        assert done.returncode == 2
        assert b"UTF-8" in done.stderr
    assert list((notes / "memory").iterdir()) == []


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("memlane search tea >&-", 0),
        ("memlane --version >&-", 0),
        ("memlane search tea 2>&-", 0),
        ("memlane remember - <&-", 2),
        ("memlane search tea --json >/dev/full", 1),
        ("memlane --version >/dev/full", 1),
        ("set -o pipefail; memlane config schema | true", 0),
        ("cd $(mktemp -d) && rmdir $PWD && memlane search tea --workspace here", 2),
        ("memlane search tea --workspace ''", 2),
        ("memlane search tea --state-dir ''", 2),
        ("memlane search tea --max-results 99999999999999999999", 0),
        ("memlane search tea --min-score nan", 2),
        ("memlane search tea --path $'\\xff'", 2),
        ("memlane", 2),
    ],
)
def test_no_traceback_and_the_right_exit_code(
    environment: dict[str, str], write: Write, command: str, code: int
) -> None:
    write("memory/a.md", "green tea\n")
    done = shell(command, environment)
    assert b"Traceback" not in done.stderr
    assert b"unexpected" not in done.stderr + done.stdout
    assert done.returncode == code, done.stderr


def test_lines_are_exact_in_a_pipe(environment: dict[str, str], write: Write) -> None:
    write("memory/a.md", "plain \x1b[31mred\x1b[0m text\n")
    assert shell("memlane get memory/a.md", environment).stdout == b"plain \x1b[31mred\x1b[0m text\n"


def test_a_checkbox_can_be_remembered(environment: dict[str, str], notes: Path) -> None:
    assert shell("memlane remember '- [ ] call the vet'", environment).returncode == 0
    (log,) = (notes / "memory").glob("*.md")
    assert "call the vet" in log.read_text("utf-8")


def test_one_agent_without_a_workspace_does_not_stop_the_others(
    environment: dict[str, str], tmp_path: Path, write: Write, notes: Path
) -> None:
    write("memory/a.md", "green tea\n")
    del environment["MEMLANE_WORKSPACE"]
    (tmp_path / "state").mkdir()
    agents = [{"id": "gone", "workspace": str(tmp_path / "nowhere")}, {"id": "here", "workspace": str(notes)}]
    (tmp_path / "state/openclaw.json").write_text(json.dumps({"agents": {"list": agents}}))
    done = shell("memlane index --json", environment)
    assert done.returncode == 3
    gone, here = json.loads(done.stdout)["agents"]
    assert "no workspace folder" in gone["error"]["message"]
    assert here["indexed"] == 1
    assert shell("memlane status", environment).returncode == 3


def test_a_missing_workspace_leaves_no_index_behind(environment: dict[str, str], tmp_path: Path) -> None:
    assert shell("memlane search tea --workspace /nowhere --state-dir typo", environment).returncode == 1
    assert not (tmp_path / "typo").exists()
    assert not (tmp_path / "state/memory").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small disk here")
    return folder


def test_on_a_full_disk_what_was_indexed_still_answers(
    environment: dict[str, str], write: Write, small_disk: Path
) -> None:
    try:
        environment["MEMLANE_STATE_DIR"] = str(small_disk)
        write("memory/a.md", "green tea\n")
        assert shell("memlane index", environment).returncode == 0
        for number in range(60):
            write(f"memory/{number}.md", f"black coffee {number} " * 1200 + "\n")
        failed = shell("memlane index", environment)
        assert failed.returncode == 1
        assert b"no space left" in failed.stderr
        found = shell("memlane search 'green tea' --json", environment)
        document = json.loads(found.stdout)
        assert found.returncode == 0, found.stderr
        assert document["results"][0]["path"] == "memory/a.md"
        assert document["stale"] is True
        with contextlib.suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while filler.write(b"x" * 4096):
                pass
        assert b"memory/a.md" in shell("memlane search 'green tea' --no-sync", environment).stdout
    finally:
        subprocess.run(["umount", "-l", str(small_disk)], check=False)


def test_a_read_only_state_folder_still_answers(
    environment: dict[str, str], write: Write, small_disk: Path
) -> None:
    try:
        environment["MEMLANE_STATE_DIR"] = str(small_disk)
        write("memory/a.md", "green tea\n")
        assert shell("memlane index", environment).returncode == 0
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        for command in (
            "memlane search 'green tea'",
            "memlane search 'green tea' --no-sync",
            "memlane status",
        ):
            done = shell(command, environment)
            assert done.returncode == 0, done.stderr
        write("memory/b.md", "black coffee\n")
        document = json.loads(shell("memlane search 'green tea' --json", environment).stdout)
        assert document["results"][0]["path"] == "memory/a.md"
        assert document["stale"] is True
        assert "newer changes are not in these results" in document["warning"]
    finally:
        subprocess.run(["umount", "-l", str(small_disk)], check=False)


def test_a_state_folder_that_can_be_written_again_is(notes: Path, write: Write, small_disk: Path) -> None:
    try:
        write("memory/a.md", "green tea\n")
        with Memory.open(workspace=notes, state_dir=small_disk, environ={}) as first:
            first.sync()
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        with Memory.open(workspace=notes, state_dir=small_disk, environ={}) as memory:
            write("memory/b.md", "black coffee\n")
            assert memory.search("tea").stale
            subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
            result = memory.search("coffee")
            assert [hit.path for hit in result] == ["memory/b.md"]
            assert not result.stale
    finally:
        subprocess.run(["umount", "-l", str(small_disk)], check=False)


def test_several_processes_that_find_damage_mend_it_together(
    environment: dict[str, str], write: Write, tmp_path: Path
) -> None:
    for number in range(30):
        write(f"memory/{number}.md", f"topic{number} " * 50 + "\n")
    assert shell("memlane index", environment).returncode == 0
    with index_file(environment).open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(20_000))
    commands = [["search", f"topic{number}", "--json"] for number in range(3)] + [["index"]]
    running = [
        subprocess.Popen(
            [*PROGRAM, *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for command in commands
    ]
    for command, process in zip(commands, running, strict=True):
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        if command[0] == "search":
            assert json.loads(output)["results"], output
    aside = [file for file in (tmp_path / "state/memory").glob("*.corrupt-*") if "-wal" not in file.name]
    assert len([file for file in aside if "-shm" not in file.name]) == 1


def test_many_threads_in_turn_use_few_descriptors(write: Write, open_memory: Callable[..., Memory]) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory()
    memory.search("tea")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(40):
        thread = threading.Thread(target=lambda: memory.search("tea"))
        thread.start()
        thread.join()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 12


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors_1 SET vector = zeroblob(1536)",
        "UPDATE vectors_1 SET vector = x'00ff'",
        "DROP TABLE chunks",
        "DROP TABLE notes",
        "DELETE FROM terms_1",
    ],
)
def test_force_always_repairs(environment: dict[str, str], write: Write, tmp_path: Path, damage: str) -> None:
    import apsw

    write("memory/a.md", "the lighthouse keeper\n")
    assert shell("memlane index", environment).returncode == 0
    with apsw.Connection(str(index_file(environment))) as connection:
        connection.execute(damage)
    connection.close()
    assert shell("memlane index --force", environment).returncode == 0
    found = json.loads(shell("memlane search 'lighthouse keeper' --json --explain", environment).stdout)
    explained = found["results"][0]["explain"]
    assert explained["keywordScore"] > 0.9
    assert explained["vectorScore"] > 0.9


def test_the_glob_of_a_filter_is_the_glob_of_the_configuration(
    write: Write, open_memory: Callable[..., Memory]
) -> None:
    for path in ("MEMORY.md", "memory/a.md", "memory/deep/b.md", "memory/c [x].md"):
        write(path, "green tea\n")
    memory = open_memory()

    def found(glob: str) -> set[str]:
        return {hit.path for hit in memory.search("green tea", path=glob)}

    assert found("memory/**/*.md") == {"memory/a.md", "memory/deep/b.md", "memory/c [x].md"}
    assert found("**/*.md") == {"MEMORY.md", "memory/a.md", "memory/deep/b.md", "memory/c [x].md"}
    assert found("memory/*.md") == {"memory/a.md", "memory/c [x].md"}
    assert found("memory/{a,deep/b}.md") == {"memory/a.md", "memory/deep/b.md"}
    assert found("\ud800") == set()


def test_tools_refuse_odd_arguments_without_raising(write: Write, open_memory: Callable[..., Memory]) -> None:
    write("memory/a.md", "green tea\n")
    search, _, _ = open_memory().tools()
    assert search({"query": "tea", "maxResults": 10**30})["results"]
    assert search({"query": "tea", "maxResults": 5.0})["results"]
    assert search({"query": "tea", "path": "\ud800"})["results"] == []
    for arguments in (None, [], "x"):
        assert "must be an object" in search(arguments)["error"]  # type: ignore[arg-type]


def test_emoji_are_words(write: Write, open_memory: Callable[..., Memory]) -> None:
    write("memory/a.md", "- 🍕 friday\n")
    write("memory/b.md", "- nothing\n")
    assert [hit.path for hit in open_memory().search("🍕")] == ["memory/a.md"]
