from __future__ import annotations

import errno
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

    @pytest.mark.parametrize(
        ("path", "wanted"), [("MEMORY.md", "file"), ("memory", "folder"), ("memory/2026-02-10.md", "file")]
    )
    def test_links_stay_and_nothing_is_made_beside_or_behind_them(self, root, tmp_path, path, wanted):
        (tmp_path / "vault").mkdir()
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).symlink_to(tmp_path / "vault")
        with pytest.raises(WorkspaceError) as caught:
            create_workspace(root, today=TODAY)
        assert str(caught.value) == (
            f"cannot write {root}/{path}: "
            f"a symbolic link, which is never followed, stands where a {wanted} should be"
        )
        assert caught.value.hint == "move it away, then try again; a folder elsewhere can be an extra path"
        assert (root / path).is_symlink()
        assert list((tmp_path / "vault").iterdir()) == []
        assert [found.name for found in root.iterdir()] == [path.split("/")[0]]

    def test_a_link_beside_the_curated_file_in_use_is_no_obstacle(self, root, write):
        write("memory.md", "mine")
        (root / "MEMORY.md").symlink_to("memory.md")
        assert create_workspace(root, today=TODAY) == ("memory/", "memory/2026-02-10.md")

    def test_something_else_in_place_of_the_root(self, tmp_path):
        (tmp_path / "file").write_text("x")
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        for target, culprit in (
            (tmp_path / "file", f"{tmp_path}/file is not a folder"),
            (tmp_path / "file" / "deep" / "ws", f"{tmp_path}/file is not a folder"),
            (tmp_path / "link", f"{tmp_path}/link is a link that leads nowhere"),
        ):
            with pytest.raises(WorkspaceError) as caught:
                create_workspace(target, today=TODAY)
            assert str(caught.value) == f"cannot make the workspace {target}: {culprit}"
            assert caught.value.hint == "move it away, or choose another folder"

    def test_something_else_in_place_of_the_notes(self, root, write):
        write("memory", "x")
        with pytest.raises(WorkspaceError) as caught:
            create_workspace(root, today=TODAY)
        assert str(caught.value) == f"cannot write {root}/memory: a file stands where a folder should be"
        assert caught.value.hint == "move it away, then try again"
        (root / "MEMORY.md").mkdir()
        with pytest.raises(
            WorkspaceError, match=f"cannot write {root}/MEMORY.md: a folder stands where a file should be"
        ):
            create_workspace(root, today=TODAY)

    def test_a_full_disk_leaves_no_empty_note(self, root, monkeypatch):
        def full(descriptor, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("memlane.workspace.daily.os.write", full)
        with pytest.raises(WorkspaceError) as caught:
            create_workspace(root, today=TODAY)
        assert str(caught.value) == f"cannot write {root}/MEMORY.md: No space left on device"
        assert caught.value.hint == "free some space and try again; nothing was left half-written"
        assert not (root / "MEMORY.md").exists()

    @pytest.mark.parametrize(
        ("number", "hint"),
        [
            (errno.ENOSPC, "free some space and try again; nothing was left half-written"),
            (errno.EACCES, "choose a folder that you may write to"),
        ],
    )
    def test_a_root_that_cannot_be_made(self, tmp_path, monkeypatch, number, hint):
        def refused(self, *args, **kwargs):
            raise OSError(number, "for some reason")

        monkeypatch.setattr(Path, "mkdir", refused)
        with pytest.raises(WorkspaceError) as caught:
            create_workspace(tmp_path / "ws", today=TODAY)
        assert str(caught.value) == f"cannot make the workspace {tmp_path}/ws: for some reason"
        assert caught.value.hint == hint

    def test_a_relative_path_cannot_be_meant(self):
        with pytest.raises(UsageError, match="must be an absolute path, not 'ws'"):
            create_workspace(Path("ws"), today=TODAY)
