from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memlane.embed.base import NoVector, cosine, unpack
from memlane.embed.bundled import MODEL_FOLDER, BundledEmbedder, packaged_model
from memlane.errors import ProviderUnavailable
from memlane.index.identity import PIECES_OF


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def likeness(embedder: BundledEmbedder, left: str, right: str) -> float:
    one, other = embedder.embed_query(left), embedder.embed_query(right)
    assert isinstance(one, bytes)
    assert isinstance(other, bytes)
    return cosine(unpack(one), unpack(other))


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("the machine running the gateway", "Mac Studio gateway host", "apple cake with cinnamon"),
        ("how is the cat", "고양이 건강", "데이터베이스 이전 계획"),
        ("今天的部署方案", "deployment plan for today", "recipe for pancakes"),
        ("receta de arroz", "rice recipe", "router firmware"),
        ("会議の時間", "when is the meeting", "blood test of the cat"),
    ],
)
def test_meaning_beats_wording_within_and_across_languages(
    embedder: BundledEmbedder, query: str, near: str, far: str
) -> None:
    assert likeness(embedder, query, near) > likeness(embedder, query, far) + 0.1


def test_the_bulk_path_gives_the_same_vectors(embedder: BundledEmbedder) -> None:
    texts = [
        "Router: Omada ER605",
        "오늘 끝말잇기 게임을 했다",
        "今日は成語しりとりをした",
        "emoji 👨‍👩‍👧 only",
        "a " * 500,
    ]
    for single, bulk in zip(map(embedder.embed_query, texts), embedder.embed_documents(texts), strict=True):
        assert isinstance(single, bytes)
        assert isinstance(bulk, bytes)
        assert unpack(bulk) == pytest.approx(unpack(single), abs=1e-6)
        assert math.hypot(*unpack(bulk)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "!!!", "👍🏽", "\x00"])
def test_text_without_words_has_no_vector(embedder: BundledEmbedder, text: str) -> None:
    assert isinstance(embedder.embed_query(text), NoVector)
    assert all(isinstance(vector, NoVector) for vector in embedder.embed_documents([text] * 5))


def test_lone_surrogates_are_not_fatal(embedder: BundledEmbedder) -> None:
    assert isinstance(embedder.embed_query("tea \ud83d cup"), bytes)


def test_a_query_needs_no_numpy() -> None:
    program = (
        "import sys; from memlane.embed.bundled import BundledEmbedder;"
        "BundledEmbedder().embed_query('Wiedervorlagemappe 플러시'); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def copy_of_model(folder: Path) -> Path:
    shutil.copytree(MODEL_FOLDER, folder)
    return folder


def test_the_shipped_files_have_their_recorded_hashes(embedder: BundledEmbedder) -> None:
    embedder.verify()


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match=r"missing or damaged: .*meta\.json"):
        BundledEmbedder(tmp_path)


def test_a_truncated_file_is_refused_on_opening(tmp_path: Path) -> None:
    folder = copy_of_model(tmp_path / "model")
    with (folder / "vectors.i8").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ProviderUnavailable, match="sizes"):
        BundledEmbedder(folder)


def test_a_flipped_bit_is_found_before_bulk_work(tmp_path: Path) -> None:
    folder = copy_of_model(tmp_path / "model")
    with (folder / "scales.f32").open("r+b") as file:
        file.seek(4000)
        byte = file.read(1)[0]
        file.seek(4000)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(ProviderUnavailable, match=r"scales\.f32 does not have its recorded hash"):
        BundledEmbedder(folder).embed_documents(["tea"] * 64)


def test_the_identity_names_the_revision(embedder: BundledEmbedder, tmp_path: Path) -> None:
    assert embedder.identity["provider"] == "bundled"
    assert embedder.identity["dimensions"] == json.loads((MODEL_FOLDER / "meta.json").read_text())["dim"]
    folder = copy_of_model(tmp_path / "model")
    with (folder / "SHA256SUMS").open("a") as file:
        file.write("# another revision\n")
    assert BundledEmbedder(folder).identity != embedder.identity


def test_the_index_names_the_model_whose_pieces_it_keeps() -> None:
    assert packaged_model().revision == PIECES_OF
