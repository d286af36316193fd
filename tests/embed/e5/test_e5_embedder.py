from __future__ import annotations

import builtins
import math
import threading
from pathlib import Path

import numpy as np
import pytest

from memlane.embed.base import CheckedEmbedder, NoVector, Vector, cosine, unpack
from memlane.embed.e5 import E5Embedder
from memlane.embed.e5.language_map import DATA, LanguageMap
from memlane.errors import ProviderUnavailable

TEXTS = [
    "Deployments happen only after the nightly run is green.",
    "서버는 야간 테스트가 통과한 뒤에만 배포한다.",
    "本番へのリリースは夜間テストが通ってから行う。",
    "The cat had her blood tested and must eat less.",
    "# Router\n\n- Omada ER605, firmware 2.1\n- `ssh admin@10.0.0.1`\n",
    "小王不吃辣，也不喝酒。👍🏽",
]


@pytest.fixture(scope="module")
def by_numpy(weights_path: Path) -> E5Embedder:
    return E5Embedder(weights_path, engine="numpy")


@pytest.fixture(scope="module")
def by_onnx(weights_path: Path) -> E5Embedder:
    pytest.importorskip("onnxruntime")
    return E5Embedder(weights_path, engine="onnxruntime")


def sound(vectors: list[Vector | NoVector]) -> list[Vector]:
    assert all(isinstance(vector, bytes) for vector in vectors)
    return [vector for vector in vectors if isinstance(vector, bytes)]


def likeness(left: Vector | NoVector, right: Vector | NoVector) -> float:
    one, other = sound([left, right])
    return cosine(unpack(one), unpack(other))


def test_both_engines_agree(by_numpy: E5Embedder, by_onnx: E5Embedder) -> None:
    assert (by_numpy.engine, by_onnx.engine) == ("numpy", "onnxruntime")
    assert by_numpy.identity == by_onnx.identity
    for one, other in zip(by_numpy.embed_documents(TEXTS), by_onnx.embed_documents(TEXTS), strict=True):
        assert likeness(one, other) > 0.99
    assert likeness(by_numpy.embed_query("when?"), by_onnx.embed_query("when?")) > 0.98


def test_a_text_has_the_same_vector_in_any_company(by_numpy: E5Embedder) -> None:
    together = by_numpy.embed_documents([*TEXTS, *TEXTS[::-1]])
    for index, text in enumerate(TEXTS):
        (alone,) = by_numpy.embed_documents([text])
        assert likeness(alone, together[index]) > 0.9999
        assert likeness(alone, together[-1 - index]) > 0.9999


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("the machine running the gateway", "Mac Studio gateway host", "apple cake with cinnamon"),
        ("how is the cat", "고양이 건강", "데이터베이스 이전 계획"),
        ("今天的部署方案", "deployment plan for today", "recipe for pancakes"),
        ("어떤 테스트가 끝나면 배포하나요?", TEXTS[2], TEXTS[3]),
    ],
)
def test_meaning_is_found_within_and_across_languages(
    by_onnx: E5Embedder, query: str, near: str, far: str
) -> None:
    asked = by_onnx.embed_query(query)
    right, wrong = by_onnx.embed_documents([near, far])
    assert likeness(asked, right) > likeness(asked, wrong) + 0.1


def test_vectors_are_sound(by_onnx: E5Embedder) -> None:
    for vector in sound(by_onnx.embed_documents(TEXTS)):
        assert math.hypot(*unpack(vector)) == pytest.approx(1.0, abs=1e-5)
        assert len(vector) == 4 * 384
    checked = CheckedEmbedder(by_onnx)
    assert checked.worth_caching
    assert isinstance(checked.embed_query("tea"), bytes)
    by_onnx.verify()


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u200b"])
def test_a_text_without_a_word_has_no_vector(by_onnx: E5Embedder, text: str) -> None:
    assert by_onnx.embed_documents(["tea", text, "tea"])[1] == NoVector("the text holds no word")
    assert isinstance(by_onnx.embed_query(text), NoVector)


def test_long_texts_count_to_their_end(by_onnx: E5Embedder) -> None:
    cats, routers = "The cat sleeps on the sofa. " * 160, "The router needs new firmware. " * 160
    both, short, other = by_onnx.embed_documents(
        [cats + routers, "The cat sleeps.", "A new router firmware."]
    )
    assert likeness(both, short) > 0.2
    assert likeness(both, other) > 0.2


def test_parts_of_a_long_text_fit_and_lose_nothing(by_numpy: E5Embedder) -> None:
    model = by_numpy._loaded()
    for words in (1, 507, 508, 509, 510, 1100):
        parts = model._parts("passage: ", "tea " * words)
        lengths = [len(part) for part in parts]
        assert max(lengths) <= 512
        assert max(lengths) - min(lengths) <= 1
        opening = parts[0][: parts[0].index(parts[0][-2])]
        assert sum(lengths) == words + len(parts) * (len(opening) + 1)
        assert all(part[: len(opening)] == opening and part[-1] == parts[0][-1] for part in parts)


def test_without_onnxruntime_numpy_runs_the_model(
    weights_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name == "onnxruntime":
            raise ImportError(name)
        return load(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    assert E5Embedder(weights_path).engine == "numpy"
    with pytest.raises(ImportError):
        _ = E5Embedder(weights_path, engine="onnxruntime").engine


def test_threads_share_the_model(by_onnx: E5Embedder) -> None:
    expected = by_onnx.embed_query("tea")
    answers: list[Vector | NoVector] = []
    threads = [threading.Thread(target=lambda: answers.append(by_onnx.embed_query("tea"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 4


# ---- the language map --------------------------------------------------------------------------------


def test_the_map_takes_mean_and_language_away() -> None:
    raw = np.frombuffer(DATA.read_bytes(), "<f4").reshape(-1, 384)
    mean, directions = raw[0], raw[1:]
    assert np.allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-5)
    vector = np.eye(384, dtype=np.float32)[:1]
    before = vector - mean
    after = LanguageMap().apply(vector)
    assert np.linalg.norm(after) == pytest.approx(1.0)
    kept = (after @ directions.T) / (before @ directions.T)
    rest = before - before @ directions.T @ directions
    stretch = np.linalg.norm(after - after @ directions.T @ directions) / np.linalg.norm(rest)
    assert np.allclose(kept / stretch, 0.4, atol=1e-4)


def test_a_damaged_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.f32"
    with pytest.raises(ProviderUnavailable, match="No such file"):
        LanguageMap(path)
    path.write_bytes(DATA.read_bytes()[:-1] + b"!")
    with pytest.raises(ProviderUnavailable) as caught:
        LanguageMap(path)
    assert (
        str(caught.value) == f"the language map {path} cannot be used: it does not have its recorded SHA-256"
    )
