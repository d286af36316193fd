from __future__ import annotations

import json
import math
import sys
import threading
from pathlib import Path

import pytest
from tests.cross_encoders import shared_words, sum_of, write_limits, write_model

from memlane import RerankError
from memlane.rerank.cross_encoder import CrossEncoder
from memlane.rerank.model_folder import find_model

TEXTS = ["the lighthouse keeper", "a cup of tea", "keeper of the harbour", "", "nothing known at all here"]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def tokens_read(score: float) -> float:
    return round(100 * math.log(score / (1 - score)))


@pytest.mark.parametrize("below", ["", "onnx"])
def test_one_logit_becomes_a_probability(tmp_path: Path, below: str) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", shared_words(), below=below))
    scores = model.scores("Lighthouse keeper", TEXTS)
    assert scores == pytest.approx([sigmoid(2), sigmoid(-2), sigmoid(0), sigmoid(-2), sigmoid(-2)], abs=1e-6)


def test_two_logits_are_no_and_yes(tmp_path: Path) -> None:
    one = CrossEncoder(write_model(tmp_path / "one", shared_words()))
    two = CrossEncoder(write_model(tmp_path / "two", shared_words(outputs=2)))
    assert two.scores("harbour boat", TEXTS) == pytest.approx(one.scores("harbour boat", TEXTS), abs=1e-6)


def test_a_graph_gets_the_inputs_that_it_declares_and_no_others(tmp_path: Path) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", sum_of("attention_mask", kind="int32")))
    assert tokens_read(model.scores("tea", ["a cup of tea"])[0]) == 3 + 1 + 4


def test_a_text_is_scored_the_same_among_others_as_alone(tmp_path: Path) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", shared_words()))
    texts = [("tea " * length + "boat") for length in range(20)]
    together = model.scores("boat cup", texts)
    assert together == pytest.approx([model.scores("boat cup", [text])[0] for text in texts], abs=1e-6)


def test_padding_is_masked(tmp_path: Path) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", sum_of("attention_mask")))
    assert [tokens_read(score) for score in model.scores("tea", ["cup", "cup " * 9])] == [5, 13]


def test_the_passage_is_cut_to_what_the_model_reads(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", sum_of("attention_mask"))
    write_limits(folder, max_position_embeddings=32)
    model = CrossEncoder(folder)
    assert tokens_read(model.scores("tea cup", ["boat " * 5000])[0]) == 32
    assert tokens_read(model.scores("tea " * 5000, ["boat " * 5000])[0]) == 32
    assert tokens_read(model.scores("tea " * 5000, ["boat"])[0]) == 32


def test_a_long_query_does_not_push_the_passage_out(tmp_path: Path) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", shared_words()))
    alike, other = model.scores("tea " * 5000, ["tea " * 5000, "boat " * 5000])
    assert (alike, other) == pytest.approx((1.0, sigmoid(-2)), abs=1e-6)


@pytest.mark.parametrize(
    ("config", "length", "most"),
    [
        ({}, None, 512),
        ({"max_position_embeddings": 128}, None, 128),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}, None, 512),
        ({"max_position_embeddings": 130, "model_type": "roberta"}, None, 128),
        ({"max_position_embeddings": 8194}, 1e30, 512),
        ({}, 256, 256),
        ({"max_position_embeddings": "many"}, "long", 512),
    ],
)
def test_the_length_of_the_input_is_what_the_models_files_say(
    tmp_path: Path, config: dict[str, object], length: object, most: int
) -> None:
    folder = write_model(tmp_path / "model", b"")
    write_limits(folder, **config)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": length}))
    assert find_model(folder).max_tokens == most


def test_one_file_of_a_folder_can_be_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", b"broken", below="onnx")
    other = folder / "onnx/model_quantized.onnx"
    other.write_bytes(shared_words())
    assert CrossEncoder(other).scores("tea", ["tea"]) == pytest.approx([sigmoid(0)])


@pytest.mark.parametrize("text", ["\ud800 tea", "tea\0", "☕️ tea 🫖", "﻿tea\r\n", "tea" + " 등대지기" * 3])
def test_any_text_can_be_read(tmp_path: Path, text: str) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", shared_words()))
    assert all(0 < score < 1 for score in (*model.scores("tea", [text]), *model.scores(text, ["tea"])))


def test_an_odd_path(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mein Modell 등대 🫖", shared_words())
    assert CrossEncoder(folder).scores("등대지기", ["등대지기"]) == pytest.approx([sigmoid(0)])


def test_threads_share_one_model(tmp_path: Path) -> None:
    model = CrossEncoder(write_model(tmp_path / "model", shared_words()))
    expected = model.scores("keeper", TEXTS)
    found: list[list[float]] = []
    threads = [threading.Thread(target=lambda: found.append(model.scores("keeper", TEXTS))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


# ---- what can be wrong -------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(RerankError) as raised:
        CrossEncoder(path)
    return str(raised.value)


def test_nothing_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "model") == f"there is no reranking model at {tmp_path / 'model'}"


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 300)
    assert refused(path) == f"the reranking model {path} cannot be read: File name too long"


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", shared_words())
    (folder / "README.md").write_text("a model\n")
    assert f"{folder / 'README.md'} cannot be used as part of a reranking model: " in refused(
        folder / "README.md"
    )


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"{tmp_path} has neither model.onnx nor onnx/model.onnx"


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", shared_words())
    (folder / "tokenizer.json").unlink()
    assert refused(folder) == f"{folder} has no tokenizer.json"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 50, b"{"])
def test_a_broken_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    folder = write_model(tmp_path / "model", shared_words())
    (folder / name).write_bytes(content)
    assert str(folder / name) in refused(folder)


def test_a_model_that_is_no_cross_encoder(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "one", sum_of("pixels", inputs=["pixels"]))
    assert "is no cross-encoder: its inputs are pixels, not input_ids" in refused(folder)
    floats = write_model(tmp_path / "two", sum_of("input_ids", inputs=["input_ids"], kind="float32"))
    assert "as integers" in refused(floats)
    many = CrossEncoder(write_model(tmp_path / "many", shared_words(outputs=3)))
    with pytest.raises(RerankError, match="it gave 2 × 3 numbers for 2 pairs, not one or two for each"):
        many.scores("tea", ["tea", "cup"])


def test_a_model_that_reads_next_to_nothing(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", shared_words())
    write_limits(folder, max_position_embeddings=8)
    assert refused(folder) == f"the reranking model in {folder} reads 8 tokens at most, which is too few"


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    folder = write_model(tmp_path / "model", shared_words())
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RerankError) as raised:
        CrossEncoder(folder)
    assert f"needs {package}, which is not installed" in str(raised.value)
    assert raised.value.hint == "pip install 'memlane[rerank]'"
