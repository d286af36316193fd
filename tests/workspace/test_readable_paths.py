from __future__ import annotations

import os
import socket
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlane.errors import MemlaneError, PathRefused, WorkspaceError
from memlane.workspace import ExtraPath, Workspace, read_lines, resolve_readable

SECRET = "SECRET-OUTSIDE"

REFUSED = [
    "",
    ".",
    "/",
    "memory",
    "memory/",
    "memory/a.md/",
    "../x",
    "../outside.md",
    "memory/../outside.md",
    "memory/../../outside.md",
    "memory/../MEMORY.md",
    "memory/sub/..",
    "memory/.. /x.md",
    "memory/.../x.md",
    "memory/..",
    "/etc/passwd",
    "/etc/hosts.md",
    "memory-x/a.md",
    "memoryx.md",
    "MEMORY.md.md",
    "memory.md/../secret.md",
    "Memory.md",
    "MEMORY.MD",
    "Memory/a.md",
    "README.md",
    "notes/a.md",
    "memory/a.txt",
    "memory/a",
    "memory/a.md\0",
    "memory/a\0.md",
    "memory/a.md\0.txt",
    "%2e%2e/outside.md",
    "memory/%2e%2e/outside.md",
    "memory/%2E./outside.md",
    "memory%2fa.md",
    "memory/%252e%252e/x.md",
    "memory/%25252e%25252e/x.md",
    "memory%5ca.md",
    "memory/a%00.md",
    "memory\\a.md",
    "..\\outside.md",
    "memory/..\\outside.md",
    "C:\\notes\\a.md",
    "C:/notes/a.md",
    "c:memory/a.md",
    "\\\\server\\share\\a.md",
    "//server/share/a.md",
    "//memory/a.md",
    "file:///etc/passwd",
    "~/memory/a.md",
    "~root/a.md",
    "memory/.hidden.md",
    "memory/.git/a.md",
    "memory/node_modules/a.md",
    "memory/\ud800.md",
    "sessions/x.jsonl",
    ".memlane.lock",
    " memory/a.md",
    "memory/a.md ",
    "memory/a.md\n",
]


@pytest.fixture
def furnished(workspace, root, write):
    """Something readable, and something outside that a mistake would show."""
    write("MEMORY.md", "curated\n")
    write("memory/a.md", "inside\n")
    for path in (
        "README.md",
        "memory-x/a.md",
        "memory/a.txt",
        "notes/a.md",
        "memory/.hidden.md",
        "memory/.git/a.md",
    ):
        write(path, SECRET)
    (root.parent / "outside.md").write_text(SECRET)
    return workspace


@pytest.mark.usefixtures("way_of_opening")
class TestRefused:
    @pytest.mark.parametrize("path", REFUSED)
    def test_devious_paths(self, furnished, path):
        with pytest.raises(PathRefused) as caught:
            read_lines(furnished, path)
        assert SECRET not in str(caught.value)

    def test_the_refusal_is_the_same_whether_or_not_there_is_something(self, furnished, root):
        for path in ("../outside.md", "memory/a.txt", "README.md"):
            with pytest.raises(PathRefused) as present:
                read_lines(furnished, path)
            (root / path).unlink()
            with pytest.raises(PathRefused) as absent:
                read_lines(furnished, path)
            assert str(present.value) == str(absent.value) == f"{path!r} may not be read"
            assert present.value.hint == absent.value.hint

    def test_a_long_path_is_quoted_in_part(self, furnished):
        with pytest.raises(PathRefused) as caught:
            read_lines(furnished, "x" * 100_000)
        assert len(str(caught.value)) < 300

    def test_a_linked_file(self, furnished, root):
        (root / "memory" / "link.md").symlink_to(root.parent / "outside.md")
        (root / "memory" / "inner.md").symlink_to(root / "memory" / "a.md")
        (root / "memory" / "dead.md").symlink_to(root.parent / "nowhere.md")
        for name in ("link", "inner", "dead"):
            with pytest.raises(PathRefused):
                read_lines(furnished, f"memory/{name}.md")

    def test_a_linked_folder_at_any_depth(self, furnished, root):
        (root / "memory" / "link").symlink_to(root.parent)
        (root / "memory" / "sub").mkdir()
        (root / "memory" / "sub" / "link").symlink_to(root.parent)
        (root / "memory" / "dead").symlink_to(root.parent / "nowhere")
        for path in ("link/outside.md", "link/nothing.md", "sub/link/outside.md", "dead/x.md"):
            with pytest.raises(PathRefused):
                read_lines(furnished, f"memory/{path}")

    def test_a_linked_memory_folder_and_a_linked_curated_file(self, workspace, root, write):
        write("elsewhere/a.md", SECRET)
        (root / "memory").symlink_to(root / "elsewhere")
        (root / "MEMORY.md").symlink_to(root / "elsewhere" / "a.md")
        for path in ("memory/a.md", "MEMORY.md"):
            with pytest.raises(PathRefused):
                read_lines(workspace, path)

    def test_pipes_sockets_and_folders_never_make_it_wait(self, furnished, root, monkeypatch):
        os.mkfifo(root / "memory" / "pipe.md")
        (root / "memory" / "folder.md").mkdir()
        monkeypatch.chdir(root / "memory")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket.md")
            for name in ("pipe", "folder", "socket"):
                with pytest.raises(PathRefused):
                    read_lines(furnished, f"memory/{name}.md")

    def test_a_device(self, root):
        with pytest.raises(PathRefused):
            read_lines(Workspace(root, (ExtraPath("/dev/zero"),)), "/dev/zero")

    def test_a_file_swapped_for_a_link_after_the_look(self, furnished, root, monkeypatch):
        real = os.open
        note = root / "memory" / "a.md"

        def swapping(path, flags, *args, **kwargs):
            if str(path).endswith("a.md"):
                note.unlink()
                note.symlink_to(root.parent / "outside.md")
            return real(path, flags, *args, **kwargs)

        monkeypatch.setattr(os, "open", swapping)
        with pytest.raises((PathRefused, WorkspaceError)) as caught:
            read_lines(furnished, "memory/a.md")
        assert SECRET not in str(caught.value)

    def test_a_file_that_is_replaced_at_every_look(self, furnished, root, monkeypatch):
        real = os.open
        note = root / "memory" / "a.md"

        def replacing(path, flags, *args, **kwargs):
            if str(path).endswith("a.md"):
                (root / "fresh").write_text("fresh\n")
                (root / "fresh").rename(note)
            return real(path, flags, *args, **kwargs)

        monkeypatch.setattr(os, "open", replacing)
        with pytest.raises(PathRefused):
            read_lines(furnished, "memory/a.md")

    def test_a_file_that_an_editor_replaces_once(self, furnished, root, monkeypatch):
        real = os.open
        note = root / "memory" / "a.md"

        def replacing(path, flags, *args, **kwargs):
            if str(path).endswith("a.md"):
                monkeypatch.setattr(os, "open", real)
                (root / "fresh").write_text("fresh\n")
                (root / "fresh").rename(note)
            return real(path, flags, *args, **kwargs)

        monkeypatch.setattr(os, "open", replacing)
        assert read_lines(furnished, "memory/a.md").text == "fresh"


def test_a_folder_swapped_for_a_link_after_the_look(furnished, root, write, monkeypatch):
    write("memory/sub/outside.md", "inside\n")
    real = os.open

    def swapping(path, flags, *args, **kwargs):
        if path == "sub":
            (root / "memory" / "sub" / "outside.md").unlink()
            (root / "memory" / "sub").rmdir()
            (root / "memory" / "sub").symlink_to(root.parent)
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", swapping)
    assert not read_lines(furnished, "memory/sub/outside.md").text


@pytest.mark.usefixtures("way_of_opening")
class TestAllowed:
    @pytest.mark.parametrize(
        "path",
        [
            "memory/a.md",
            "./memory/a.md",
            "memory//a.md",
            "memory/./a.md",
        ],
    )
    def test_spellings_of_a_plain_path(self, furnished, path):
        assert read_lines(furnished, path).path == "memory/a.md"
        assert read_lines(furnished, path).text == "inside"

    def test_absolute_within_the_workspace(self, furnished, root):
        assert read_lines(furnished, f"{root}/memory/a.md").path == "memory/a.md"
        for path in (f"{root}/README.md", f"{root}/memory/../README.md", f"{root}-x/memory/a.md", str(root)):
            with pytest.raises(PathRefused):
                read_lines(furnished, path)

    def test_odd_but_plain_names(self, workspace, write):
        for name in (
            "50% off.md",
            "a%20b.md",
            "10:30 call.md",
            "a b.md",
            "a..b.md",
            "a.MD",
            "한글.md",
        ):
            write(f"memory/{name}", name)
            assert read_lines(workspace, f"memory/{name}").text == name

    def test_the_other_unicode_form_of_a_name(self, workspace, write):
        composed, decomposed = (unicodedata.normalize(form, "회의 é") for form in ("NFC", "NFD"))
        write(f"memory/{decomposed}/{decomposed}.md", "found")
        assert read_lines(workspace, f"memory/{composed}/{composed}.md").text == "found"
        write(f"memory/{composed}/{composed}.md", "exact")
        assert read_lines(workspace, f"memory/{composed}/{composed}.md").text == "exact"
        assert not read_lines(workspace, f"memory/{composed}/ö.md").exists

    def test_a_note_that_does_not_exist_yet(self, furnished):
        for path in (
            "memory/2026-02-10.md",
            "memory/no/such/folder.md",
            "memory/a.md/x.md",
            f"memory/{'x' * 300}.md",
        ):
            read = read_lines(furnished, path)
            assert (read.path, read.text, read.lines, read.exists) == (path, "", 0, False)

    def test_the_workspace_may_be_reached_through_a_link(self, furnished, root, tmp_path):
        (tmp_path / "alias").symlink_to(root)
        workspace = Workspace(tmp_path / "alias")
        assert read_lines(workspace, "memory/a.md").text == "inside"
        assert read_lines(workspace, f"{tmp_path}/alias/memory/a.md").text == "inside"

    def test_a_missing_workspace(self, tmp_path):
        with pytest.raises(WorkspaceError, match="there is no workspace folder"):
            read_lines(Workspace(tmp_path / "nowhere"), "memory/a.md")

    @pytest.mark.parametrize("kind", ["file", "folder"])
    def test_what_the_system_does_not_let_us_read_is_named(self, workspace, write, monkeypatch, kind):
        write("memory/locked/a.md")
        wanted = "a.md" if kind == "file" else "locked"
        real_open, real_stat = os.open, os.stat

        def denied(real):
            def call(path, *args, **kwargs):
                if Path(path).name == wanted:
                    raise PermissionError(13, "Permission denied", path)
                return real(path, *args, **kwargs)

            return call

        monkeypatch.setattr(os, "open", denied(real_open))
        monkeypatch.setattr(os, "stat", denied(real_stat))
        with pytest.raises(WorkspaceError) as caught:
            read_lines(workspace, "memory/locked/a.md")
        assert str(caught.value) == "cannot read memory/locked/a.md: Permission denied"
        assert not isinstance(caught.value, PathRefused)


@pytest.mark.usefixtures("way_of_opening")
class TestExtraPaths:
    @pytest.fixture
    def outside(self, tmp_path):
        folder = tmp_path / "outside"
        (folder / "sub").mkdir(parents=True)
        (folder / "a.md").write_text("note")
        (folder / "sub" / "b.txt").write_text("text")
        (folder / ".hidden.md").write_text(SECRET)
        (tmp_path / "outside-x").mkdir()
        (tmp_path / "outside-x" / "a.md").write_text(SECRET)
        return folder

    def test_markdown_below_a_folder_by_absolute_path(self, root, outside):
        workspace = Workspace(root, (ExtraPath(str(outside)),))
        assert read_lines(workspace, f"{outside}/a.md").text == "note"
        assert not read_lines(workspace, f"{outside}/later.md").exists
        for path in (
            f"{outside}",
            f"{outside}/sub/b.txt",
            f"{outside}/.hidden.md",
            f"{outside}-x/a.md",
            f"{outside}/../outside-x/a.md",
            "../outside/a.md",
        ):
            with pytest.raises(PathRefused):
                read_lines(workspace, path)

    def test_a_pattern_decides(self, root, outside):
        workspace = Workspace(root, (ExtraPath(str(outside), "**/*.txt"),))
        assert read_lines(workspace, f"{outside}/sub/b.txt").text == "text"
        with pytest.raises(PathRefused):
            read_lines(workspace, f"{outside}/a.md")

    def test_a_file_is_taken_as_it_is(self, root, outside):
        workspace = Workspace(root, (ExtraPath(str(outside / "sub" / "b.txt")),))
        assert read_lines(workspace, f"{outside}/sub/b.txt").text == "text"
        with pytest.raises(PathRefused):
            read_lines(workspace, f"{outside}/a.md")

    def test_inside_the_workspace_by_relative_path(self, root, write):
        write("docs/a.md", "doc")
        workspace = Workspace(root, (ExtraPath("docs"),))
        assert read_lines(workspace, "docs/a.md").text == "doc"
        assert read_lines(workspace, f"{root}/docs/a.md").path == "docs/a.md"

    def test_links_below_and_instead_of_one(self, root, outside, tmp_path):
        (outside / "link.md").symlink_to(outside / "a.md")
        (outside / "folder").symlink_to(tmp_path / "outside-x")
        (tmp_path / "alias").symlink_to(outside)
        (root / "inner").symlink_to(outside)
        extra = (ExtraPath(str(outside)), ExtraPath(str(tmp_path / "alias")), ExtraPath("inner/sub/b.txt"))
        workspace = Workspace(root, extra)
        for path in (
            f"{outside}/link.md",
            f"{outside}/folder/a.md",
            f"{tmp_path}/alias/a.md",
            "inner/sub/b.txt",
        ):
            with pytest.raises(PathRefused):
                read_lines(workspace, path)

    def test_everything_may_be_an_extra_path(self, root, outside):
        workspace = Workspace(root, (ExtraPath("/"),))
        assert read_lines(workspace, f"{outside}/a.md").text == "note"
        assert resolve_readable(workspace, "/a.md").parts == ("a.md",)


@pytest.mark.usefixtures("way_of_opening")
class TestCuratedFile:
    @pytest.mark.parametrize("path", ["MEMORY.md", "memory.md", "./MEMORY.md", "Memory.md", "memory.MD"])
    def test_not_for_shared_sessions_in_any_spelling(self, furnished, root, path):
        for workspace in (furnished, Workspace(root, (ExtraPath("."),))):
            with pytest.raises(PathRefused) as caught:
                read_lines(workspace, path, curated=False)
            assert str(caught.value) == f"{path!r} may not be read: it is shown in private sessions only"

    def test_nor_by_its_absolute_path(self, furnished, root):
        with pytest.raises(PathRefused):
            read_lines(furnished, f"{root}/MEMORY.md", curated=False)
        assert read_lines(furnished, f"{root}/MEMORY.md").text == "curated"

    def test_nor_under_another_name(self, furnished, root):
        os.link(root / "MEMORY.md", root / "memory" / "copy.md")
        with pytest.raises(PathRefused):
            read_lines(furnished, "memory/copy.md", curated=False)
        assert read_lines(furnished, "memory/copy.md").text == "curated"

    def test_nor_the_note_it_links_to(self, workspace, root, write):
        (root / "memory.md").symlink_to(write("memory/private.md", "curated"))
        with pytest.raises(PathRefused):
            read_lines(workspace, "memory/private.md", curated=False)

    def test_other_notes_are_for_every_session(self, furnished):
        assert read_lines(furnished, "memory/a.md", curated=False).text == "inside"


PIECES = st.sampled_from(
    [
        "memory", "MEMORY.md", "memory.md", "a.md", "sub", "link", "link.md", "outside.md", "docs",
        "pipe.md",
        "..", ".", "...", "", "/", "//", "\\", "%2e%2e", "%2f", "%252e", "\0", "~", "C:", " ", ".md", "é.md",
        "e\u0301.md", "\u2024\u2024", "\uff0e\uff0e", "\u2215", "\ud800", "\u200b", "hard.md",
        "ROOT", "OUTSIDE",
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def trap(tmp_path_factory):
    """A workspace with many ways out, and a secret at the end of each."""
    base = tmp_path_factory.mktemp("trap")
    root, outside = base / "ws", base / "outside"
    for folder in (root / "memory" / "sub", root / "docs", outside / "sub", base / "memory"):
        folder.mkdir(parents=True)
    for folder in (base, outside, outside / "sub", base / "memory", root / "docs", root):
        for name in ("outside.md", "a.md", "MEMORY.md", "memory.md", "é.md"):
            (folder / name).write_text(SECRET)
    for folder in (root / "memory", root / "memory" / "sub"):
        (folder / "a.md").write_text("inside")
        (folder / "link").symlink_to(outside)
        (folder / "link.md").symlink_to(outside / "a.md")
        os.mkfifo(folder / "pipe.md")
    os.link(root / "MEMORY.md", root / "memory" / "hard.md")
    return Workspace(root), outside


@given(st.lists(PIECES | st.text(max_size=4), max_size=8), st.sampled_from(["/", ""]))
@example(["ROOT", "memory", "link", "a.md"], "/")
@example(["memory", "hard.md"], "/")
def test_no_path_whatsoever_gives_content_from_outside(trap, pieces, joint):
    workspace, outside = trap
    path = joint.join(pieces).replace("ROOT", str(workspace.root)).replace("OUTSIDE", str(outside))
    try:
        read = read_lines(workspace, path, curated=False)
    except MemlaneError as error:
        assert isinstance(error, PathRefused)
        assert SECRET not in f"{error}{error.hint}"
    else:
        assert read.text in {"", "inside"}
        assert read.exists == (read.text == "inside")
