"""A GGUF embedding model of a few kilobytes for tests: a BERT with one layer, its weights fixed noise.

Texts that share letters get similar vectors, so an order can be tested and not only shapes.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase, digits

import gguf
import numpy as np

WIDTH = 48
CONTEXT = 96
_HEADS, _INNER = 4, 96
_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LETTERS = ascii_lowercase + digits + ".,:;?!-'|"


def write_tiny_model(
    path: Path,
    *,
    pooling: gguf.PoolingType | None = gguf.PoolingType.MEAN,
    seed: int = 20,
    name: str = "tiny",
) -> Path:
    """Write the model; `pooling` None leaves out how token vectors become one."""
    pieces = [*_MARKS, *(f"\u2581{letter}" for letter in _LETTERS), *_LETTERS]
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(name)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_head_count(_HEADS)
    writer.add_feed_forward_length(_INNER)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    if pooling is not None:
        writer.add_pooling_type(pooling)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(pieces)
    kinds = gguf.TokenType
    writer.add_token_types([kinds.CONTROL if piece in _MARKS else kinds.NORMAL for piece in pieces])
    writer.add_token_type_count(1)
    for number, add in enumerate(
        (writer.add_pad_token_id, writer.add_unk_token_id, writer.add_bos_token_id, writer.add_sep_token_id)
    ):
        add(number)
    writer.add_eos_token_id(3)
    writer.add_mask_token_id(4)
    for tensor, values in _tensors(len(pieces), np.random.default_rng(seed)).items():
        writer.add_tensor(tensor, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _tensors(pieces: int, noise: np.random.Generator) -> dict[str, np.ndarray]:
    def matrix(rows: int, columns: int, spread: float = 0.04) -> np.ndarray:
        return noise.normal(0.0, spread, (rows, columns))

    tensors = {
        "token_embd.weight": matrix(pieces, WIDTH, 1.0),
        "position_embd.weight": matrix(CONTEXT, WIDTH, 0.01),
        "token_types.weight": matrix(1, WIDTH, 0.01),
        "blk.0.ffn_up.weight": matrix(_INNER, WIDTH),
        "blk.0.ffn_up.bias": np.zeros(_INNER),
        "blk.0.ffn_down.weight": matrix(WIDTH, _INNER),
        "blk.0.ffn_down.bias": np.zeros(WIDTH),
    }
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensors |= {f"blk.0.{part}.weight": matrix(WIDTH, WIDTH), f"blk.0.{part}.bias": np.zeros(WIDTH)}
    for part in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        tensors |= {f"{part}.weight": np.ones(WIDTH), f"{part}.bias": np.zeros(WIDTH)}
    return tensors
