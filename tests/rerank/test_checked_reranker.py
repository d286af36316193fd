from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from memlane import RerankError
from memlane.rerank.base import CheckedReranker
from memlane.testing import WordReranker


class Fixed:
    name = "fixed"

    def __init__(self, *scores: object) -> None:
        self._scores = scores

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return list(self._scores)  # type: ignore[arg-type]


def test_sound_scores_pass() -> None:
    assert CheckedReranker(Fixed(0, 0.5, 1)).scores("tea", ["a", "b", "c"]) == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((0.5,), "the reranking model fixed gave 1 scores for 2 texts"),
        ((0.5, 8.25), "the reranking model fixed gave 8.25 as a score, which must lie between 0 and 1"),
        ((-0.1, 0.5), "the reranking model fixed gave -0.1 as a score, which must lie between 0 and 1"),
        ((math.nan, 0.5), "the reranking model fixed gave no number as a score, which must lie"),
        ((0.5, None), "the reranking model fixed failed: float"),
    ],
)
def test_what_is_no_score_is_an_error(scores: tuple[object, ...], message: str) -> None:
    with pytest.raises(RerankError) as raised:
        CheckedReranker(Fixed(*scores)).scores("tea", ["a", "b"])
    assert str(raised.value).startswith(message)


def test_a_model_without_a_name_is_called_by_its_class() -> None:
    class Nameless:
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            return []

    assert CheckedReranker(Nameless()).name == "Nameless"  # type: ignore[arg-type]


def test_whatever_a_model_raises_is_its_failure() -> None:
    class Silent(WordReranker):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            raise TimeoutError

    with pytest.raises(RerankError, match="the reranking model words failed: TimeoutError"):
        CheckedReranker(Silent()).scores("tea", ["a"])
