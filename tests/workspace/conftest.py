"""A workspace on disk, and a way to write into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memlane.workspace import Workspace

Write = Callable[..., Path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(root)


@pytest.fixture
def write(root: Path) -> Write:
    """Write a file below the workspace; text as UTF-8, line endings as given."""

    def put(path: str, content: str | bytes = "text\n") -> Path:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    return put


@pytest.fixture(params=["by descriptor", "by path"])
def way_of_opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which files are reached: this system's, and that of systems without `openat`."""
    if request.param == "by path":
        monkeypatch.setattr("memlane.workspace.beneath._BY_DESCRIPTOR", False)
