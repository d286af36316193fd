from __future__ import annotations

import os
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.errors import WorkspaceError
from memlane.workspace import UnreadableNote, read_document


def failure(location) -> UnreadableNote:
    with pytest.raises(UnreadableNote) as caught:
        read_document(str(location))
    assert isinstance(caught.value, WorkspaceError)
    assert str(caught.value) == f"{location}: {caught.value.reason}"
    return caught.value


@pytest.mark.usefixtures("way_of_opening")
class TestDocument:
    def test_lf_crlf_and_bom_are_one_document(self, tmp_path):
        documents = set()
        for number, data in enumerate((b"# T\n\na\n", b"# T\r\n\r\na\r\n", b"\xef\xbb\xbf# T\r\n\r\na\r\n")):
            (tmp_path / f"{number}.md").write_bytes(data)
            documents.add(read_document(str(tmp_path / f"{number}.md")))
        (document,) = documents
        assert document.text == "# T\n\na\n"
        assert document.digest == sha256(b"# T\n\na\n").hexdigest()

    def test_a_lone_carriage_return_is_text(self, tmp_path):
        (tmp_path / "a.md").write_bytes(b"a\rb\r\r\nc")
        assert read_document(str(tmp_path / "a.md")).text == "a\rb\r\nc"

    def test_reading_changes_nothing(self, tmp_path):
        note = tmp_path / "a.md"
        note.write_bytes(b"---\r\n**LETTERHEAD**\r\n---\r\n")
        before = note.stat()
        assert read_document(str(note)).text == "---\n**LETTERHEAD**\n---\n"
        after = note.stat()
        assert (after.st_mtime_ns, after.st_size, after.st_mode) == (
            before.st_mtime_ns,
            before.st_size,
            before.st_mode,
        )

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"caf\xe9 au lait", "invalid UTF-8 at byte 3"),
            (b"\xef\xbb\xbfab\xff", "invalid UTF-8 at byte 5"),
            (b"ab\0cd", "NUL at byte 2"),
            (b"a\0\xff", "NUL at byte 1"),
            (b"\xff\0", "invalid UTF-8 at byte 0"),
            (b"\xed\xa0\x80", "invalid UTF-8 at byte 0"),
            ("Ä".encode("utf-16"), "invalid UTF-8 at byte 0"),
        ],
    )
    def test_what_is_not_text_fails_with_the_byte(self, tmp_path, data, reason):
        (tmp_path / "a.md").write_bytes(data)
        assert failure(tmp_path / "a.md").reason == reason

    def test_a_file_that_vanished(self, tmp_path):
        assert failure(tmp_path / "a.md").reason == "no longer there"
        assert failure(tmp_path / "no" / "a.md").reason == "no longer there"

    def test_a_file_that_became_something_else(self, tmp_path):
        (tmp_path / "real.md").write_text("x")
        (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
        os.mkfifo(tmp_path / "pipe.md")
        (tmp_path / "folder.md").mkdir()
        for name in ("link.md", "pipe.md", "folder.md"):
            assert failure(tmp_path / name).reason == "no longer a regular file"

    def test_a_file_without_permission(self, tmp_path, monkeypatch):
        (tmp_path / "a.md").write_text("x")
        real = os.open

        def denied(path, *args, **kwargs):
            if str(path).endswith("a.md"):
                raise PermissionError(13, "Permission denied", path)
            return real(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", denied)
        assert failure(tmp_path / "a.md").reason == "cannot be read: Permission denied"


@given(st.binary(max_size=40))
def test_any_bytes_give_a_document_or_a_reason(tmp_path_factory, data):
    note = tmp_path_factory.getbasetemp() / "any.md"
    note.write_bytes(data)
    try:
        document = read_document(str(note))
    except UnreadableNote as error:
        assert error.reason.startswith(("invalid UTF-8 at byte ", "NUL at byte "))
        assert data[int(error.reason.rsplit(" ", 1)[1])] in {0, *range(0x80, 0x100)}
    else:
        assert document.text == data.decode().removeprefix("\ufeff").replace("\r\n", "\n")
