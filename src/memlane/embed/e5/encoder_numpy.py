"""The encoder by numpy alone: a plain BERT of 12 layers in float32, 85 MB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .weights import Weights, expanded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_TOKENS_A_PASS = 2048
"""Texts go through the layers together up to this many tokens: more helps no further."""


class Layer(NamedTuple):
    """The numbers of one layer; matrices are inputs × outputs."""

    attention: Floats
    """Query, key and value side by side, the query scaled already."""
    attention_bias: Floats
    output: Floats
    output_bias: Floats
    output_norm: tuple[Floats, Floats]
    rise: Floats
    rise_bias: Floats
    fall: Floats
    fall_bias: Floats
    fall_norm: tuple[Floats, Floats]


class InputTable:
    """What enters the first layer: the sum of a token's, its position's and the segment's vectors."""

    def __init__(self, weights: Weights) -> None:
        width = weights.width
        self._words = weights.blocks("emb.word", width)
        self._rest = weights.floats("emb.pos").reshape(-1, width) + weights.floats("emb.type")[:width]

    def rows(self, tokens: Sequence[int]) -> Floats:
        """One row a token of a sequence."""
        rows: Floats = expanded(self._words[list(tokens)])
        rows += self._rest[: len(tokens)]
        return rows


def read_layer(weights: Weights, number: int) -> Layer:
    """The layer `number`, expanded to float32."""
    import numpy as np

    width, inner = weights.width, weights.inner
    scale = np.float32(1 / math.sqrt(width // weights.heads))

    def matrix(name: str, inputs: int = width) -> Floats:
        return weights.matrix(f"l{number}.{name}.w", inputs)

    def floats(name: str) -> Floats:
        return weights.floats(f"l{number}.{name}")

    return Layer(
        np.concatenate([matrix("q") * scale, matrix("k"), matrix("v")], axis=1),
        np.concatenate([floats("q.b") * scale, floats("k.b"), floats("v.b")]),
        matrix("ao"),
        floats("ao.b"),
        (floats("aln.w"), floats("aln.b")),
        matrix("fi"),
        floats("fi.b"),
        matrix("fo", inner),
        floats("fo.b"),
        (floats("oln.w"), floats("oln.b")),
    )


class NumpyEncoder:
    """Token sequences → the mean of their last layer."""

    name = "numpy"

    def __init__(self, weights: Weights) -> None:
        self._width, self._heads, self._epsilon = weights.width, weights.heads, weights.epsilon
        self._input = InputTable(weights)
        self._input_norm = weights.floats("emb.ln.w"), weights.floats("emb.ln.b")
        self._layers = [read_layer(weights, number) for number in range(weights.layers)]

    def encode(self, sequences: Sequence[Sequence[int]]) -> Floats:
        """One row a sequence (none may be empty), not normalised; sequences of like length go together."""
        import numpy as np

        rows = np.empty((len(sequences), self._width), np.float32)
        order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
        batch: list[int] = []
        tokens = 0
        for index in order:
            if batch and tokens + len(sequences[index]) > _TOKENS_A_PASS:
                rows[batch] = self._forward([sequences[chosen] for chosen in batch])
                batch, tokens = [], 0
            batch.append(index)
            tokens += len(sequences[index])
        if batch:
            rows[batch] = self._forward([sequences[chosen] for chosen in batch])
        return rows

    def _forward(self, sequences: list[Sequence[int]]) -> Floats:
        """The sequences one after the other in one matrix: no padding, only attention is apart."""
        import numpy as np

        ends = np.cumsum([len(sequence) for sequence in sequences])
        starts = np.concatenate([[0], ends[:-1]])
        x = np.concatenate([self._input.rows(sequence) for sequence in sequences])
        x = self._normalised(x, self._input_norm)
        for layer in self._layers:
            projected = x @ layer.attention
            projected += layer.attention_bias
            context = np.empty_like(x)
            for start, end in zip(starts, ends, strict=True):
                context[start:end] = self._attended(projected[start:end])
            y = context @ layer.output
            y += layer.output_bias
            y += x
            x = self._normalised(y, layer.output_norm)
            y = _gelu(x @ layer.rise + layer.rise_bias) @ layer.fall
            y += layer.fall_bias
            y += x
            x = self._normalised(y, layer.fall_norm)
        means: Floats = np.add.reduceat(x, starts, axis=0)
        return means

    def _attended(self, projected: Floats) -> Floats:
        """One sequence's self-attention."""
        import numpy as np

        length = len(projected)
        query, key, value = projected.reshape(length, 3, self._heads, -1).transpose(1, 2, 0, 3)
        shares: Floats = query @ key.transpose(0, 2, 1)
        shares -= shares.max(2, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(2, keepdims=True)
        attended: Floats = (shares @ value).transpose(1, 0, 2).reshape(length, self._width)
        return attended

    def _normalised(self, x: Floats, norm: tuple[Floats, Floats]) -> Floats:
        import numpy as np

        weight, bias = norm
        x -= x.mean(1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / x.shape[1]
        x *= (1 / np.sqrt(variance + self._epsilon))[:, None].astype(np.float32)
        x *= weight
        x += bias
        return x


def _gelu(x: Floats) -> Floats:
    """The activation, by its usual approximation with tanh; in place."""
    import numpy as np

    t = x * x
    t *= np.float32(0.044715)
    t += 1
    t *= x
    t *= np.float32(math.sqrt(2 / math.pi))
    np.tanh(t, out=t)
    t += 1
    t *= x
    t *= np.float32(0.5)
    return t
