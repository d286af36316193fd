from __future__ import annotations

import stat
from datetime import date
from pathlib import Path

import pytest

from memlane.errors import UsageError, WorkspaceError
from memlane.workspace import create_workspace

TODAY = date(2026, 2, 10)


@pytest.mark.usefixtures("way_of_opening")
class TestCreateWorkspace:
    def test_from_nothing(self, tmp_path):
        root = tmp_path / "deep" / "ws"
        made = create_workspace(root, today=TODAY)
        assert made == (f"{root}/", "MEMORY.md", "memory/", "memory/2026-02-10.md")
        assert (root / "MEMORY.md").read_text() == "# Memory\n\n"
        assert (root / "memory" / "2026-02-10.md").read_text() == "# 2026-02-10\n\n"
        assert stat.S_IMODE(root.stat().st_mode) == 0o700

    def test_a_second_time_makes_nothing(self, root):
        assert create_workspace(root, today=TODAY) == ("MEMORY.md", "memory/", "memory/2026-02-10.md")
        assert create_workspace(root, today=TODAY) == ()

    def test_what_is_there_stays(self, root, write):
        write("memory.md", "mine")
        write("memory/2026-02-10.md", "mine")
        assert create_workspace(root, today=TODAY) == ()
        assert (root / "memory.md").read_text() == "mine"
        assert (root / "memory" / "2026-02-10.md").read_text() == "mine"
        assert not (root / "MEMORY.md").exists()

    def test_links_stay_and_nothing_is_made_behind_them(self, root, tmp_path):
        (tmp_path / "vault").mkdir()
        (root / "memory").symlink_to(tmp_path / "vault")
        (root / "MEMORY.md").symlink_to(tmp_path / "nowhere.md")
        assert create_workspace(root, today=TODAY) == ()
        assert list((tmp_path / "vault").iterdir()) == []
        assert not (tmp_path / "nowhere.md").exists()

    def test_files_in_place_of_folders(self, root, tmp_path, write):
        (tmp_path / "file").write_text("x")
        for target in (tmp_path / "file", tmp_path / "file" / "ws"):
            with pytest.raises(WorkspaceError, match=f"cannot make the workspace {target}: "):
                create_workspace(target, today=TODAY)
        write("memory", "x")
        with pytest.raises(WorkspaceError, match=f"cannot make the workspace {root}: "):
            create_workspace(root, today=TODAY)

    def test_a_relative_path_cannot_be_meant(self):
        with pytest.raises(UsageError, match="must be an absolute path, not 'ws'"):
            create_workspace(Path("ws"), today=TODAY)
