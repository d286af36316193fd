"""The model as something that answers: loaded when first asked, and again after a crash."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Literal

from msgspec.structs import replace

from ...errors import EmbeddingError
from ..base import PROBE, NoVector, cosine, pack, unpack
from ..prompts import Prompts, prompts_for
from .child import Answer, Child, Crash
from .model_file import ModelFile
from .records import Record
from .turns import Turns

Role = Literal["query", "document"]

_PAIRS = (
    ("Where did we park the car at the airport?", "Whisk the egg whites, then fold in the sugar."),
    ("Which port does the database listen on?", "이모의 생신은 다음 달 셋째 주 토요일이다."),
    ("프린터 드라이버는 어떻게 설치하나요?", "The lease of the flat ends in March."),
    ("¿Cuándo es la cita con el dentista?", "Rotate the signing keys before the release."),
    ("谁负责下周的预算会议？", "Auf dem Dachboden stehen zwei alte Fahrräder."),
    ("How do I undo the last commit?", "夏天我们在海边租了一间小屋。"),
)
"""A question and a note that have nothing to do with each other, nor with the rest."""


class Engine:
    """One model's process. Thread-safe; a query goes before documents that wait."""

    def __init__(self, file: ModelFile, *, threads: int, answer_seconds: float) -> None:
        """Nothing is started yet. A process that takes longer than `answer_seconds` to answer is ended."""
        self._file = file
        self._threads = threads
        self._seconds = answer_seconds
        self._turns = Turns()
        self._child: Child | None = None
        self._owner = os.getpid()
        self._closed = False
        self._prompts = Prompts()
        self.unrelated_cosine: float | None = None
        """The cosine that unrelated texts have with this model; None before it was first loaded."""

    @property
    def pid(self) -> int | None:
        """The process's id, or None while there is none."""
        child = self._child
        return child.pid if child and child.end.alive else None

    def answers(self, role: Role, texts: Sequence[str]) -> list[Answer | NoVector]:
        """One answer a text. A text that ends the process twice has none; the others do.

        Raises EmbeddingError: ProviderUnavailable when the model cannot be loaded, and when any text ends
        the process.
        """
        try:
            return list(self._asked(role, texts))
        except Crash:
            if len(texts) > 1:
                return [answer for text in texts for answer in self.answers(role, [text])]
        try:
            return list(self._asked(role, texts))
        except Crash as crash:
            reason = f"llama.cpp's process {crash}"
        try:
            self._asked(role, [PROBE])
        except Crash as crash:
            raise EmbeddingError(
                f"llama.cpp fails with {self._file.path.name}: its process {crash}",
                hint="a smaller model takes less memory",
            ) from crash
        return [NoVector(f"twice, {reason}")]

    def limit(self) -> int:
        """The most tokens of one text, once the model is loaded."""
        assert self._child is not None
        return self._child.limit

    def close(self) -> None:
        """End the process. Whoever waits for an answer of it gets an EmbeddingError."""
        self._closed = True
        if self._child is not None:
            self._child.end()

    def _asked(self, role: Role, texts: Sequence[str]) -> list[Answer]:
        with self._turns.one(hurried=role == "query"):
            try:
                child = self._running()
                prompt = self._prompts.query if role == "query" else self._prompts.document
                return child.ask([prompt + text for text in texts])
            except (Crash, EmbeddingError) as error:
                if self._closed:
                    raise EmbeddingError("the local model was closed") from error
                raise

    def _running(self) -> Child:
        """The process, started where there is none, or only one of the process that this was forked from."""
        if self._closed:
            raise EmbeddingError("the local model was closed")
        if self._child is None or not self._child.end.alive or self._owner != os.getpid():
            record = self._file.record()
            self._owner = os.getpid()
            self._child = Child(self._file.path, threads=self._threads, answer_seconds=self._seconds)
            self._end_if_closed(self._child)  # while the model was loaded
            self._prompts = prompts_for(*self._child.names, self._file.path.name)
            self.unrelated_cosine = self._measured(record, self._child)
        return self._child

    def _end_if_closed(self, child: Child) -> None:
        if self._closed:
            child.end()
            raise EmbeddingError("the local model was closed")

    def _measured(self, record: Record, child: Child) -> float:
        """The mean cosine of unrelated questions and notes: nothing in the model's file says it."""
        if record.unrelated_cosine is not None:
            return record.unrelated_cosine
        questions = child.ask([self._prompts.query + question for question, _ in _PAIRS])
        notes = child.ask([self._prompts.document + note for _, note in _PAIRS])
        rows = [(unpack(one.row), unpack(other.row)) for one, other in product(questions, notes)]
        cosines = [
            cosine(left, right) / norm
            for left, right in rows
            if len(left) == len(right) and (norm := (cosine(left, left) * cosine(right, right)) ** 0.5) > 0
        ]
        mean = min(max(sum(cosines) / len(cosines), 0.0), _MOST_UNRELATED) if cosines else 0.0
        self._file.remember(replace(record, unrelated_cosine=round(mean, 3)))
        return mean


_MOST_UNRELATED = 0.95
"""A scale must have some length: a model that finds everything alike is no use, but does no harm either."""


def mean_row(rows: Sequence[bytes]) -> bytes:
    """The mean of the directions of raw rows."""
    total: list[float] = []
    for row in rows:
        values = unpack(row)
        norm = cosine(values, values) ** 0.5 or 1.0
        total = [
            sum_ + value / norm for sum_, value in zip(total or [0.0] * len(values), values, strict=True)
        ]
    return pack(total)
