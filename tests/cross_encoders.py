"""Tiny cross-encoders, real to the last byte: a graph for onnxruntime and a tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from memlane.embed.e5.onnx_format import GraphWriter

WORDS = ("the", "lighthouse", "keeper", "tea", "cup", "harbour", "boat", "등대지기", "灯台")
SHAPE = ("pairs", "tokens")
NO_MATCH = -2.0
"""The logit of a passage that shares no word with the query."""
PER_WORD = 2.0


def write_model(folder: Path, graph: bytes, *, words: Sequence[str] = WORDS, below: str = "") -> Path:
    """A model's folder as they are published; `below` names a sub-folder for the graph."""
    (folder / below).mkdir(parents=True)
    (folder / below / "model.onnx").write_bytes(graph)
    marks = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    numbers = {word: number for number, word in enumerate((*marks, *words))}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def write_limits(folder: Path, **config: Any) -> None:
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def shared_words(*, outputs: int = 1, kind: str = "int64") -> bytes:
    """A graph that counts the known words of the query that the passage holds, too.

    One output is the logit −2 + 2 × count. Two are half of it each, with the sign of "no" and "yes".
    """
    graph = GraphWriter("shared words")

    def floats(value: str) -> str:
        return graph.apply("Cast", value, to=1)

    def across(value: str, axis: int) -> str:
        return graph.apply("Unsqueeze", value, graph.constant(np.array([axis], np.int64)))

    ids, passage, mask = "input_ids", floats("token_type_ids"), floats("attention_mask")
    told = floats(graph.apply("Greater", floats(ids), graph.constant(np.array(3.5, np.float32))))
    asked = graph.apply("Mul", graph.apply("Sub", mask, passage), told)
    same = floats(graph.apply("Equal", across(ids, 2), across(ids, 1)))
    same = graph.apply("Mul", graph.apply("Mul", same, across(asked, 2)), across(passage, 1))
    found = graph.apply("ReduceMax", same, graph.constant(np.array([2], np.int64)), keepdims=0)
    count = graph.apply("ReduceSum", found, graph.constant(np.array([1], np.int64)), keepdims=1)
    slope = {1: [PER_WORD], 2: [-PER_WORD / 2, PER_WORD / 2]}.get(outputs, [PER_WORD] * outputs)
    start = {1: [NO_MATCH], 2: [-NO_MATCH / 2, NO_MATCH / 2]}.get(outputs, [NO_MATCH] * outputs)
    logits = graph.apply("Mul", count, graph.constant(np.array([slope], np.float32)))
    logits = graph.apply("Add", logits, graph.constant(np.array([start], np.float32)))
    return _finished(graph, ("input_ids", "attention_mask", "token_type_ids"), logits, outputs, kind)


def sum_of(column: str, *, scale: float = 0.01, kind: str = "int64", inputs: Sequence[str] = ()) -> bytes:
    """A graph whose logit is the sum of one input, times the scale: of attention_mask, the tokens read."""
    graph = GraphWriter("sum")
    total = graph.apply(
        "ReduceSum", graph.apply("Cast", column, to=1), graph.constant(np.array([1], np.int64)), keepdims=1
    )
    scaled = graph.apply("Mul", total, graph.constant(np.array(scale, np.float32)))
    return _finished(graph, inputs or ("input_ids", "attention_mask"), scaled, 1, kind)


def _finished(graph: GraphWriter, inputs: Sequence[str], output: str, width: int, kind: str) -> bytes:
    return graph.model(
        [(name, SHAPE) for name in inputs], (output, ["pairs", width]), operations=[("", 20)], kind=kind
    )
