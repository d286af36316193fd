from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memlane.index.plan import plan_sync
from memlane.index.store import IndexedFile, RemoveFile
from memlane.values import FileEntry, FileFailure, Source, TreeScan


def entry(path: str, *, size: int = 10, mtime_ns: int = 1, evergreen: bool = True) -> FileEntry:
    return FileEntry(path, f"/notes/{path}", "memory", size, mtime_ns, inode=7, evergreen=evergreen)


def indexed(*entries: FileEntry, failure: str | None = None) -> dict[tuple[Source, str], IndexedFile]:
    return {
        (one.source, one.path): IndexedFile(
            one.path,
            one.source,
            "digest",
            one.size,
            one.mtime_ns,
            one.inode,
            one.device,
            one.location,
            None,
            False,
            one.evergreen,
            failure,
        )
        for one in entries
    }


def test_nothing_changed() -> None:
    plan = plan_sync(TreeScan((entry("a"), entry("b"))), indexed(entry("a"), entry("b")))
    assert plan.empty
    assert plan.unchanged == 2


def test_new_changed_and_gone() -> None:
    before = indexed(entry("kept"), entry("grown"), entry("touched"), entry("gone"))
    now = (entry("kept"), entry("grown", size=11), entry("touched", mtime_ns=2), entry("new"))
    plan = plan_sync(TreeScan(now), before)
    assert [one.path for one in plan.read] == ["grown", "touched", "new"]
    assert plan.remove == (RemoveFile("gone", "memory"),)
    assert plan.unchanged == 1


def test_a_replaced_file_is_read_even_with_size_and_time_kept() -> None:
    plan = plan_sync(TreeScan((replace(entry("a"), inode=8),)), indexed(entry("a")))
    assert [one.path for one in plan.read] == ["a"]


def test_a_setting_that_changes_only_attributes_reads_nothing() -> None:
    plan = plan_sync(TreeScan((entry("a", evergreen=False),)), indexed(entry("a")))
    assert not plan.read
    assert [change.entry.evergreen for change in plan.refresh] == [False]


def test_a_moved_workspace_is_followed_without_reading() -> None:
    moved = replace(entry("a"), location="/elsewhere/a")
    plan = plan_sync(TreeScan((moved,)), indexed(entry("a")))
    assert not plan.read
    assert [change.entry.location for change in plan.refresh] == ["/elsewhere/a"]


def test_notes_in_a_folder_that_cannot_be_listed_are_kept() -> None:
    scan = TreeScan((entry("memory/a.md"),), failed=(FileFailure("memory/sub", "Input/output error"),))
    plan = plan_sync(scan, indexed(entry("memory/a.md"), entry("memory/sub/b.md"), entry("memory/gone.md")))
    assert plan.remove == (RemoveFile("memory/gone.md", "memory"),)


def test_known_failures_are_reported_and_not_read_again() -> None:
    plan = plan_sync(TreeScan((entry("bad"),)), indexed(entry("bad"), failure="NUL at byte 3"))
    assert plan.empty
    assert [(one.path, one.reason) for one in plan.failed] == [("bad", "NUL at byte 3")]


def test_force_reads_everything() -> None:
    plan = plan_sync(TreeScan((entry("a"), entry("b"))), indexed(entry("a")), force=True)
    assert len(plan.read) == 2


def test_losing_most_of_a_tree_is_doubted_and_a_few_files_are_not() -> None:
    many = [entry(f"{number}") for number in range(30)]
    assert plan_sync(TreeScan(tuple(many[:14])), indexed(*many)).doubt
    assert not plan_sync(TreeScan(tuple(many[:16])), indexed(*many)).doubt
    assert not plan_sync(TreeScan(()), indexed(*many[:10])).doubt
    assert not plan_sync(TreeScan(()), indexed(*many), force=True).doubt


def test_a_vanished_extra_path_is_doubted_even_when_small() -> None:
    scan = TreeScan((entry("a"),), absent=("/notes/team",))
    assert plan_sync(scan, indexed(entry("a"), entry("team/x.md"))).doubt
    assert not plan_sync(scan, indexed(entry("a"), entry("team-b/x.md"))).doubt
    assert plan_sync(scan, indexed(entry("a"), entry("team"))).doubt


def test_a_file_that_may_not_be_read_is_left_alone_until_it_may() -> None:
    barred = indexed(entry("bad", mtime_ns=0), failure="Permission denied")
    scan = TreeScan((entry("bad", mtime_ns=5),))
    plan = plan_sync(scan, barred, is_readable=lambda _: False)
    assert plan.empty
    assert [(one.path, one.reason) for one in plan.failed] == [("bad", "Permission denied")]
    assert [one.path for one in plan_sync(scan, barred, is_readable=lambda _: True).read] == ["bad"]
    replaced = TreeScan((replace(entry("bad", mtime_ns=5), inode=8),))
    assert [one.path for one in plan_sync(replaced, barred, is_readable=lambda _: False).read] == ["bad"]


def test_the_same_doubt_has_the_same_name() -> None:
    many = [entry(f"{number}") for number in range(30)]
    first = plan_sync(TreeScan(tuple(many[:5])), indexed(*many))
    second = plan_sync(TreeScan(tuple(many[:5])), indexed(*many))
    other = plan_sync(TreeScan(tuple(many[:4])), indexed(*many))
    assert first.doubt == second.doubt != other.doubt


_ENTRIES = st.lists(
    st.builds(entry, st.sampled_from("abcdefgh"), size=st.integers(1, 2), mtime_ns=st.integers(1, 2)),
    unique_by=lambda one: one.path,
)


@given(_ENTRIES, _ENTRIES)
def test_every_file_is_accounted_for_once(before: list[FileEntry], now: list[FileEntry]) -> None:
    plan = plan_sync(TreeScan(tuple(now)), indexed(*before))
    assert len(plan.read) + plan.unchanged == len(now)
    assert {change.path for change in plan.remove} == {e.path for e in before} - {e.path for e in now}
    assert plan_sync(TreeScan(tuple(now)), indexed(*now)).empty
