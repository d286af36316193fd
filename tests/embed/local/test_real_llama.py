"""The provider over llama.cpp itself, with a model of a few kilobytes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("llama_cpp") is None:
    pytest.skip("llama.cpp is not installed: pip install 'memlane[local]'", allow_module_level=True)

import gguf
from tests.embed.embedder_contract import check_contract
from tests.embed.local.tiny_gguf import CONTEXT, WIDTH, write_tiny_model

from memlane import Memory
from memlane.embed.base import CheckedEmbedder, NoVector, Vector, cosine, unpack
from memlane.embed.local import LocalEmbedder, local_embedder
from memlane.errors import ProviderUnavailable
from memlane.testing import RecordingObserver


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def local(tiny: Path, tmp_path: Path) -> Iterator[LocalEmbedder]:
    embedder = local_embedder(str(tiny), tmp_path / "cache", observer=RecordingObserver())
    yield embedder
    embedder.close()


def alike(one: Vector | NoVector, other: Vector | NoVector) -> float:
    assert isinstance(one, bytes)
    assert isinstance(other, bytes)
    return cosine(unpack(one), unpack(other))


def refusal(model: Path, cache: Path) -> str:
    with pytest.raises(ProviderUnavailable) as failure:
        local_embedder(str(model), cache, observer=RecordingObserver()).verify()
    return str(failure.value)


def test_it_keeps_the_contract_of_providers(local: LocalEmbedder) -> None:
    check_contract(local)


def test_texts_that_share_letters_are_alike(local: LocalEmbedder) -> None:
    checked = CheckedEmbedder(local)
    query = checked.embed_query("green tea")
    near, far = checked.embed_documents(["tea, green", "xyz 123 xyz 987"])
    assert alike(query, near) > 0.8 > alike(query, far)
    assert checked.dimensions == WIDTH
    assert 0.0 < checked.unrelated_cosine < 0.95


def test_a_text_has_one_vector_in_whatever_company(local: LocalEmbedder) -> None:
    checked = CheckedEmbedder(local)
    texts = [f"note {number} on {'tea ' * (number % 5)}" for number in range(11)]
    together = checked.embed_documents(texts)
    alone = [checked.embed_documents([text])[0] for text in texts]
    assert all(alike(one, other) > 0.99999 for one, other in zip(together, alone, strict=True))


@pytest.mark.parametrize(
    "text", ["a" * 5000, "tea " * CONTEXT * 3, "안" * 400, "：" * 2000, "\0" * 300, "👍" * 2000]
)
def test_a_text_beyond_the_models_limit_has_a_vector(local: LocalEmbedder, text: str) -> None:
    (vector,) = CheckedEmbedder(local).embed_documents([text])
    assert isinstance(vector, bytes)


def test_marks_in_a_text_are_text(local: LocalEmbedder) -> None:
    checked = CheckedEmbedder(local)
    assert alike(checked.embed_query("[CLS] tea [SEP]"), checked.embed_query("tea")) < 0.999


def test_the_identity_is_the_content_and_not_the_path(
    tiny: Path, tmp_path: Path, local: LocalEmbedder
) -> None:
    moved = tmp_path / "elsewhere" / tiny.name
    moved.parent.mkdir()
    shutil.copy(tiny, moved)
    observer = RecordingObserver()
    assert local_embedder(str(moved), tmp_path / "cache", observer=observer).identity == local.identity
    assert str(tiny.parent) not in str(local.identity)
    write_tiny_model(moved, seed=21)
    assert local_embedder(str(moved), tmp_path / "cache", observer=observer).identity != local.identity


def test_files_that_cannot_be_used_are_refused_with_the_reason(tiny: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    whole = tiny.read_bytes()
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    assert "data is not within the file bounds, model is corrupted or incomplete" in refusal(cut, tmp_path)
    cut.write_bytes(whole[:200])
    assert f"{cut} cannot be used: " in refusal(cut, tmp_path)
    cut.write_bytes(b"PK\3\4")
    assert refusal(cut, tmp_path) == f"the model {cut} is not a GGUF file"
    cut.write_bytes(b"")
    assert refusal(cut, tmp_path) == f"the model {cut} is not a GGUF file"
    assert refusal(tmp_path, tmp_path) == f"the model {tmp_path} cannot be read: Is a directory"
    assert refusal(tmp_path / "none", tmp_path) == f"the model {tmp_path / 'none'} does not exist"
    unpooled = write_tiny_model(tmp_path / "unpooled.gguf", pooling=None)
    assert "it is a language model, not an embedding model" in refusal(unpooled, tmp_path)
    ranking = write_tiny_model(tmp_path / "rank.gguf", pooling=gguf.PoolingType.RANK)
    assert f"{ranking} cannot be used: " in refusal(ranking, tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_process_is_started_again(local: LocalEmbedder) -> None:
    before = local.embed_query("tea")
    assert local.pid is not None
    os.kill(local.pid, signal.SIGKILL)
    assert alike(before, local.embed_query("tea")) > 0.99


def test_it_prints_nothing(local: LocalEmbedder, capfd: pytest.CaptureFixture[str]) -> None:
    local.verify()
    local.close()
    assert capfd.readouterr() == ("", "")


def test_odd_paths(tiny: Path, tmp_path: Path) -> None:
    model = tmp_path / "모델 ü 'quoted' [x]" / "-tiny?.gguf"
    model.parent.mkdir()
    shutil.copy(tiny, model)
    embedder = local_embedder(str(model), tmp_path / "cache", observer=RecordingObserver())
    embedder.verify()
    embedder.close()


def test_a_memory_finds_notes_by_it(local: LocalEmbedder, tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    (notes / "tea.md").write_text("green tea\n", "utf-8")
    (notes / "long.md").write_text("x1 " * 3000, "utf-8")
    folders = {"workspace": tmp_path / "notes", "state_dir": tmp_path / "state"}
    with Memory.open(**folders, environ={}, embedder=local) as memory:
        report = memory.sync()
        assert (report.without_vector, report.failed) == (0, ())
        result = memory.search("tea green")
        assert result.hits[0].path == "memory/tea.md"
        assert result.mode == "hybrid"
