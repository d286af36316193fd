from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlane.errors import UsageError, WorkspaceError
from memlane.values import Excerpt
from memlane.workspace import Workspace, read_lines


def read(workspace, write, content, **options):
    write("memory/a.md", content)
    return read_lines(workspace, "memory/a.md", **options)


class TestLines:
    def test_two_lines_and_an_exact_page_says_no_more(self, workspace, write):
        expected = Excerpt("memory/a.md", "a\nb", start=1, lines=2, exists=True)
        assert read(workspace, write, "a\nb\n") == expected
        assert read(workspace, write, "a\nb\n", lines=2) == expected
        assert read(workspace, write, "a\nb", lines=2) == expected

    def test_a_page_says_where_to_go_on(self, workspace, write):
        assert read(workspace, write, "a\nb\nc\n", start=2, lines=1) == Excerpt(
            "memory/a.md", "b", start=2, lines=1, exists=True, truncated=True, next_start=3
        )

    def test_an_empty_file_has_no_lines(self, workspace, write):
        for content in ("", b"\xef\xbb\xbf"):
            assert read(workspace, write, content) == Excerpt(
                "memory/a.md", "", start=1, lines=0, exists=True, eof=True
            )

    def test_beyond_the_end(self, workspace, write):
        assert read(workspace, write, "a\n", start=2, lines=5) == Excerpt(
            "memory/a.md", "", start=2, lines=0, exists=True, eof=True
        )
        assert read(workspace, write, "a\n", start=10**30).eof

    def test_blank_lines_are_lines(self, workspace, write):
        assert read(workspace, write, "\n\n").lines == 2

    @pytest.mark.parametrize(
        "text", ["a\u2028b", "a\u2029b", "a\x0bb", "a\x0cb", "a\x85b", "a\x1cb", "a\rb", "a\r", "\r"]
    )
    def test_only_newlines_end_a_line(self, workspace, write, text):
        found = read(workspace, write, f"{text}\nnext\n", lines=1)
        if text.endswith("\r"):
            assert found.text == text[:-1]
        else:
            assert found.text == text
        assert found.next_start == 2
        assert read(workspace, write, text).text == text

    def test_line_endings_and_bom_do_not_show(self, workspace, write):
        plain = read(workspace, write, "a\nb\n")
        for content in (b"a\r\nb\r\n", b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfa\nb"):
            assert read(workspace, write, content) == plain

    def test_undecodable_bytes_do_not_keep_a_reader_out(self, workspace, write):
        assert read(workspace, write, b"ok \xff\xfe\nmore\0\n").text == "ok \ufffd\ufffd\nmore\0"

    @pytest.mark.parametrize(("option", "number"), [("start", 0), ("start", -3), ("lines", 0), ("lines", -1)])
    def test_numbers_below_one_are_refused(self, workspace, option, number):
        with pytest.raises(UsageError) as caught:
            read_lines(workspace, "memory/none.md", **{option: number})
        assert str(caught.value) == f"`{option}` must be 1 or more, not {number}"


class TestDefaultLimits:
    def test_four_hundred_lines(self, workspace, write):
        found = read(workspace, write, "x\n" * 401)
        assert (found.lines, found.truncated, found.next_start) == (400, True, 401)
        assert not read(workspace, write, "x\n" * 400).truncated
        assert read(workspace, write, "x\n" * 500, lines=450).lines == 450

    def test_twenty_four_thousand_characters(self, workspace, write):
        line = "x" * 5_999
        assert read(workspace, write, f"{line}\n" * 4).lines == 4
        found = read(workspace, write, f"{line}\n" * 3 + f"{line}xx\n")
        assert (found.lines, found.next_start) == (3, 4)
        assert read(workspace, write, f"{line}\n" * 9, lines=9).lines == 9

    def test_an_over_long_line_is_cut_and_reading_goes_on_after_it(self, workspace, write):
        assert read(workspace, write, "y" * 50_000 + "\nz\n") == Excerpt(
            "memory/a.md", "y" * 24_000, start=1, lines=1, exists=True, truncated=True, next_start=2
        )
        assert read(workspace, write, "a\n" + "y" * 50_000 + "\nz\n").text == "a"
        assert not read(workspace, write, "y" * 24_000).truncated

    def test_a_cut_last_line_is_said_too(self, workspace, write):
        found = read(workspace, write, "a\n" + "\U0001f375" * 24_001, start=2)
        assert (found.text, found.truncated, found.next_start) == ("\U0001f375" * 24_000, True, 3)
        assert read_lines(workspace, "memory/a.md", start=3).eof

    def test_two_hundred_thousand_characters_however_many_lines_are_asked_for(self, workspace, write):
        line = "x" * 49_999
        whole = read(workspace, write, f"{line}\n" * 4, lines=4)
        assert (len(whole.text), whole.truncated) == (199_999, False)
        found = read(workspace, write, f"{line}\n" * 3 + f"{line}xx\n", lines=4)
        assert (found.lines, found.truncated, found.next_start) == (3, True, 4)
        cut = read(workspace, write, "y" * 200_001 + "\nz\n", lines=1)
        assert (len(cut.text), cut.lines, cut.truncated, cut.next_start) == (200_000, 1, True, 2)


@pytest.fixture(scope="module")
def note(tmp_path_factory):
    workspace = Workspace(tmp_path_factory.mktemp("paging"))
    (workspace.root / "memory").mkdir()
    return workspace, workspace.root / "memory" / "a.md"


TEXTS = st.text(st.sampled_from("ab \n\n\r\u2028\x0b\x0c\x85é한") | st.characters(codec="utf-8"), max_size=60)


@given(text=TEXTS, size=st.integers(1, 7) | st.none())
@example(text="a\u2028b\n\nc\rd\x85\n", size=1)
def test_pages_joined_are_the_text(note, text, size):
    workspace, path = note
    path.write_bytes(text.encode())
    pages, start = [], 1
    while True:
        page = read_lines(workspace, "memory/a.md", start=start, lines=size)
        assert page.lines == (0 if page.eof else page.text.count("\n") + 1)
        assert page.truncated == (page.next_start is not None)
        pages += [] if page.eof else [page.text]
        if page.next_start is None:
            break
        assert page.next_start == start + page.lines > start
        start = page.next_start
    assert "\n".join(pages) == text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")


@given(lines=st.lists(st.text("ab\u2028 ", max_size=5), min_size=1, max_size=12), data=st.data())
def test_a_range_gives_exactly_its_lines(note, lines, data):
    workspace, path = note
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    page = read_lines(workspace, "memory/a.md", start=first, lines=last - first + 1)
    assert page.text == "\n".join(lines[first - 1 : last])
    assert page.next_start == (last + 1 if last < len(lines) else None)


def test_an_error_while_reading_names_the_note(workspace, write, monkeypatch):
    write("memory/a.md")

    def fails(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("memlane.workspace.read.read_all", fails)
    with pytest.raises(WorkspaceError, match=r"^cannot read memory/a\.md: Input/output error$"):
        read_lines(workspace, "memory/a.md")
