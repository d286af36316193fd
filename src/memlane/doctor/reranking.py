"""The reranking model: whether it can be used, and how much it reads before its deadline."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from ..errors import RerankError
from ..rerank.base import CheckedReranker
from .findings import Finding, advice, failure, fine
from .subject import Subject

_PASSAGE = "Memory is a set of notes in Markdown, and each of them is cut into passages. " * 16
"""As long as most passages get, about 300 tokens."""


def check_reranking(subject: Subject) -> Iterator[Finding]:
    """Read one passage. Nothing to say where there is no reranking model."""
    if subject.choose_reranker is None:
        return
    rerank = subject.settings.memory_search.query.rerank
    try:
        model = CheckedReranker(subject.choose_reranker())
        model.scores("memory", [_PASSAGE])  # the first one takes longer
        started = perf_counter()
        model.scores("memory", [_PASSAGE])
    except RerankError as error:
        yield failure("reranking", error)
        return
    took = 1000 * (perf_counter() - started)
    told = f"{model.name}: reads a passage in {took:.0f} ms"
    if rerank.deadline_ms and took * rerank.candidates > rerank.deadline_ms:
        yield advice(
            "reranking",
            f"{told}, so {rerank.candidates} may take longer than the deadline of {rerank.deadline_ms} ms",
            "lower query.rerank.candidates, raise query.rerank.deadlineMs, or take a smaller model",
        )
        return
    yield fine("reranking", told)
