"""Watching the notes: which folders, which changes, and what happens where the system cannot."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from memlane.workspace import ExtraPath, Workspace
from memlane.workspace.watch import Changes, TreeWatch, watched_folders

linux = pytest.mark.skipif(sys.platform != "linux", reason="folders are watched one by one on Linux alone")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes/memory").mkdir(parents=True)
    return tmp_path / "notes"


@pytest.fixture
def watching() -> Iterator[Callable[[Workspace], TreeWatch]]:
    watches: list[TreeWatch] = []

    def begin(workspace: Workspace) -> TreeWatch:
        watch = TreeWatch(workspace)
        watch.renew()
        watches.append(watch)
        return watch

    yield begin
    for watch in watches:
        watch.close()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def news(watch: TreeWatch, wanted: Path | None = None, *, seconds: float = 10.0) -> list[str]:
    """What is told, until `wanted` is among it."""
    told: list[str] = []
    until = monotonic() + seconds
    while monotonic() < until:
        told += watch.wait(threading.Event(), until - monotonic())
        if wanted is None or str(wanted) in told:
            break
    return told


class TestFolders:
    def test_those_a_scan_enters_and_no_others(self, root: Path) -> None:
        for folder in (
            "memory/a/b",
            "memory/.git/objects",
            "memory/.venv/lib",
            "memory/node_modules/x",
            "src",
        ):
            (root / folder).mkdir(parents=True)
        (root / "memory/link").symlink_to(root / "src")
        found = set(watched_folders(Workspace(root)))
        assert found == {str(root), *(str(root / name) for name in ("memory", "memory/a", "memory/a/b"))}

    def test_a_file_is_watched_by_its_folder_and_a_missing_path_by_what_is_above_it(self, root: Path) -> None:
        (root / "docs").mkdir()
        (root / "docs/one.md").write_text("x")
        extras = (ExtraPath("docs/one.md"), ExtraPath("later/deep/er"))
        assert set(watched_folders(Workspace(root, extras))) == {
            str(root),
            str(root / "memory"),
            str(root / "docs"),
        }

    def test_whole_roots_name_no_folder_below_them(self, root: Path) -> None:
        (root / "memory/a").mkdir()
        assert set(watched_folders(Workspace(root), whole_roots=True)) == {str(root), str(root / "memory")}

    def test_a_workspace_that_is_gone(self, tmp_path: Path) -> None:
        assert set(watched_folders(Workspace(tmp_path / "a/b"))) == {str(tmp_path)}


class TestEvents:
    def test_notes_are_told_of_and_other_files_are_not(self, root: Path, watching) -> None:
        watch = watching(Workspace(root))
        assert watch.active
        for name in (".x.md.swp", "x.md~", "data.json", "#x.md#", ".hidden.md", "y.tmp"):
            (root / "memory" / name).write_text("x")
        (root / "other.md").write_text("not memory")
        note = root / "memory/a.md"
        note.write_text("x")
        told = news(watch, note)
        assert set(told) == {str(note)}
        assert not watch.outdated

    def test_the_curated_file(self, root: Path, watching) -> None:
        watch = watching(Workspace(root))
        (root / "MEMORY.md").write_text("x")
        assert news(watch) == [str(root / "MEMORY.md")]

    def test_renamed_into_place(self, root: Path, watching) -> None:
        watch = watching(Workspace(root))
        (root / "memory/x.tmp").write_text("x")
        (root / "memory/x.tmp").rename(root / "memory/x.md")
        assert str(root / "memory/x.md") in news(watch, root / "memory/x.md")

    def test_a_folder_that_appears_is_watched_after_a_renewal(self, root: Path, watching) -> None:
        watch = watching(Workspace(root))
        (root / "memory/sub/deep").mkdir(parents=True)
        assert str(root / "memory/sub") in news(watch, root / "memory/sub")
        assert watch.outdated
        watch.renew()
        (root / "memory/sub/deep/a.md").write_text("x")
        assert str(root / "memory/sub/deep/a.md") in news(watch, root / "memory/sub/deep/a.md")

    @pytest.mark.parametrize("away", [shutil.rmtree, lambda path: path.rename(path.parent / "other")])
    def test_a_folder_that_goes_away(self, root: Path, watching, away: Callable[[Path], object]) -> None:
        (root / "memory/sub").mkdir()
        (root / "memory/sub/a.md").write_text("x")
        watch = watching(Workspace(root))
        away(root / "memory/sub")
        assert str(root / "memory/sub") in news(watch, root / "memory/sub")
        assert watch.outdated

    def test_an_extra_path_that_appears_step_by_step(self, root: Path, tmp_path: Path, watching) -> None:
        watch = watching(Workspace(root, (ExtraPath(str(tmp_path / "team/shared")),)))
        (tmp_path / "team").mkdir()
        assert str(tmp_path / "team") in news(watch, tmp_path / "team")
        watch.renew()
        (tmp_path / "team/shared").mkdir()
        assert str(tmp_path / "team/shared") in news(watch, tmp_path / "team/shared")
        watch.renew()
        (tmp_path / "team/shared/x.md").write_text("x")
        assert str(tmp_path / "team/shared/x.md") in news(watch, tmp_path / "team/shared/x.md")

    def test_an_extra_file_and_its_neighbours(self, root: Path, tmp_path: Path, watching) -> None:
        (tmp_path / "docs").mkdir()
        extra = tmp_path / "docs/guide.txt"
        extra.write_text("x")
        watch = watching(Workspace(root, (ExtraPath(str(extra)),)))
        (tmp_path / "docs/other.txt").write_text("x")
        extra.write_text("y")
        assert set(news(watch, extra)) == {str(extra)}

    def test_a_pattern(self, root: Path, tmp_path: Path, watching) -> None:
        (tmp_path / "wiki").mkdir()
        watch = watching(Workspace(root, (ExtraPath(str(tmp_path / "wiki"), "**/*.txt"),)))
        (tmp_path / "wiki/a.md").write_text("x")
        (tmp_path / "wiki/a.txt").write_text("x")
        assert set(news(watch, tmp_path / "wiki/a.txt")) == {str(tmp_path / "wiki/a.txt")}

    def test_names_in_any_script(self, root: Path, watching) -> None:
        watch = watching(Workspace(root))
        note = root / "memory/회의 📝.md"
        note.write_text("x")
        assert str(note) in news(watch, note)

    def test_a_request_ends_the_wait(self, root: Path, watching) -> None:
        watch = watching(Workspace(root))
        wake = threading.Event()
        threading.Timer(0.05, wake.set).start()
        assert watch.wait(wake, 60.0) == []
        assert wake.is_set()

    @linux
    def test_a_large_root_costs_few_descriptors(self, root: Path, watching) -> None:
        for number in range(60):
            for folder in (".venv/lib", ".git/objects", "node_modules/pack"):
                place = root / "memory" / folder / str(number)
                place.mkdir(parents=True)
                for file in range(2):
                    (place / f"{file}.py").write_text("")
        for number in range(20):
            (root / f"memory/{number}.md").write_text("note")
        before = descriptors()
        watch = watching(Workspace(root))
        assert watch.active
        assert descriptors() - before < 10
        watch.close()
        until = monotonic() + 10  # the system's watch ends in a thread of its own
        while descriptors() > before and monotonic() < until:
            threading.Event().wait(0.01)
        assert descriptors() <= before


class TestWithoutEvents:
    def test_no_capacity(self, root: Path) -> None:
        def refuse(folders: list[str], whole: bool) -> Changes:
            raise OSError("OS file watch limit reached.")

        watch = TreeWatch(Workspace(root), subscribe=refuse)
        watch.renew()
        assert not watch.active
        assert watch.problem.startswith("the system watches no more folders (2 are wanted")
        assert watch.wait(threading.Event(), 0.01) == []

    def test_events_that_break_off(self, root: Path) -> None:
        def broken(folders: list[str], whole: bool) -> Changes:
            yield []
            raise RuntimeError("the watch broke")

        watch = TreeWatch(Workspace(root), subscribe=broken)
        watch.renew()
        assert watch.active
        assert watch.wait(threading.Event(), 1.0) == []
        assert not watch.active
        assert "the watch broke" in watch.problem

    def test_a_folder_that_goes_while_the_watch_begins(self, root: Path) -> None:
        def gone(folders: list[str], whole: bool) -> Changes:
            raise FileNotFoundError(folders[0])

        watch = TreeWatch(Workspace(root), subscribe=gone)
        watch.renew()
        assert (watch.active, watch.outdated, watch.problem) == (False, True, "")

    def test_changes_told_as_the_watch_begins_are_kept(self, root: Path) -> None:
        def early(folders: list[str], whole: bool) -> Changes:
            yield [("modified", str(root / "memory/a.md"))]
            while True:
                yield []

        watch = TreeWatch(Workspace(root), subscribe=early)
        watch.renew()
        assert watch.wait(threading.Event(), 1.0) == [str(root / "memory/a.md")]

    def test_a_network_file_system_is_not_relied_on(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from memlane.workspace import watch as module

        monkeypatch.setattr(module, "_mounts", lambda: {"/": "ext4", str(root): "nfs4"})
        watch = TreeWatch(Workspace(root))
        watch.renew()
        assert not watch.active
        assert watch.problem == f"{root} is on a network file system, which does not report every change"
