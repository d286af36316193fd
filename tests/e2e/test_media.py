"""Images and audio from the file to the search result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests import media_files as made
from tests.media_embedder import MediaEmbedder

from memlane import Memory
from memlane.errors import PathRefused
from memlane.index.batches import BATCH_BYTES
from memlane.surfaces.planned import plan_text
from memlane.testing import HashEmbedder, WordReranker
from memlane.tools import search_json, value_json
from memlane.values import FileFailure

CAT, SEA, VOICE = made.jpeg(1), made.png((0, 0, 200)), made.wav(5)
SHOWN = {CAT: "a sleeping tabby cat", SEA: "stormy ocean waves", VOICE: "grandmother tells of the war"}
MULTIMODAL = {"provider": "gemini", "model": "gemini-embedding-2", "multimodal": {"enabled": True}}

Open = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "memory").mkdir(parents=True)
    (root / "memory/pets.md").write_text("# Pets\n\nThe vet has new opening hours.\n")
    folder = root / "pictures"
    folder.mkdir()
    (folder / "IMG_1.jpg").write_bytes(CAT)
    (folder / "holiday.png").write_bytes(SEA)
    (folder / "memo.wav").write_bytes(VOICE)
    return root


@pytest.fixture
def opened(root: Path, tmp_path: Path) -> Open:
    @contextmanager
    def open_memory(embedder: HashEmbedder, **changes: Any) -> Iterator[Memory]:
        options = {name: changes.pop(name) for name in ("reranker", "observer") if name in changes}
        settings = {**MULTIMODAL, "extraPaths": ["pictures"], **changes}
        with Memory.open(
            workspace=root,
            state_dir=tmp_path / "state",
            environ={},
            embedder=embedder,
            memory_search=settings,
            **options,
        ) as memory:
            yield memory

    return open_memory


def test_words_find_what_is_shown_and_said(opened: Open) -> None:
    embedder = MediaEmbedder(SHOWN)
    with opened(embedder) as memory:
        for query, path in (
            ("sleeping tabby cat", "pictures/IMG_1.jpg"),
            ("stormy ocean waves", "pictures/holiday.png"),
            ("grandmother tells of the war", "pictures/memo.wav"),
        ):
            hit = memory.search(query).hits[0]
            assert (hit.path, hit.start_line, hit.end_line) == (path, 1, 1)
            assert hit.snippet == f"{'Audio' if path.endswith('wav') else 'Image'} file: {path}"
            assert hit.score > 0.5
    assert {(one.label, one.mime_type, one.data) for one in embedder.media} == {
        ("Image file: pictures/IMG_1.jpg", "image/jpeg", CAT),
        ("Image file: pictures/holiday.png", "image/png", SEA),
        ("Audio file: pictures/memo.wav", "audio/wav", VOICE),
    }


def test_names_find_them_too_and_without_any_vector(opened: Open, root: Path) -> None:
    with opened(MediaEmbedder(SHOWN)) as memory:
        assert memory.search("holiday").hits[0].path == "pictures/holiday.png"
        assert memory.search("IMG_1.jpg").hits[0].path == "pictures/IMG_1.jpg"
    with opened(HashEmbedder()) as memory:  # takes no media
        assert memory.search("memo").hits[0].path == "pictures/memo.wav"


def test_the_vector_counts_in_full_and_the_explanation_says_so(opened: Open) -> None:
    with opened(MediaEmbedder(SHOWN)) as memory:
        result = memory.search("sleeping tabby cat", explain=True)
        explained = result.hits[0].explanation
        assert explained is not None
        assert (explained.media, explained.vector_weight, explained.text_weight) == ("image", 1.0, 0.0)
        assert explained.fused == explained.vector_score
        assert search_json(result)["results"][0]["explain"]["media"] == "image"
        by_name = memory.search("holiday png", explain=True).hits[0].explanation
        assert by_name is not None
        assert by_name.media == "image"
        assert by_name.text_weight > 0


@pytest.mark.parametrize("fusion", ["adaptive", "weighted", "rrf"])
def test_in_every_kind_of_fusion_a_picture_stands_before_a_chance_match(
    opened: Open, root: Path, fusion: str
) -> None:
    (root / "memory/chance.md").write_text("The cat food is on the shopping list.\n")
    with opened(MediaEmbedder(SHOWN), query={"hybrid": {"fusion": fusion}}) as memory:
        assert memory.search("a sleeping tabby cat").hits[0].path == "pictures/IMG_1.jpg"


def test_a_reranking_model_reads_no_file_names(opened: Open) -> None:
    reranker = WordReranker()
    with opened(MediaEmbedder(SHOWN), reranker=reranker, query={"rerank": {"deadlineMs": 0}}) as memory:
        assert memory.search("sleeping tabby cat", min_score=0.0).hits[0].path == "pictures/IMG_1.jpg"
    assert not any("IMG_1" in text for _, texts in reranker.calls for text in texts)


def test_filters_citations_and_get(opened: Open) -> None:
    with opened(MediaEmbedder(SHOWN)) as memory:
        assert [hit.path for hit in memory.search("sleeping tabby cat", path="pictures/*.wav")] != [
            "pictures/IMG_1.jpg"
        ]
        only = memory.search("sleeping tabby cat", path="pictures/**", session="agent:main:main")
        assert only.hits[0].citation == "pictures/IMG_1.jpg#L1"
        assert search_json(only)["results"][0]["startLine"] == 1
        with pytest.raises(
            PathRefused, match=r"'pictures/IMG_1\.jpg' is an image, which has no lines to read"
        ):
            memory.get("pictures/IMG_1.jpg")
        get = next(tool for tool in memory.tools() if tool.name == "memory_get")
        answer = get({"path": "pictures/memo.wav"})
        assert (answer["unavailable"], answer["code"]) == (True, "path_refused")
        assert "is an audio file" in answer["error"]


def test_unchanged_files_are_not_sent_again_and_renamed_or_changed_ones_are(opened: Open, root: Path) -> None:
    embedder = MediaEmbedder({**SHOWN, b"": ""})
    with opened(embedder) as memory:
        assert memory.sync().embedded == 4
        embedder.media.clear()
        os.utime(root / "pictures/IMG_1.jpg", (1, 1))
        assert memory.sync().embedded == 0
        (root / "pictures/IMG_1.jpg").rename(root / "pictures/cat.jpg")
        changed = made.png((9, 9, 9))
        (root / "pictures/holiday.png").write_bytes(changed)
        memory.sync()
        assert {(one.label, one.data) for one in embedder.media} == {
            ("Image file: pictures/cat.jpg", CAT),
            ("Image file: pictures/holiday.png", changed),
        }
        (root / "pictures/memo.wav").unlink()
        assert memory.sync().removed == 1
        assert "pictures/memo.wav" not in [hit.path for hit in memory.search("grandmother tells")]


def test_a_rebuild_takes_them_from_the_cache(opened: Open) -> None:
    embedder = MediaEmbedder(SHOWN)
    with opened(embedder) as memory:
        memory.sync()
        sent = len(embedder.media)
        report = memory.sync(force=True)
        assert (report.embedded, report.from_cache, len(embedder.media)) == (0, 4, sent)


def test_no_byte_of_a_file_is_stored(opened: Open, tmp_path: Path, root: Path) -> None:
    secret = made.png()[:-12] + b"SECRET-MARK-IN-THE-PICTURE" + made.png()[-12:]
    (root / "pictures/secret.png").write_bytes(secret)
    with opened(MediaEmbedder(SHOWN)) as memory:
        memory.sync()
    stored = [file for file in (tmp_path / "state").rglob("*") if file.is_file()]
    assert len(stored) > 1
    assert not any(b"SECRET-MARK" in file.read_bytes() for file in stored)


class TestRefusals:
    def test_one_is_listed_not_retried_and_stops_no_other(self, opened: Open, root: Path) -> None:
        embedder = MediaEmbedder(SHOWN, refused=[SEA])
        refusal = FileFailure(
            "pictures/holiday.png", "gemini does not take image/png: Unable to process input"
        )
        with opened(embedder) as memory:
            report = memory.sync()
            assert (report.failed, report.without_vector, report.complete) == ((refusal,), 1, True)
            assert memory.search("sleeping tabby cat").hits[0].path == "pictures/IMG_1.jpg"
            assert memory.search("holiday").hits[0].path == "pictures/holiday.png"
            calls = len(embedder.calls)
            assert memory.sync().failed == (refusal,)
            assert memory.status().statistics.failed == (refusal,)
            assert len(embedder.calls) == calls
        with opened(embedder) as memory:
            assert memory.sync().failed == (refusal,)
            assert len(embedder.calls) == calls

    def test_it_is_tried_again_when_the_file_changes_or_is_touched(self, opened: Open, root: Path) -> None:
        embedder = MediaEmbedder(SHOWN, refused=[SEA, CAT])
        with opened(embedder) as memory:
            assert len(memory.sync().failed) == 2
            embedder.refused.clear()
            os.utime(root / "pictures/holiday.png", (1, 1))
            (root / "pictures/IMG_1.jpg").write_bytes(made.jpeg(7))
            report = memory.sync()
            assert (report.failed, report.embedded) == ((), 2)
            assert memory.search("stormy ocean waves").hits[0].path == "pictures/holiday.png"

    def test_what_is_no_picture_is_listed_and_nothing_of_it_is_sent(self, opened: Open, root: Path) -> None:
        (root / "pictures/page.jpg").write_bytes(b"<!DOCTYPE html><html>not found</html>")
        embedder = MediaEmbedder(SHOWN)
        with opened(embedder) as memory:
            expected = FileFailure(
                "pictures/page.jpg",
                "not an image of a kind that can be embedded: its content is of another kind",
            )
            assert memory.sync().failed == (expected,)
            assert memory.sync().failed == (expected,)
            assert not any(b"html" in one.data for one in embedder.media)
            problems = [finding for finding in memory.doctor().findings if "page.jpg" in finding.message]
            assert "rename it to what it is, or move it out of the extra path" in {
                finding.remedy for finding in problems
            }
            assert not any("memo.wav" in finding.message for finding in memory.doctor().findings)

    def test_a_model_without_media_leaves_them_to_keywords(self, opened: Open) -> None:
        with opened(HashEmbedder()) as memory:
            report = memory.sync()
            assert [failure.reason for failure in report.failed] == ["words takes no images and no audio"] * 3
            assert report.embedded == 1


def test_too_large_files_are_listed_and_taken_in_when_the_limit_is_raised(opened: Open, root: Path) -> None:
    (root / "pictures/large.png").write_bytes(SEA + b"\0" * 5000)
    with opened(MediaEmbedder(SHOWN), multimodal={"enabled": True, "maxFileBytes": 4000}) as memory:
        report = memory.sync()
        reason = f"{len(SEA) + 5000:,} bytes, more than multimodal.maxFileBytes (4,000)"
        assert report.skipped == (FileFailure("pictures/large.png", reason),)
        assert memory.sync().skipped == report.skipped
        assert memory.status().skipped == report.skipped
        assert report.failed == ()
    with opened(MediaEmbedder(SHOWN)) as memory:
        assert memory.sync().indexed == 1


def test_memory_stays_within_what_one_request_takes(opened: Open, root: Path) -> None:
    for number in range(5):
        (root / f"pictures/{number}.png").write_bytes(made.png((number, 0, 0)) + b"\0" * (BATCH_BYTES // 3))
    embedder = MediaEmbedder(SHOWN)
    with opened(embedder) as memory:
        assert memory.sync().embedded == 9
    assert BATCH_BYTES // 2 < embedder.most_bytes <= BATCH_BYTES


def test_switching_it_on_and_off_again(opened: Open, root: Path) -> None:
    (root / "pictures/readme.md").write_text("About these pictures.\n")
    off = {"multimodal": {"enabled": False}, "extraPaths": [{"path": "pictures", "pattern": "**/*"}]}
    on = {"extraPaths": off["extraPaths"]}
    with opened(MediaEmbedder(SHOWN), **off) as memory:
        assert {failure.path for failure in memory.sync().failed} == {
            *("pictures/IMG_1.jpg", "pictures/holiday.png", "pictures/memo.wav")
        }
    with opened(MediaEmbedder(SHOWN), **on) as memory:
        assert memory.sync().failed == ()
        assert memory.search("sleeping tabby cat").hits[0].path == "pictures/IMG_1.jpg"
    embedder = MediaEmbedder(SHOWN)
    with opened(embedder, **off) as memory:
        assert len(memory.sync().failed) == 3
        assert "pictures/IMG_1.jpg" not in [hit.path for hit in memory.search("sleeping tabby cat")]
    assert embedder.media == []


def test_status_says_what_is_uploaded(opened: Open) -> None:
    with opened(MediaEmbedder(SHOWN)) as memory:
        memory.sync()
        status = memory.status()
        assert status.notices == (
            "multimodal is enabled: the images and audio files under the extra paths are uploaded to Google,"
            " whole and with their paths",
        )
        assert (status.notes, status.media) == (1, {"image": 2, "audio": 1})
        assert value_json(status)["media"] == {"image": 2, "audio": 1}
    with opened(MediaEmbedder(SHOWN), multimodal={"enabled": False}) as memory:
        assert (memory.status().notices, memory.status().media) == ((), {})


def test_an_index_of_the_older_format_takes_media_in(opened: Open, tmp_path: Path) -> None:
    with opened(MediaEmbedder(SHOWN), multimodal={"enabled": False}) as memory:
        memory.sync()
        path = memory.status().store_path
    connection = apsw.Connection(path)
    connection.execute("ALTER TABLE files DROP COLUMN media; PRAGMA user_version = 2")
    connection.close()
    with opened(MediaEmbedder(SHOWN)) as memory:
        report = memory.sync()
        assert (report.indexed, report.unchanged) == (3, 1)


def test_paths_and_names_of_all_kinds(opened: Open, root: Path) -> None:
    names = ["고양이 사진.PNG", "猫 🐈.png", "a" * 200 + ".png", "100% [x] {y}.png", "ünï.jpg"]
    for number, name in enumerate(names):
        (root / "pictures" / name).write_bytes(made.png((number, 1, 1)))
    with opened(MediaEmbedder(SHOWN)) as memory:
        report = memory.sync()
        assert (report.indexed, report.failed) == (9, ())
        assert memory.search("고양이").hits[0].path == "pictures/고양이 사진.PNG"
        assert json.dumps(search_json(memory.search("猫")))


def test_the_plan_says_what_would_be_uploaded_and_sends_nothing(opened: Open) -> None:
    embedder = MediaEmbedder(SHOWN)
    with opened(embedder) as memory:
        plan = memory.plan()
        size = sum(map(len, SHOWN))
        assert (plan.files_to_upload, plan.bytes_to_upload, plan.texts) == (3, size, 1)
        assert "images and audio files to upload: 3 (0.0 MB)" in plan_text("main", plan)
        assert embedder.calls == []
        memory.sync()
        after = memory.plan()
        assert (after.files_to_upload, after.texts) == (0, 0)
