"""The encoder as an ONNX graph for onnxruntime, its matrices in int8.

Three of a layer's four matrices are int8, one scale a column, and their inputs are quantised as they come.
The fourth, which ends the feed-forward part, stays float32: its inputs hold the few large numbers that int8
serves badly. That costs an eighth of the speed and brings the vectors, before the language map, from a
cosine of 0.997 with the float32 ones to 0.999. Texts of one batch have one length, so that no mask is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .encoder_numpy import Layer, read_layer
from .onnx_format import GraphWriter
from .weights import Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

INPUT = "rows"
"""texts × tokens × width: what `InputTable` gives."""
_MICROSOFT = "com.microsoft"
_LARGEST = 95
"""Short of 127, because processors without VNNI add two products of uint8 × int8 in 16 bits, which overflow:
measured as more accurate than both 127 and 63, where nothing can overflow."""


def encoder_graph(weights: Weights) -> bytes:
    """The model: from input rows to the mean of the last layer, one row a text."""
    import numpy as np

    encoder = _EncoderGraph(weights)
    x = encoder.normalised(INPUT, (weights.floats("emb.ln.w"), weights.floats("emb.ln.b")))
    for number in range(weights.layers):
        x = encoder.through(read_layer(weights, number), x)
    graph = encoder.graph
    means = graph.apply("ReduceMean", x, graph.constant(np.array([1], np.int64)), keepdims=0)
    return graph.model(
        [(INPUT, ["texts", "tokens", weights.width])],
        (means, ["texts", weights.width]),
        operations=[("", 20), (_MICROSOFT, 1)],
    )


class _EncoderGraph:
    """Adds the encoder's layers to a graph."""

    def __init__(self, weights: Weights) -> None:
        import numpy as np

        self.graph = GraphWriter("multilingual-e5-small")
        self._heads = weights.heads
        self._epsilon = float(weights.epsilon)
        self._thirds = self.graph.constant(np.array([weights.width] * 3, np.int64))

    def through(self, layer: Layer, x: str) -> str:
        graph = self.graph
        projected = self._quantised(x, layer.attention, layer.attention_bias)
        parts = graph.split(projected, self._thirds, count=3, axis=-1)
        context = graph.apply(
            "MultiHeadAttention", *parts, domain=_MICROSOFT, num_heads=self._heads, scale=1.0
        )
        attended = self._quantised(context, layer.output, layer.output_bias)
        x = self.normalised(graph.apply("Add", attended, x), layer.output_norm)
        inner = graph.apply("Gelu", self._quantised(x, layer.rise, layer.rise_bias))
        fallen = graph.apply("MatMul", inner, graph.constant(layer.fall))
        fallen = graph.apply("Add", fallen, graph.constant(layer.fall_bias))
        return self.normalised(graph.apply("Add", fallen, x), layer.fall_norm)

    def normalised(self, x: str, norm: tuple[Floats, Floats]) -> str:
        weight, bias = map(self.graph.constant, norm)
        return self.graph.apply("LayerNormalization", x, weight, bias, axis=-1, epsilon=self._epsilon)

    def _quantised(self, x: str, matrix: Floats, bias: Floats) -> str:
        """`x` times the matrix in int8, one scale a column, plus the bias."""
        import numpy as np

        scales = np.abs(matrix).max(0) / np.float32(_LARGEST)
        constants = (np.rint(matrix / scales).astype(np.int8), scales, np.zeros(len(scales), np.int8), bias)
        return self.graph.apply(
            "DynamicQuantizeMatMul", x, *map(self.graph.constant, constants), domain=_MICROSOFT
        )
