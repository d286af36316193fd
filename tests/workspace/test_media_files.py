from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests import media_files as made

from memlane.errors import PathRefused
from memlane.values import FileFailure
from memlane.workspace import (
    ExtraPath,
    MediaRules,
    UnreadableNote,
    Workspace,
    inspect_media,
    read_lines,
    read_media,
    resolve_readable,
    scan_tree,
)
from memlane.workspace.media import HEAD_BYTES, mime_type, modality_by_name, tag_length
from memlane.workspace.watch import watched_folders

ALL = MediaRules(("image", "audio"), 10_000)


def with_media(root: Path, *extra: ExtraPath, rules: MediaRules = ALL) -> Workspace:
    return Workspace(root, extra or (ExtraPath("pictures"),), media=rules)


def found(workspace: Workspace) -> dict[str, str | None]:
    return {entry.path: entry.media for entry in scan_tree(workspace).files}


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.png", made.png(), "image/png"),
        ("a.jpg", made.jpeg(), "image/jpeg"),
        ("a.jpeg", made.png(), "image/png"),
        ("a.gif", made.gif(), "image/gif"),
        ("a.webp", made.webp(), "image/webp"),
        ("a.heic", made.heic(), "image/heic"),
        ("a.heif", made.heif(), "image/heif"),
        ("a.heic", made.avif(), ""),
        ("a.mp3", made.mp3(), "audio/mpeg"),
        ("a.mp3", made.mp3(version=2), "audio/mpeg"),
        ("a.mp3", made.mp3(checksum=True), "audio/mpeg"),
        ("a.mp3", made.tagged(made.mp3()), "audio/mpeg"),
        ("a.wav", made.wav(), "audio/wav"),
        ("a.ogg", made.ogg("vorbis"), "audio/ogg"),
        ("a.opus", made.ogg("opus"), "audio/ogg"),
        ("a.ogg", made.ogg("theora"), ""),
        ("a.flac", made.flac(), "audio/flac"),
        ("a.aac", made.aac(), "audio/aac"),
        ("a.m4a", made.m4a(), "audio/mp4"),
        ("a.M4A", made.m4a(b"mp42"), "audio/mp4"),
        ("a.heic", made.m4a(b"isom"), ""),
        ("a.jpg", b"<!DOCTYPE html><html></html>", ""),
        ("a.wav", b"RIFF\x24\0\0\0AVI LIST", ""),
        ("a.mp3", "\ufeffhello".encode("utf-16-le"), ""),
        ("a.mp3", b"\xff\xff\xff\xff", ""),
        ("a.mp3", b"\xff", ""),
        ("a.png", b"", ""),
        ("a.heic", b"\0\0\0\x08ftyp", ""),
    ],
)
def test_the_content_tells_what_a_file_is(name: str, data: bytes, expected: str) -> None:
    assert mime_type(data[:HEAD_BYTES], name) == expected


@pytest.mark.parametrize("length", range(48))
def test_a_file_that_ends_early_is_no_trouble(length: int) -> None:
    for data in (made.png(), made.heic(), made.m4a(), made.tagged(made.mp3()), made.mp3(), made.ogg()):
        mime_type(data[:length], "a.m4a")
        tag_length(data[:length])


def test_names_tell_the_modality_in_any_case() -> None:
    assert [modality_by_name(name) for name in ("A.JPG", "x/b.Heif", "c.opus", "d.M4A")] == [
        *("image", "image", "audio", "audio")
    ]
    assert [modality_by_name(name) for name in ("jpg", "a.md", "a.jpg.md", "a.svg", "a.mp4", "")] == [
        None
    ] * 6


class TestDiscovery:
    def test_only_under_extra_paths(self, root, write):
        for path in ("pictures/a.PNG", "pictures/deep/b.mp3", "pictures/c.md", "memory/d.png", "e.png"):
            write(path)
        expected = {"pictures/a.PNG": "image", "pictures/c.md": None, "pictures/deep/b.mp3": "audio"}
        assert found(with_media(root)) == expected

    def test_off_means_none(self, root, write):
        write("pictures/a.png")
        assert found(Workspace(root, (ExtraPath("pictures"),))) == {}

    def test_the_modalities_that_are_wanted(self, root, write):
        write("pictures/a.png")
        write("pictures/b.mp3")
        assert found(with_media(root, rules=MediaRules(("audio",), 100))) == {"pictures/b.mp3": "audio"}

    def test_an_extra_path_below_memory_and_one_that_is_a_file(self, root, write, tmp_path):
        write("memory/pictures/a.png")
        write("memory/pictures/b.md")
        (tmp_path / "voice.ogg").write_bytes(made.ogg())
        workspace = with_media(
            root, ExtraPath("memory/pictures"), ExtraPath(str(tmp_path / "voice.ogg"), "**/*.txt")
        )
        assert found(workspace) == {
            "memory/pictures/b.md": None,
            "memory/pictures/a.png": "image",
            f"{tmp_path.as_posix()}/voice.ogg": "audio",
        }

    def test_the_usual_pattern_hides_no_media_and_another_one_governs_both(self, root, write):
        for path in ("pictures/a.png", "pictures/b.md", "pictures/trip/c.png", "pictures/trip/d.jpg"):
            write(path)
        assert len(found(with_media(root, ExtraPath("pictures", "**/*.md")))) == 4
        assert found(with_media(root, ExtraPath("pictures", "trip/*.{png,md}"))) == {
            "pictures/trip/c.png": "image"
        }

    def test_ignored_folders_and_files_and_links(self, root, write):
        for path in ("pictures/.trash/a.png", "pictures/.b.png", "pictures/node_modules/c.png"):
            write(path)
        write("pictures/d.png")
        (root / "pictures/e.png").symlink_to("d.png")
        scan = scan_tree(with_media(root))
        assert [entry.path for entry in scan.files] == ["pictures/d.png"]
        assert scan.skipped_links == ("pictures/e.png",)

    def test_larger_files_are_listed_with_the_reason(self, root, write):
        write("pictures/a.png", b"x" * 10_001)
        write("pictures/b.png", b"x" * 10_000)
        write("pictures/c.md", "x" * 20_000)
        scan = scan_tree(with_media(root))
        assert [entry.path for entry in scan.files] == ["pictures/b.png", "pictures/c.md"]
        reason = "10,001 bytes, more than multimodal.maxFileBytes (10,000)"
        assert scan.skipped == (FileFailure("pictures/a.png", reason),)

    def test_a_second_name_of_a_file_counts_once(self, root, write):
        os.link(write("pictures/a.png"), root / "pictures/b.png")
        assert found(with_media(root)) == {"pictures/a.png": "image"}

    def test_a_note_hidden_by_nothing(self, root, write):
        write("pictures/写真 🏔.png")
        assert found(with_media(root)) == {"pictures/写真 🏔.png": "image"}

    def test_their_folders_are_watched(self, root, write):
        write("pictures/deep/a.png")
        assert str(root / "pictures/deep") in set(watched_folders(with_media(root)))


class TestReading:
    def test_the_bytes_are_read_and_known_again(self, write, way_of_opening):
        path = str(write("pictures/a.png", made.png()))
        looked = inspect_media(path, "image")
        assert read_media(path, "image", size=len(made.png())) == (looked, made.png())
        assert looked.mime_type == "image/png"
        assert (
            inspect_media(str(write("pictures/b.png", made.png((1, 1, 1)))), "image").digest != looked.digest
        )

    @pytest.mark.parametrize(
        ("modality", "data", "reason"),
        [
            (
                "image",
                b"<html>",
                "not an image of a kind that can be embedded: its content is of another kind",
            ),
            ("image", b"", "not an image of a kind that can be embedded: it is empty"),
            ("image", made.mp3(), "not an image of a kind that can be embedded: it is audio/mpeg"),
            ("audio", made.png(), "not an audio file of a kind that can be embedded: it is image/png"),
        ],
    )
    def test_what_is_not_what_its_name_says_is_refused(self, write, modality, data, reason):
        with pytest.raises(UnreadableNote) as caught:
            inspect_media(str(write("pictures/a.jpg", data)), modality)
        assert caught.value.reason == reason

    def test_behind_a_long_tag_the_sound_decides(self, write):
        flac = write("pictures/a.flac", made.tagged(made.flac(), tag_bytes=5000))
        assert inspect_media(str(flac), "audio").mime_type == "audio/flac"
        cut = write("pictures/b.mp3", made.tagged(b"", tag_bytes=5000)[:3000])
        assert inspect_media(str(cut), "audio").mime_type == "audio/mpeg"

    def test_a_file_that_grew_or_went_away(self, write):
        path = write("pictures/a.png", made.png())
        with pytest.raises(UnreadableNote, match="changed while it was indexed"):
            read_media(str(path), "image", size=3)
        path.unlink()
        with pytest.raises(UnreadableNote, match="no longer there"):
            read_media(str(path), "image", size=3)
        path.symlink_to("elsewhere.png")
        with pytest.raises(UnreadableNote, match="no longer a regular file"):
            inspect_media(str(path), "image")


class TestGet:
    def test_media_are_refused_by_what_they_are_whether_or_not_they_exist(self, root, write):
        write("pictures/a.png", made.png())
        workspace = with_media(root)
        for path, kind in (("pictures/a.png", "an image"), ("pictures/none.MP3", "an audio file")):
            with pytest.raises(PathRefused) as caught:
                read_lines(workspace, path)
            assert str(caught.value) == f"'{path}' is {kind}, which has no lines to read"
            assert "searches find it" in caught.value.hint

    def test_elsewhere_and_when_off_they_are_refused_like_anything(self, root, write):
        write("memory/a.png", made.png())
        with pytest.raises(PathRefused, match="may not be read"):
            resolve_readable(with_media(root), "memory/a.png")
        with pytest.raises(PathRefused, match="may not be read"):
            resolve_readable(Workspace(root, (ExtraPath("pictures"),)), "pictures/a.png")
