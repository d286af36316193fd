from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memlane.clock import FixedClock
from memlane.errors import UsageError, WorkspaceError
from memlane.values import Written
from memlane.workspace import Workspace, read_lines, remember, scan_tree

CLOCK = FixedClock(datetime(2026, 2, 10, 9, 5, tzinfo=timezone(timedelta(hours=1))))
LOG = "memory/2026-02-10.md"
LINK = "a symbolic link, which is never followed, stands where"


@pytest.mark.usefixtures("way_of_opening")
class TestDailyLog:
    def test_the_first_entry_makes_the_folder_and_the_log(self, workspace, root):
        assert remember(workspace, "tea", clock=CLOCK) == Written(LOG, 3, added=True)
        assert (root / LOG).read_bytes() == b"# 2026-02-10\n\n- 09:05 tea\n"

    def test_the_next_one_is_appended(self, workspace, root, write):
        write(LOG, "# 2026-02-10\n\n- 08:00 milk")
        assert remember(workspace, "tea\nwith sugar", clock=CLOCK) == Written(LOG, 4, added=True)
        assert (root / LOG).read_text() == "# 2026-02-10\n\n- 08:00 milk\n- 09:05 tea\n  with sugar\n"

    def test_what_stands_there_says_so_and_adds_nothing(self, workspace, root, write):
        write(LOG, "# 2026-02-10\n\n- 08:00 tea\n- 08:10 milk\n")
        before = (root / LOG).stat()
        assert remember(workspace, " tea ", clock=CLOCK) == Written(LOG, 3, added=False)
        after = (root / LOG).stat()
        assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b"a\r\nb\r\n", b"a\r\nb\r\n- 09:05 tea\r\n  x\r\n"),
            (b"\xef\xbb\xbfa\r\nb", b"\xef\xbb\xbfa\r\nb\r\n- 09:05 tea\r\n  x\r\n"),
            (b"\xef\xbb\xbf", b"\xef\xbb\xbf# 2026-02-10\n\n- 09:05 tea\n  x\n"),
            ("caf\u00e9 한 \u2028\n".encode(), "caf\u00e9 한 \u2028\n- 09:05 tea\n  x\n".encode()),
        ],
    )
    def test_line_endings_bom_and_every_old_byte_are_kept(self, workspace, root, write, old, new):
        write(LOG, old)
        remember(workspace, "tea\nx", clock=CLOCK)
        assert (root / LOG).read_bytes() == new

    @pytest.mark.parametrize(
        ("zone", "moment", "day", "time"),
        [
            ("Asia/Shanghai", "2026-04-11T19:53+00:00", "2026-04-12", "03:53"),
            ("America/Denver", "2026-03-15T01:17+00:00", "2026-03-14", "19:17"),
        ],
    )
    def test_day_and_time_are_the_users(self, workspace, root, zone, moment, day, time):
        clock = FixedClock(datetime.fromisoformat(moment).astimezone(ZoneInfo(zone)))
        assert remember(workspace, "tea", clock=clock).path == f"memory/{day}.md"
        assert (root / f"memory/{day}.md").read_text() == f"# {day}\n\n- {time} tea\n"

    def test_day_and_time_come_from_one_moment(self, workspace, root):
        class Midnight:
            def now(self):
                return datetime(2026, 2, 10, 23, 59, 59, tzinfo=UTC)

            def today(self):
                return datetime(2026, 2, 11, tzinfo=UTC).date()

        assert remember(workspace, "tea", clock=Midnight()).path == LOG

    def test_an_entry_that_was_written_can_be_found_and_read(self, workspace):
        written = remember(workspace, "今天讨论了部署方案", clock=CLOCK)
        assert [found.path for found in scan_tree(workspace).files] == [written.path]
        assert (
            read_lines(workspace, written.path, start=written.line, lines=1).text
            == "- 09:05 今天讨论了部署方案"
        )

    def test_a_heading_does_not_go_with_the_log(self, workspace):
        with pytest.raises(UsageError, match="a heading goes with durable=True"):
            remember(workspace, "tea", clock=CLOCK, heading="Drinks")

    @pytest.mark.parametrize("options", [{}, {"durable": True}])
    def test_nothing_to_remember_leaves_nothing_behind(self, workspace, root, options):
        with pytest.raises(UsageError, match="there is nothing to remember"):
            remember(workspace, " \n", clock=CLOCK, **options)
        assert list(root.iterdir()) == []


@pytest.mark.usefixtures("way_of_opening")
class TestCuratedFile:
    def test_made_when_missing(self, workspace, root):
        assert remember(workspace, "tea", clock=CLOCK, durable=True) == Written("MEMORY.md", 3, added=True)
        assert (root / "MEMORY.md").read_text() == "# Memory\n\n- tea\n"

    def test_the_name_in_use_is_kept(self, workspace, root, write):
        write("memory.md", "# Mine\n")
        assert remember(workspace, "tea", clock=CLOCK, durable=True).path == "memory.md"
        assert not (root / "MEMORY.md").exists()

    def test_under_a_heading_made_when_missing(self, workspace, root):
        for text, heading in (("tea", "Drinks"), ("bread", "Food"), ("milk", "drinks"), ("milk", "Drinks")):
            remember(workspace, text, clock=CLOCK, durable=True, heading=heading)
        assert (root / "MEMORY.md").read_text() == (
            "# Memory\n\n## Drinks\n\n- tea\n- milk\n\n## Food\n\n- bread\n"
        )

    def test_inserting_keeps_mode_endings_and_every_old_byte(self, workspace, root, write):
        old = b"\xef\xbb\xbf## A\r\n\r\n- caf\xc3\xa9 \xed\x95\x9c\r\n\r\n## B\r\n"
        write("MEMORY.md", old).chmod(0o640)
        assert remember(workspace, "x", clock=CLOCK, durable=True, heading="A") == Written(
            "MEMORY.md", 4, added=True
        )
        assert (root / "MEMORY.md").read_bytes() == old.replace(b"\x9c\r\n", b"\x9c\r\n- x\r\n")
        assert stat.S_IMODE((root / "MEMORY.md").stat().st_mode) == 0o640
        assert sorted(path.name for path in root.iterdir()) == [".memlane.lock", "MEMORY.md"]

    def test_a_change_by_a_program_that_ignores_the_lock_is_not_lost(
        self, workspace, root, write, monkeypatch
    ):
        note = write("MEMORY.md", "## A\n\n## B\n")
        real, changes = os.fsync, ["- theirs\n"]

        def fsync(descriptor):
            real(descriptor)
            if changes:
                with note.open("a") as stream:
                    stream.write(changes.pop())

        monkeypatch.setattr(os, "fsync", fsync)
        remember(workspace, "ours", clock=CLOCK, durable=True, heading="A")
        assert note.read_text() == "## A\n\n- ours\n\n## B\n- theirs\n"

    def test_a_note_that_never_rests_is_left_alone(self, workspace, root, write, monkeypatch):
        note = write("MEMORY.md", "## A\n\n## B\n")
        real = os.fsync

        def fsync(descriptor):
            real(descriptor)
            with note.open("a") as stream:
                stream.write("- theirs\n")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(WorkspaceError, match=r"MEMORY\.md: another program keeps changing it$"):
            remember(workspace, "ours", clock=CLOCK, durable=True, heading="A")
        assert note.read_text() == "## A\n\n## B\n" + "- theirs\n" * 5

    def test_what_a_crash_left_behind_is_no_obstacle(self, workspace, root, write, tmp_path):
        write("MEMORY.md", "## A\n\n## B\n")
        (tmp_path / "precious").write_text("precious")
        (root / ".MEMORY.md.memlane.tmp").symlink_to(tmp_path / "precious")
        remember(workspace, "x", clock=CLOCK, durable=True, heading="A")
        assert (root / "MEMORY.md").read_text() == "## A\n\n- x\n\n## B\n"
        assert (tmp_path / "precious").read_text() == "precious"
        assert not (root / ".MEMORY.md.memlane.tmp").is_symlink()


@pytest.mark.usefixtures("way_of_opening")
class TestRefused:
    def test_a_missing_workspace_is_not_made(self, tmp_path):
        with pytest.raises(WorkspaceError, match="there is no workspace folder"):
            remember(Workspace(tmp_path / "nowhere"), "tea", clock=CLOCK)
        assert not (tmp_path / "nowhere").exists()

    def test_linked_targets_stay_as_they_are(self, workspace, root, tmp_path):
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "a.md").write_text("theirs")
        (root / "MEMORY.md").symlink_to(outside / "a.md")
        with pytest.raises(WorkspaceError) as caught:
            remember(workspace, "tea", clock=CLOCK, durable=True)
        assert str(caught.value) == (
            f"cannot write {root}/MEMORY.md: "
            "a symbolic link, which is never followed, stands where a file should be"
        )
        assert caught.value.hint == "move it away, then try again; a folder elsewhere can be an extra path"
        (root / "memory").symlink_to(outside)
        with pytest.raises(WorkspaceError, match=f"cannot write {root}/memory: {LINK} a folder"):
            remember(workspace, "tea", clock=CLOCK)
        (root / "memory").unlink()
        (root / "memory").mkdir()
        (root / LOG).symlink_to(outside / "a.md")
        with pytest.raises(WorkspaceError, match=f"cannot write {root}/{LOG}: {LINK} a file"):
            remember(workspace, "tea", clock=CLOCK)
        (root / LOG).unlink()
        (root / LOG).symlink_to(outside / "new.md")
        with pytest.raises(WorkspaceError, match=f"cannot write {root}/{LOG}: {LINK} a file"):
            remember(workspace, "tea", clock=CLOCK)
        assert [path.name for path in outside.iterdir()] == ["a.md"]
        assert (outside / "a.md").read_text() == "theirs"

    def test_pipes_and_folders(self, workspace, root):
        (root / "memory").mkdir()
        os.mkfifo(root / LOG)
        (root / "MEMORY.md").mkdir()
        for durable, found in ((False, "a pipe, device or socket"), (True, "a folder")):
            with pytest.raises(WorkspaceError, match=f": {found} stands where a file should be$"):
                remember(workspace, "tea", clock=CLOCK, durable=durable)

    def test_a_file_in_place_of_a_folder(self, workspace, root, write):
        write("memory")
        for place, where in ((workspace, root / "memory"), (Workspace(root / "memory"), root / "memory")):
            with pytest.raises(WorkspaceError) as caught:
                remember(place, "tea", clock=CLOCK)
            assert str(caught.value) == f"cannot write {where}: a file stands where a folder should be"
            assert caught.value.hint == "move it away, then try again"

    @pytest.mark.parametrize("options", [{}, {"durable": True}, {"durable": True, "heading": "A"}])
    @pytest.mark.parametrize(
        ("old", "flaw"),
        [
            ("## A\n\n- tea\n\n## B\n".encode("utf-16"), "invalid UTF-8 at byte 0"),
            ("## A\n\n- tea\n\n## B\n".encode("utf-16-le"), "NUL at byte 1"),
            (b"## A\n\n- tea\n\n## B\n\0", "NUL at byte 18"),
            (b"## A\n\n- caf\xe9\n\n## B\n", "invalid UTF-8 at byte 11"),
        ],
    )
    def test_a_note_that_is_not_utf8_stays_as_it_is(self, workspace, root, write, options, old, flaw):
        path = write("MEMORY.md" if options else LOG, old)
        for text in ("tea", "milk"):
            with pytest.raises(WorkspaceError) as caught:
                remember(workspace, text, clock=CLOCK, **options)
            assert str(caught.value) == f"cannot write {path}: it is not UTF-8 text, {flaw}"
            assert caught.value.hint == (
                "save it as UTF-8 or move it away, then try again; nothing was written"
            )
        assert path.read_bytes() == old

    def test_a_linked_lock_file(self, workspace, root, tmp_path):
        (tmp_path / "precious").write_text("precious")
        (root / ".memlane.lock").symlink_to(tmp_path / "precious")
        with pytest.raises(WorkspaceError, match=r"cannot write .*/\.memlane\.lock: "):
            remember(workspace, "tea", clock=CLOCK)
        assert (tmp_path / "precious").read_text() == "precious"

    def test_no_permission_names_the_file(self, workspace, root, write, monkeypatch):
        write(LOG, "old\n")
        real = os.open

        def denied(path, *args, **kwargs):
            if str(path).endswith("2026-02-10.md"):
                raise PermissionError(13, "Permission denied", path)
            return real(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", denied)
        with pytest.raises(WorkspaceError) as caught:
            remember(workspace, "tea", clock=CLOCK)
        assert str(caught.value) == f"cannot write {root}/{LOG}: Permission denied"
        assert caught.value.hint == "check the permissions there"

    def test_a_writer_that_never_ends(self, workspace, root, monkeypatch):
        import filelock

        monkeypatch.setattr("memlane.workspace.daily._PATIENCE", 0.0)
        with (
            filelock.FileLock(root / ".memlane.lock"),
            pytest.raises(WorkspaceError, match="another process"),
        ):
            remember(workspace, "tea", clock=CLOCK)
        assert not (root / "memory").exists()


@pytest.mark.usefixtures("way_of_opening")
class TestFullDisk:
    @pytest.fixture
    def full(self, monkeypatch):
        """A disk with room for five more bytes."""
        real, room = os.write, [5]

        def write(descriptor, data):
            if not room[0]:
                raise OSError(28, "No space left on device")
            count = min(room[0], len(data))
            room[0] -= count
            return real(descriptor, bytes(data)[:count])

        monkeypatch.setattr("memlane.workspace.daily.os.write", write)

    def test_an_append_leaves_nothing_half_written(self, workspace, root, write, full):
        write(LOG, "old\n")
        with pytest.raises(WorkspaceError) as caught:
            remember(workspace, "tea and more", clock=CLOCK)
        assert str(caught.value) == f"cannot write {root}/{LOG}: No space left on device"
        assert caught.value.hint == "free some space and try again; nothing was left half-written"
        assert (root / LOG).read_text() == "old\n"

    def test_nor_an_empty_new_log(self, workspace, root, full):
        with pytest.raises(WorkspaceError):
            remember(workspace, "tea and more", clock=CLOCK)
        assert list((root / "memory").iterdir()) == []

    def test_nor_an_insertion(self, workspace, root, write, full):
        write("MEMORY.md", "## A\n\n## B\n")
        with pytest.raises(WorkspaceError):
            remember(workspace, "tea and more", clock=CLOCK, durable=True, heading="A")
        assert (root / "MEMORY.md").read_text() == "## A\n\n## B\n"
        assert sorted(path.name for path in root.iterdir()) == [".memlane.lock", "MEMORY.md"]

    def test_a_disk_that_fails_at_the_last_moment(self, workspace, root, write, monkeypatch):
        write(LOG, "old\n")

        def fsync(descriptor):
            raise OSError(5, "Input/output error")

        monkeypatch.setattr("memlane.workspace.daily.os.fsync", fsync)
        with pytest.raises(WorkspaceError, match="Input/output error"):
            remember(workspace, "tea", clock=CLOCK)
        assert (root / LOG).read_text() == "old\n"

    def test_short_writes_are_completed(self, workspace, root, monkeypatch):
        real = os.write
        monkeypatch.setattr("memlane.workspace.daily.os.write", lambda fd, data: real(fd, bytes(data)[:3]))
        remember(workspace, "tea", clock=CLOCK)
        assert (root / LOG).read_text() == "# 2026-02-10\n\n- 09:05 tea\n"


class TestManyWriters:
    PROGRAM = """
import sys
from datetime import datetime, timezone
from pathlib import Path
from memlane.clock import FixedClock
from memlane.workspace import Workspace, remember

clock = FixedClock(datetime(2026, 2, 10, 9, 5, tzinfo=timezone.utc))
workspace = Workspace(Path(sys.argv[1]))
for number in range(100):
    text = f"{sys.argv[2]} {number}" + " and so on" * number
    if sys.argv[3] == "log":
        assert remember(workspace, text, clock=clock).added
    else:
        assert remember(workspace, text, clock=clock, durable=True, heading=sys.argv[2]).added
"""

    @pytest.mark.parametrize("where", ["log", "curated"])
    def test_two_processes_lose_and_tear_nothing(self, root, where):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", self.PROGRAM, str(root), name, where], stderr=subprocess.PIPE
            )
            for name in ("first", "second")
        ]
        for writer in writers:
            _, complaint = writer.communicate(timeout=120)
            assert (writer.returncode, complaint.decode()) == (0, "")
        time = "09:05 " if where == "log" else ""
        lines = (root / (LOG if where == "log" else "MEMORY.md")).read_text().split("\n")
        for name in ("first", "second"):
            assert [line for line in lines if name in line and line.startswith("- ")] == [
                f"- {time}{name} {number}" + " and so on" * number for number in range(100)
            ]
        assert len([line for line in lines if line.startswith("- ")]) == 200

    def test_threads_lose_nothing_either(self, workspace, root):
        with ThreadPoolExecutor(4) as pool:
            written = list(pool.map(lambda n: remember(workspace, f"entry {n}", clock=CLOCK), range(40)))
        assert sorted(found.line for found in written) == list(range(3, 43))
        lines = (root / LOG).read_text().split("\n")
        for number, found in enumerate(written):
            assert lines[found.line - 1] == f"- 09:05 entry {number}"

    def test_the_lock_is_the_owners_and_no_note(self, workspace, root):
        remember(workspace, "tea", clock=CLOCK)
        lock = root / ".memlane.lock"
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        assert [path.name for path in (root / "memory").iterdir()] == ["2026-02-10.md"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors by /proc")  # noqa: PTH112
def test_no_descriptor_stays_open(workspace, root, write):
    def exercise():
        remember(workspace, "tea", clock=CLOCK)
        remember(workspace, "tea", clock=CLOCK, durable=True, heading="A")
        read_lines(workspace, LOG)
        read_lines(workspace, "memory/none/none.md")
        for path in ("memory/pipe.md", "memory/folder.md/x.md", "memory/file.md/x.md"):
            try:
                read_lines(workspace, path)
            except UsageError:
                continue

    write("memory/file.md")
    write("memory/folder.md/a.md")
    os.mkfifo(root / "memory" / "pipe.md")
    exercise()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(5):
        exercise()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
