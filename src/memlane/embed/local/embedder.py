"""A GGUF model as a provider."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from ...errors import EmbeddingError, ProviderUnavailable
from ..base import PROBE, Input, NoVector, Vector, texts_of
from ..prompts import VERSION as PROMPTS
from .child import Answer
from .engine import Engine, Role, mean_row
from .model_file import ModelFile

_SLICE_TEXTS = 4
_SLICE_CHARACTERS = 6000
"""What the process is asked at a time. A query waits for no more than this."""
_ANSWER_SECONDS = 300.0
"""Far more than a slice takes on a slow machine, so that only a process that hangs is ended."""
_UNRELATED_COSINE = 0.3
"""Until it has been measured, when the model is first loaded."""
_RELATIVE_WEIGHT = 3.0
"""That of the one transformer it was measured for, multilingual-e5-small."""
_NO_WORDS = NoVector("the text holds no word")


class LocalEmbedder:
    """Runs a GGUF model by llama.cpp, in a process of its own that is started with the first text.

    Texts of any length: one that is too long for the model is taken in parts of even length, whose vectors
    are averaged. Thread-safe.
    """

    id = "local"
    max_batch_items = 32
    max_batch_tokens = 10_000_000
    max_input_tokens = 1_000_000
    max_in_flight = 1
    takes_media = False
    worth_caching = True
    relative_weight = _RELATIVE_WEIGHT

    def __init__(
        self, file: ModelFile, *, threads: int | None = None, answer_seconds: float = _ANSWER_SECONDS
    ) -> None:
        """`threads` is by default one less than there are processors. Nothing is loaded yet."""
        self.model = file.path.name
        self._file = file
        self._engine = Engine(file, threads=threads or _spare_processors(), answer_seconds=answer_seconds)

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Provider, the file's name and content, and the version of the prompts. Not its path.

        The hash is of the whole file: two models of one shape may share header and size. The hub tells the
        same hash, so that it is known before the download.
        """
        return {
            "provider": self.id,
            "model": self.model,
            "revision": self._file.sha256[:16],
            "prompts": PROMPTS,
        }

    @property
    def unrelated_cosine(self) -> float:
        """As measured when the model was first loaded, on this machine."""
        if self._engine.unrelated_cosine is None and self._file.is_here:
            try:
                self._engine.unrelated_cosine = self._file.record().unrelated_cosine
            except ProviderUnavailable:
                return _UNRELATED_COSINE
        known = self._engine.unrelated_cosine
        return _UNRELATED_COSINE if known is None else known

    @property
    def pid(self) -> int | None:
        """The id of the model's process, or None while there is none."""
        return self._engine.pid

    def embed_query(self, text: str) -> Vector | NoVector:
        """The query's vector. Raises ProviderUnavailable when the model is not downloaded yet."""
        return self._embed("query", [text])[0]

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """The texts' vectors. Downloads the model if need be."""
        texts = texts_of(inputs)
        self._file.fetch()
        made: dict[int, Vector | NoVector] = {}
        try:
            for places in _slices(texts):
                vectors = self._embed("document", [texts[place] for place in places])
                made.update(zip(places, vectors, strict=True))
        except EmbeddingError as error:
            error.made = made
            raise
        return [made[place] for place in range(len(texts))]

    def verify(self) -> None:
        """Load the model and embed a word. Raises EmbeddingError; does not download."""
        vector = self.embed_query(PROBE)
        if isinstance(vector, NoVector):
            raise ProviderUnavailable(f"{self.model} gives no vector: {vector.reason}")

    def close(self) -> None:
        """End the process."""
        self._engine.close()

    def _embed(self, role: Role, texts: Sequence[str]) -> list[Vector | NoVector]:
        worded = [text for text in texts if text.strip()]
        answers = iter(self._engine.answers(role, worded) if worded else [])
        return [self._vector(role, text, next(answers)) if text.strip() else _NO_WORDS for text in texts]

    def _vector(self, role: Role, text: str, answer: Answer | NoVector) -> Vector | NoVector:
        if isinstance(answer, NoVector):
            return answer
        if answer.row:
            return answer.row
        if not answer.tokens:
            return _NO_WORDS
        limit = self._engine.limit()
        if len(text) == 1:
            return NoVector(
                f"a single character takes {answer.tokens} tokens, and {self.model} takes {limit}"
            )
        parts = _parts(text, answer.tokens // limit + 1)
        vectors = [vector for part in parts for vector in self._embed(role, [part])]
        whole = [vector for vector in vectors if not isinstance(vector, NoVector)]
        return mean_row(whole) if whole else vectors[0]


def _slices(texts: Sequence[str]) -> Iterator[list[int]]:
    """The places of the texts, in groups that are asked together."""
    group: list[int] = []
    characters = 0
    for place, text in enumerate(texts):
        if group and (len(group) == _SLICE_TEXTS or characters + len(text) > _SLICE_CHARACTERS):
            yield group
            group, characters = [], 0
        group.append(place)
        characters += len(text)
    if group:
        yield group


def _parts(text: str, count: int) -> list[str]:
    """The text in `count` parts of about even length, at least two, cut at a blank where one is near."""
    count = min(max(2, count), len(text))
    borders = [0]
    for number in range(1, count):
        border = len(text) * number // count
        blank = text.rfind(" ", border - len(text) // count // 4, border)
        borders.append(blank if blank > borders[-1] else border)
    return [text[start:end] for start, end in zip(borders, [*borders[1:], len(text)], strict=True)]


def _spare_processors() -> int:
    """All that this process may use but one, and at least one.

    The threads of llama.cpp wait for one another without sleeping: where another process takes one of their
    processors, all of them stand still together.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)
