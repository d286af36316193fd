from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.embed.base import CheckedEmbedder, NoVector, Vector, pack, unpack
from memlane.errors import EmbeddingError
from memlane.testing import HashEmbedder


class Scripted(HashEmbedder):
    """Answers what it is told to."""

    def __init__(self, *answers: Vector | NoVector) -> None:
        super().__init__(4)
        self.answers = list(answers)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        return self.answers


@given(
    st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=20).filter(lambda v: math.hypot(*v) > 1e-3)
)
def test_vectors_come_out_normalised(values: list[float]) -> None:
    (vector,) = CheckedEmbedder(Scripted(pack(values))).embed_documents(["a"])
    assert isinstance(vector, bytes)
    assert math.hypot(*unpack(vector)) == pytest.approx(1.0, abs=1e-5)
    assert [math.copysign(1, x) for x in values if abs(x) > 1e-2] == [
        math.copysign(1, y) for x, y in zip(values, unpack(vector), strict=True) if abs(x) > 1e-2
    ]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (pack([0.0, 0.0, 0.0]), "zero"),
        (pack([1.0, math.nan, 0.0]), "not finite"),
        (pack([math.inf, 0.0, 0.0]), "not finite"),
        (b"", "not a row of float32"),
        (b"\x00" * 7, "not a row of float32"),
        (pack([1.0, 0.0]), "2 dimensions, not 3"),
    ],
)
def test_a_bad_vector_becomes_no_vector(bad: Vector, reason: str) -> None:
    good = pack([1.0, 0.0, 0.0])
    first, second, third = CheckedEmbedder(Scripted(good, bad, good)).embed_documents(["a", "b", "c"])
    assert first == good
    assert third == good
    assert isinstance(second, NoVector)
    assert reason in second.reason


def test_a_wrong_count_fails_the_call() -> None:
    embedder = CheckedEmbedder(Scripted(pack([1.0])))
    with pytest.raises(EmbeddingError, match="answered 1 vectors for 2 texts"):
        embedder.embed_documents(["a", "b"])


def test_dimensions_are_those_of_the_first_answer() -> None:
    embedder = CheckedEmbedder(HashEmbedder(6))
    assert embedder.dimensions is None
    embedder.embed_query("tea")
    assert embedder.dimensions == 6
