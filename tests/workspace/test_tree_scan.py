from __future__ import annotations

import os
import shutil
import unicodedata
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.errors import UsageError, WorkspaceError
from memlane.values import FileEntry, FileFailure
from memlane.workspace import ExtraPath, Workspace, dated_day, read_lines, scan_tree


def paths(workspace: Workspace) -> list[str]:
    return [entry.path for entry in scan_tree(workspace).files]


def entry(workspace: Workspace, path: str) -> FileEntry:
    return next(found for found in scan_tree(workspace).files if found.path == path)


class TestMemoryFiles:
    def test_the_curated_file_and_markdown_under_memory_count(self, workspace, write):
        for path in (
            "MEMORY.md",
            "memory/a.md",
            "memory/people/b.MD",
            "memory/c.txt",
            "README.md",
            "notes/d.md",
        ):
            write(path)
        assert paths(workspace) == ["MEMORY.md", "memory/a.md", "memory/people/b.MD"]

    def test_an_entry_carries_what_can_be_known_unread(self, workspace, write):
        target = write("memory/2026-02-10-standup.md", "12345")
        looked = target.stat()
        assert scan_tree(workspace).files == (
            FileEntry(
                path="memory/2026-02-10-standup.md",
                location=str(target),
                source="memory",
                size=5,
                mtime_ns=looked.st_mtime_ns,
                inode=looked.st_ino,
                device=looked.st_dev,
                day=date(2026, 2, 10),
                curated=False,
                evergreen=False,
            ),
        )

    def test_no_file_is_opened(self, workspace, write, monkeypatch):
        write("MEMORY.md")
        write("memory/a.md")

        def refuse(*args, **kwargs):
            raise AssertionError("opened a file")

        monkeypatch.setattr(os, "open", refuse)
        monkeypatch.setattr("builtins.open", refuse)
        assert paths(workspace) == ["MEMORY.md", "memory/a.md"]

    def test_a_workspace_without_notes_is_fine(self, workspace):
        assert scan_tree(workspace).files == ()

    def test_a_missing_workspace_names_the_folder_and_the_way_out(self, tmp_path):
        with pytest.raises(WorkspaceError) as caught:
            scan_tree(Workspace(tmp_path / "nowhere"))
        assert str(caught.value) == f"there is no workspace folder {tmp_path / 'nowhere'}"
        assert "memlane init" in caught.value.hint

    def test_a_file_in_place_of_the_workspace(self, root, write):
        with pytest.raises(WorkspaceError, match="is a file, not a folder"):
            scan_tree(Workspace(write("file")))

    def test_a_file_in_place_of_the_memory_folder_is_reported(self, workspace, write):
        write("memory")
        assert scan_tree(workspace).failed == (FileFailure("memory", "not a folder"),)

    def test_the_order_is_fixed(self, workspace, write):
        for path in ("memory/b.md", "memory/a/z.md", "memory/a/b/x.md", "memory/C.md", "MEMORY.md"):
            write(path)
        expected = ["MEMORY.md", "memory/C.md", "memory/b.md", "memory/a/z.md", "memory/a/b/x.md"]
        assert paths(workspace) == expected

    def test_a_deep_tree_is_walked_without_recursion(self, workspace, root, monkeypatch):
        (root / "memory").mkdir()
        monkeypatch.chdir(root / "memory")
        for _ in range(1200):
            Path("d").mkdir()
            os.chdir("d")
        Path("deep.md").write_text("x")
        try:
            assert paths(workspace) == ["memory/" + "d/" * 1200 + "deep.md"]
        finally:
            Path("deep.md").unlink()
            for _ in range(1200):
                os.chdir("..")
                Path("d").rmdir()

    def test_a_relative_workspace_cannot_be_meant(self):
        with pytest.raises(UsageError, match="must be an absolute path, not 'notes'"):
            Workspace(Path("notes"))


class TestCuratedFile:
    def test_memory_md_in_capitals_wins(self, workspace, write):
        write("memory.md", "small")
        assert [(found.path, found.curated) for found in scan_tree(workspace).files] == [("memory.md", True)]
        write("MEMORY.md", "capital")
        assert [(found.path, found.curated) for found in scan_tree(workspace).files] == [("MEMORY.md", True)]

    def test_one_file_under_both_names_counts_once(self, workspace, root, write):
        os.link(write("MEMORY.md"), root / "memory.md")
        assert paths(workspace) == ["MEMORY.md"]

    def test_another_name_for_it_is_not_a_second_entry(self, workspace, root, write):
        source = write("MEMORY.md")
        write("memory/x.md")
        os.link(source, root / "memory" / "copy.md")
        assert paths(workspace) == ["MEMORY.md", "memory/x.md"]

    def test_a_note_that_the_link_memory_md_points_to_is_curated(self, workspace, root, write):
        (root / "MEMORY.md").symlink_to(write("memory/private.md"))
        scan = scan_tree(workspace)
        assert [(found.path, found.curated) for found in scan.files] == [("memory/private.md", True)]
        assert scan.skipped_links == ("MEMORY.md",)

    def test_an_unused_memory_md_does_not_come_back_through_an_extra_path(self, root, write):
        write("MEMORY.md")
        unused = write("memory.md")
        write("Memory.md")
        write("README.md")
        os.link(unused, root / "linked.md")
        found = {found.path: found.curated for found in scan_tree(Workspace(root, (ExtraPath("."),))).files}
        assert found == {"MEMORY.md": True, "Memory.md": True, "README.md": False, "linked.md": True}

    def test_a_note_of_that_name_elsewhere_is_an_ordinary_one(self, workspace, write):
        write("memory/MEMORY.md")
        assert not entry(workspace, "memory/MEMORY.md").curated


class TestWhatIsPassedOver:
    @pytest.mark.parametrize(
        "folder",
        [".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".obsidian", ".trash", ".hidden"],
    )
    def test_folders_of_other_programs(self, workspace, write, folder):
        write(f"memory/{folder}/a.md")
        write(f"memory/sub/{folder}/b.md")
        write("memory/kept.md")
        assert paths(workspace) == ["memory/kept.md"]

    @pytest.mark.parametrize(
        "name", [".a.md", ".#a.md", "~$a.md", "a.md~", "#a.md#", "a.md.swp", "a.tmp", "a.md.TMP"]
    )
    def test_hidden_and_temporary_files_even_when_a_pattern_takes_everything(self, root, write, name):
        write(f"memory/{name}")
        write("memory/a.md")
        assert paths(Workspace(root, (ExtraPath("memory", "**/*"),))) == ["memory/a.md"]

    def test_a_file_renamed_from_temporary_is_one_more_note(self, workspace, write, root):
        write("memory/x.tmp")
        assert paths(workspace) == []
        (root / "memory" / "x.tmp").rename(root / "memory" / "x.md")
        assert paths(workspace) == ["memory/x.md"]

    def test_links_are_named(self, workspace, root, tmp_path, write):
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "a.md").write_text("x")
        (root / "memory").mkdir()
        (root / "memory" / "folder").symlink_to(tmp_path / "outside")
        (root / "memory" / "file.md").symlink_to(tmp_path / "outside" / "a.md")
        (root / "memory" / "gone.md").symlink_to(tmp_path / "nowhere")
        (root / "memory" / "image.png").symlink_to(tmp_path / "outside" / "a.md")
        (root / "memory" / ".cache").symlink_to(tmp_path / "outside")
        scan = scan_tree(workspace)
        assert scan.files == ()
        assert scan.skipped_links == ("memory/file.md", "memory/folder", "memory/gone.md")

    def test_a_linked_memory_folder_is_named(self, workspace, root, tmp_path):
        (tmp_path / "vault").mkdir()
        (tmp_path / "vault" / "a.md").write_text("x")
        (root / "memory").symlink_to(tmp_path / "vault")
        scan = scan_tree(workspace)
        assert (scan.files, scan.skipped_links) == ((), ("memory",))

    def test_a_link_loop_ends(self, workspace, root, write):
        write("memory/a.md")
        (root / "memory" / "again").symlink_to(root / "memory")
        assert paths(workspace) == ["memory/a.md"]

    def test_pipes_are_passed_over(self, workspace, root, write):
        write("memory/a.md")
        os.mkfifo(root / "memory" / "pipe.md")
        os.mkfifo(root / "MEMORY.md")
        scan = scan_tree(workspace)
        assert [found.path for found in scan.files] == ["memory/a.md"]
        assert scan.failed == ()

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("a\\b.md", "its name holds a backslash"),
            ("a%2fb.md", "its name holds %2f, a URL-encoded slash"),
            ("a%252Eb.md", "its name holds %252E, a URL-encoded dot"),
            ("a%5cb%00.md", "its name holds %5c, a URL-encoded backslash"),
            (" ", "its name is nothing but dots and spaces"),
        ],
    )
    def test_a_name_that_no_reader_could_give_is_reported(self, workspace, write, name, reason):
        write(f"memory/{name}/x.md" if name == " " else f"memory/{name}")
        write("memory/good.md")
        scan = scan_tree(workspace)
        assert [found.path for found in scan.files] == ["memory/good.md"]
        assert scan.failed == (FileFailure(f"memory/{name}", reason),)

    def test_a_name_that_is_not_utf_8_is_reported_in_printable_form(self, workspace, root, write):
        write("memory/good.md")
        (Path(os.fsdecode(os.fsencode(root) + b"/memory/\xff.md"))).write_text("x")
        scan = scan_tree(workspace)
        assert [found.path for found in scan.files] == ["memory/good.md"]
        assert scan.failed == (FileFailure("memory/\\udcff.md", "its name is not valid UTF-8"),)


class TestFailures:
    def test_a_folder_that_cannot_be_listed_is_named_and_the_rest_goes_on(
        self, workspace, write, monkeypatch
    ):
        write("memory/locked/a.md")
        write("memory/open/b.md")
        real = os.scandir

        def scandir(location):
            if str(location).endswith("locked"):
                raise PermissionError(13, "Permission denied", location)
            return real(location)

        monkeypatch.setattr(os, "scandir", scandir)
        scan = scan_tree(workspace)
        assert [found.path for found in scan.files] == ["memory/open/b.md"]
        assert scan.failed == (FileFailure("memory/locked", "Permission denied"),)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
    def test_the_same_with_real_permissions(self, workspace, root, write):
        write("memory/locked/a.md")
        (root / "memory" / "locked").chmod(0)
        try:
            assert scan_tree(workspace).failed == (FileFailure("memory/locked", "Permission denied"),)
        finally:
            (root / "memory" / "locked").chmod(0o700)

    def test_a_folder_that_vanishes_during_the_walk_is_gone_and_no_failure(
        self, workspace, root, write, monkeypatch
    ):
        write("memory/gone/a.md")
        real = os.scandir

        def scandir(location):
            if str(location).endswith("memory"):
                listing = real(location)
                monkeypatch.undo()
                entries = list(listing)
                listing.close()
                shutil.rmtree(root / "memory" / "gone")
                return _Listing(entries)
            return real(location)

        monkeypatch.setattr(os, "scandir", scandir)
        scan = scan_tree(workspace)
        assert (scan.files, scan.failed) == ((), ())

    def test_a_curated_file_that_cannot_be_looked_at_is_named(self, workspace, write, monkeypatch):
        write("MEMORY.md")
        write("memory/a.md")
        real = os.lstat

        def lstat(location, **kwargs):
            if str(location).endswith("MEMORY.md"):
                raise OSError(5, "Input/output error", location)
            return real(location, **kwargs)

        monkeypatch.setattr(os, "lstat", lstat)
        scan = scan_tree(workspace)
        assert [found.path for found in scan.files] == ["memory/a.md"]
        assert scan.failed == (FileFailure("MEMORY.md", "Input/output error"),)


class _Listing:
    def __init__(self, entries):
        self._entries = entries

    def __enter__(self):
        return iter(self._entries)

    def __exit__(self, *error):
        return None


class TestIdentity:
    def test_two_names_of_one_note_give_one_entry_under_the_first(self, workspace, root, write):
        os.link(write("memory/b.md"), root / "memory" / "a.md")
        assert paths(workspace) == ["memory/a.md"]

    def test_unicode_forms_of_a_name_are_two_files_where_the_disk_says_so(self, workspace, write):
        composed, decomposed = (unicodedata.normalize(form, "한글 é.md") for form in ("NFC", "NFD"))
        write(f"memory/{composed}")
        write(f"memory/{decomposed}")
        assert set(paths(workspace)) == {f"memory/{composed}", f"memory/{decomposed}"}

    def test_without_inodes_the_nfc_path_counts_and_the_spelling_is_kept(self, workspace, write, monkeypatch):
        composed, decomposed = (unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD"))
        write(f"memory/{composed}")
        write(f"memory/{decomposed}")
        write("memory/other.md")
        real = os.scandir

        class Entry:
            def __init__(self, entry):
                self._entry = entry
                self.name, self.path = entry.name, entry.path

            def __getattr__(self, name):
                return getattr(self._entry, name)

            def stat(self, *, follow_symlinks=True):
                values = list(self._entry.stat(follow_symlinks=follow_symlinks))
                values[1] = values[2] = 0
                return os.stat_result(values)

        def scandir(location):
            with real(location) as listing:
                return _Listing([Entry(found) for found in listing])

        monkeypatch.setattr(os, "scandir", scandir)
        assert paths(workspace) == [f"memory/{decomposed}", "memory/other.md"]


class TestExtraPaths:
    def test_folders_and_files_absolute_relative_and_at_home(self, root, tmp_path, write):
        home, outside = tmp_path / "home", tmp_path / "outside"
        for folder in (home / "notes", outside / "sub"):
            folder.mkdir(parents=True)
        (home / "notes" / "h.md").write_text("x")
        (outside / "sub" / "o.md").write_text("x")
        (outside / "one.txt").write_text("x")
        write("docs/d.md")
        extra = (
            ExtraPath("~/notes"),
            ExtraPath(str(outside / "sub")),
            ExtraPath(str(outside / "one.txt")),
            ExtraPath("docs"),
            ExtraPath("../outside/sub"),
        )
        assert sorted(paths(Workspace(root, extra, home=home))) == sorted(
            [
                str(home / "notes" / "h.md"),
                str(outside / "sub" / "o.md"),
                str(outside / "one.txt"),
                "docs/d.md",
            ]
        )

    def test_home_must_be_known(self, root):
        with pytest.raises(UsageError, match="'~/notes': the home folder is not known"):
            Workspace(root, (ExtraPath("~/notes"),))

    def test_a_pattern_decides_what_counts(self, root, write):
        for path in ("docs/a.md", "docs/b.txt", "docs/deep/c.TXT", "docs/d.png"):
            write(path)
        assert paths(Workspace(root, (ExtraPath("docs", "**/*.txt"),))) == ["docs/b.txt", "docs/deep/c.TXT"]
        assert paths(Workspace(root, (ExtraPath("docs", "**/*.md"),))) == ["docs/a.md"]
        assert paths(Workspace(root, (ExtraPath("docs"),))) == ["docs/a.md"]

    def test_one_that_does_not_exist_yet_appears_later(self, root, write):
        workspace = Workspace(root, (ExtraPath("later"), ExtraPath("../elsewhere/x.md")))
        scan = scan_tree(workspace)
        assert (scan.files, set(scan.missing_roots)) == ((), {"later", "../elsewhere/x.md"})
        write("later/a.md")
        scan = scan_tree(workspace)
        assert [found.path for found in scan.files] == ["later/a.md"]
        assert scan.missing_roots == ("../elsewhere/x.md",)

    def test_overlapping_ones_and_memory_itself_give_no_second_entry(self, root, write):
        for path in ("MEMORY.md", "memory/a.md", "memory/p/b.md", "docs/c.md", "docs/sub/d.md"):
            write(path)
        once = ["MEMORY.md", "docs/c.md", "docs/sub/d.md", "memory/a.md", "memory/p/b.md"]
        extra = tuple(
            ExtraPath(path) for path in ("memory", "memory/p", "docs", "docs/sub", "docs", "memory/a.md", ".")
        )
        assert sorted(paths(Workspace(root, extra))) == once
        assert sorted(paths(Workspace(root, (ExtraPath(str(root.parent)),)))) == once

    def test_of_two_that_overlap_the_closer_one_speaks(self, root, write):
        write("docs/a.md")
        write("docs/archive/b.md")
        workspace = Workspace(root, (ExtraPath("docs"), ExtraPath("docs/archive", evergreen=False)))
        assert entry(workspace, "docs/a.md").evergreen
        assert not entry(workspace, "docs/archive/b.md").evergreen

    def test_age(self, root, write):
        write("docs/2026-02-10.md")
        write("docs/a.md")
        kept, aging = (
            Workspace(root, (ExtraPath("docs"),)),
            Workspace(root, (ExtraPath("docs", evergreen=False),)),
        )
        assert not entry(kept, "docs/2026-02-10.md").evergreen
        assert entry(kept, "docs/a.md").evergreen
        assert not entry(aging, "docs/a.md").evergreen

    def test_one_that_is_a_link_is_named(self, root, tmp_path, write):
        write("docs/a.md")
        (root / "linked").symlink_to(root / "docs")
        (tmp_path / "away").symlink_to(root / "docs")
        extra = (ExtraPath("linked"), ExtraPath("linked/a.md"), ExtraPath(str(tmp_path / "away")))
        scan = scan_tree(Workspace(root, extra))
        assert scan.files == ()
        assert set(scan.skipped_links) == {"linked", str(tmp_path / "away")}

    def test_a_folder_above_an_outer_one_may_be_a_link(self, root, tmp_path):
        (tmp_path / "real" / "notes").mkdir(parents=True)
        (tmp_path / "real" / "notes" / "a.md").write_text("x")
        (tmp_path / "alias").symlink_to(tmp_path / "real")
        workspace = Workspace(root, (ExtraPath(str(tmp_path / "alias" / "notes")),))
        assert paths(workspace) == [str(tmp_path / "alias" / "notes" / "a.md")]

    def test_one_that_is_a_pipe_fails(self, root):
        os.mkfifo(root / "pipe")
        scan = scan_tree(Workspace(root, (ExtraPath("pipe"),)))
        assert scan.failed == (FileFailure("pipe", "neither a file nor a folder"),)

    def test_one_that_may_not_be_looked_at_fails_and_is_not_missing(self, root, write, monkeypatch):
        write("docs/a.md")
        real = os.lstat

        def lstat(location, **kwargs):
            if str(location).endswith("docs"):
                raise PermissionError(13, "Permission denied", location)
            return real(location, **kwargs)

        monkeypatch.setattr(os, "lstat", lstat)
        scan = scan_tree(Workspace(root, (ExtraPath("docs"),)))
        assert scan.failed == (FileFailure("docs", "Permission denied"),)
        assert scan.missing_roots == ()

    def test_one_that_no_reader_could_name_fails(self, root):
        scan = scan_tree(Workspace(root, (ExtraPath("a\\b"), ExtraPath("nul\0"))))
        assert scan.failed == (
            FileFailure("a\\b", "its name holds a backslash"),
            FileFailure("nul\0", "its name holds a NUL character"),
        )


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12
).filter(lambda name: name not in {".", ".."} and len(name.encode()) < 200)


@given(
    names=st.lists(NAMES, max_size=6, unique_by=lambda name: unicodedata.normalize("NFC", name)),
    pattern=st.sampled_from([None, "**/*", "*"]),
)
def test_what_is_found_can_be_read(tmp_path_factory, names, pattern):
    base = tmp_path_factory.mktemp("agree")
    root = base / "ws"
    for folder in (root / "memory", root / "docs", base / "outside"):
        folder.mkdir(parents=True)
        for number, name in enumerate(names):
            inner = folder / f"{number}{name}" if number % 2 else folder
            inner.mkdir(exist_ok=True)
            (inner / f"{name}{number}.md").write_text(f"{folder.name} {number}")
    workspace = Workspace(root, (ExtraPath("docs", pattern), ExtraPath(str(base / "outside"), pattern)))
    for found in scan_tree(workspace).files:
        read = read_lines(workspace, found.path)
        assert read.exists
        assert read.path == found.path
        assert read.text == Path(found.location).read_text()


class TestDatedNames:
    @pytest.mark.parametrize(
        "path",
        [
            "2026-04-10",
            "memory/2026-04-10.md",
            "memory/daily/2026-04-10.md",
            "memory/2026/2026-04-10-standup.md",
            "memory/2026-04-10 vendor pitch.md",
            "/abs/2026-04-10_x.txt",
        ],
    )
    def test_a_day_at_the_start_of_the_base_name(self, path):
        assert dated_day(path) == date(2026, 4, 10)

    @pytest.mark.parametrize(
        "path",
        [
            "MEMORY.md",
            "memory/network.md",
            "memory/2026-13-40.md",
            "memory/2026-02-30.md",
            "memory/2026-02-100.md",
            "memory/0000-01-01.md",
            "memory/2026-04-10/notes.md",
            "memory/x-2026-04-10.md",
            "memory/20260410.md",
            "memory/２０２６-04-10.md",
            "",
        ],
    )
    def test_anything_else_is_evergreen(self, path):
        assert dated_day(path) is None

    @given(day=st.dates(), suffix=st.text().filter(lambda text: not text[:1].isdecimal() and "/" not in text))
    def test_every_calendar_day_is_found(self, day, suffix):
        assert dated_day(f"memory/{day.isoformat()}{suffix}") == day

    @given(st.text())
    def test_any_text_gives_a_day_or_none(self, text):
        day = dated_day(text)
        assert day is None or text[text.rfind("/") + 1 :].startswith(day.isoformat())
