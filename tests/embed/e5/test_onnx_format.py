from __future__ import annotations

import numpy as np
import pytest

from memlane.embed.e5.onnx_format import GraphWriter


def test_a_written_model_runs() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    writer = GraphWriter("sum")
    parts = writer.split("x", writer.constant(np.array([1, 2], np.int64)), count=2, axis=-1)
    added = writer.apply("Add", *parts)
    scaled = writer.apply("Mul", added, writer.constant(np.array([0.5, 300.0], np.float32)))
    turned = writer.apply("Transpose", scaled, perm=(1, 0))
    normal = writer.apply("LayerNormalization", turned, writer.constant(np.ones(2, np.float32)), epsilon=0.5)
    model = writer.model([("x", ["rows", 3])], (turned, [2, "rows"]), operations=[("", 20)])
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert normal
    (result,) = session.run(None, {"x": np.array([[1, 2, 3], [4, 5, 6]], np.float32)})
    assert result.tolist() == [[1.5, 4.5], [1200.0, 3000.0]]
    assert [value.name for value in session.get_inputs()] == ["x"]
