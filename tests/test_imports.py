"""What a command imports is part of the product: start-up time is made of imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "numpy",
    "sqlite_vec",
    "rich",
    "filelock",
    "asyncio",
    "markdown_it",
    "watchfiles",
    "json5",
    "httpx",
    "pydantic",
    "concurrent.futures",
    "multiprocessing",
    "importlib.metadata",
    "memlane.markdown.chunk",
    "memlane.async_memory",
    "memlane.background",
    "memlane.workspace.watch",
    "memlane.embed.sqlite_cache",
}


def imported(tmp_path: Path, *arguments: str) -> set[str]:
    program = (
        "import sys\nfrom memlane.surfaces.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MEMLANE_STATE_DIR": str(tmp_path / "state"),
        "MEMLANE_WORKSPACE": str(tmp_path / "notes"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "notes/memory/a.md").write_text("the lighthouse keeper\n")
    imported(tmp_path, "index")
    return tmp_path


def test_the_version_needs_nothing(tmp_path: Path) -> None:
    assert not imported(tmp_path, "--version") & (HEAVY | {"click", "msgspec", "apsw", "memlane.memory"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "lighthouse"),
        ("search", "등대지기 Wiedervorlagemappe"),
        ("get", "memory/a.md"),
        ("context",),
    ],
)
def test_a_command_that_changes_nothing_loads_nothing_heavy(
    indexed: Path, arguments: tuple[str, ...]
) -> None:
    assert not imported(indexed, *arguments) & HEAVY


def test_remembering_and_reading_touch_no_index(indexed: Path) -> None:
    for arguments in (("remember", "tea"), ("get", "memory/a.md")):
        assert not imported(indexed, *arguments) & {"apsw", "memlane.embed.bundled", "numpy"}


def test_importing_the_package_costs_next_to_nothing() -> None:
    program = "import sys, memlane; print(sorted(name for name in sys.modules if name.startswith('memlane')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['memlane']\n"


def test_a_remote_provider_is_chosen_without_its_library(indexed: Path) -> None:
    document = "{agents: {defaults: {memorySearch: {provider: 'openai', remote: {apiKey: 'k'}}}}}"
    (indexed / "state/openclaw.json").write_text(document)
    assert not imported(indexed, "status") & {"httpx2", "httpcore2", "ssl"}
