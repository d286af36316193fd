"""What a reranking model is, and the check that its scores pass on their way in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from ..errors import RerankError


class Reranker(Protocol):
    """Says how well each of some passages answers a query.

    A host passes its own to `Memory.open(reranker=…)`. It may be called from several threads at once, and may
    raise whatever it likes: a search goes on without it.
    """

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in order: 0 is no answer, 1 is the answer. Raises RerankError."""
        ...


class CheckedReranker:
    """Wraps a reranker so that sound scores or a RerankError come out of it, and nothing else."""

    def __init__(self, inner: Reranker) -> None:
        self._inner = inner
        self.name = str(getattr(inner, "name", "") or type(inner).__name__)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The scores, checked: as many as texts, each between 0 and 1."""
        try:
            given = [float(score) for score in self._inner.scores(query, texts)]
        except RerankError:
            raise
        except Exception as error:
            raise RerankError(
                f"the reranking model {self.name} failed: {str(error) or type(error).__name__}"
            ) from error
        if len(given) != len(texts):
            raise RerankError(
                f"the reranking model {self.name} gave {len(given)} scores for {len(texts)} texts"
            )
        wrong = next((score for score in given if not 0.0 <= score <= 1.0), None)
        if wrong is not None:
            what = f"{wrong:g}" if math.isfinite(wrong) else "no number"
            raise RerankError(
                f"the reranking model {self.name} gave {what} as a score, which must lie between 0 and 1"
            )
        return given
