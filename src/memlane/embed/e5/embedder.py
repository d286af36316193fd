"""multilingual-e5-small as a provider: better across languages than the static model, slower to index."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from ..base import Input, NoVector, Vector, texts_of
from .language_map import VERSION as MAP_VERSION
from .weights_file import SHA256, find_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .weights import Weights

    Floats = NDArray[np.float32]

MODEL = "multilingual-e5-small"
DIMENSIONS = 384
Engine = Literal["auto", "numpy", "onnxruntime"]
_NO_WORDS = NoVector("the text holds no word")
_RELATIVE_WEIGHT = 3.0
"""Measured against 1 on seven sets, outside the pipeline: where question and note are in two languages,
recall@5 +.013 and MRR +.02; til-ko +.016 and +.012; English dialogues −.008 and −.012; the others within
.003."""
_UNRELATED_COSINE = 0.09
"""Between the median (0.086) and the mean (0.095) of 20,000 pairs of a question and a passage, drawn at
random from four evaluation sets in English, Korean, Chinese and Spanish; without the map they lie at 0.74."""


class Encoder(Protocol):
    """Runs the model's layers."""

    @property
    def name(self) -> str:
        """What runs them."""
        ...

    def encode(self, sequences: Sequence[Sequence[int]]) -> Floats:
        """One row a sequence of tokens, not normalised."""
        ...


class E5Embedder:
    """The model as an embedder. The weights are found at once, checked and loaded at the first text (1 s).

    Texts of any length: more than 512 tokens are taken in parts of even length, whose vectors are averaged.
    Thread-safe: a query does not wait for documents that another thread embeds.
    """

    id = "bundled"
    model = MODEL
    max_batch_items = 32
    max_batch_tokens = 10_000_000
    max_input_tokens = 1_000_000
    max_in_flight = 1
    takes_media = False
    worth_caching = True
    unrelated_cosine = _UNRELATED_COSINE
    relative_weight = _RELATIVE_WEIGHT

    def __init__(self, path: Path | None = None, *, engine: Engine = "auto") -> None:
        """`path` is the weights' file, by default the installed one. `auto` takes onnxruntime if it is there.

        Raises ProviderUnavailable when the file is missing or of the wrong size.
        """
        self._path = path or find_weights()
        self._wanted = engine
        self._model: _Model | None = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Provider, model, hash of the weights, version of the language map, and dimensions.

        Not the engine: both give a text vectors of a cosine above 0.99.
        """
        return {
            "provider": self.id,
            "model": self.model,
            "revision": f"{SHA256[:12]}+map{MAP_VERSION}",
            "dimensions": DIMENSIONS,
        }

    @property
    def engine(self) -> str:
        """Which engine runs the model: `onnxruntime` or `numpy`. Loads it."""
        return self._loaded().encoder.name

    def embed_query(self, text: str) -> Vector | NoVector:
        """The query's vector. Raises ProviderUnavailable when the weights cannot be used."""
        return self._loaded().embed("query: ", [text])[0]

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """The texts' vectors. Raises ProviderUnavailable when the weights cannot be used."""
        return self._loaded().embed("passage: ", texts_of(inputs))

    def verify(self) -> None:
        """Check the weights against their hash. Raises ProviderUnavailable on damage."""
        from .weights_file import check_hash

        check_hash(self._path)

    def close(self) -> None:
        """The weights go with the embedder."""

    def _loaded(self) -> _Model:
        with self._loading:
            if self._model is None:
                self._model = _Model(self._path, self._wanted)
            return self._model


class _Model:
    """Tokenizer, encoder and language map, ready for use."""

    def __init__(self, path: Path, engine: Engine) -> None:
        from .language_map import LanguageMap
        from .tokens import Tokenizer
        from .weights import Weights

        weights = Weights(path)
        self._marks = weights.start, weights.end
        self._room = weights.positions - 2
        self._tokenizer = Tokenizer(weights.pieces, weights.scores, weights.replacements, weights.unknown)
        self._map = LanguageMap(width=weights.width)
        self.encoder = _encoder(weights, engine)

    def embed(self, prefix: str, texts: Sequence[str]) -> list[Vector | NoVector]:
        import numpy as np

        parts = [self._parts(prefix, text) for text in texts]
        vectors: list[Vector | NoVector] = [_NO_WORDS] * len(texts)
        filled = [index for index, sequences in enumerate(parts) if sequences]
        if not filled:
            return vectors
        rows = self.encoder.encode([sequence for index in filled for sequence in parts[index]])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        starts = np.cumsum([0, *(len(parts[index]) for index in filled[:-1])])
        sums = np.add.reduceat(rows, starts, axis=0)
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        for index, vector in zip(filled, self._map.apply(sums).astype("<f4"), strict=True):
            vectors[index] = vector.tobytes()
        return vectors

    def _parts(self, prefix: str, text: str) -> list[list[int]]:
        """The text's token sequences, each with prefix and marks; none for a text without a word."""
        tokens = self._tokenizer.encode(text)
        if not tokens:
            return []
        start, end = self._marks
        opening = [start, *self._tokenizer.encode(prefix)]
        room = self._room - len(opening) + 1
        count = -(-len(tokens) // room)
        borders = [len(tokens) * number // count for number in range(count + 1)]
        return [[*opening, *tokens[first:last], end] for first, last in pairwise(borders)]


def _encoder(weights: Weights, engine: Engine) -> Encoder:
    from .encoder_numpy import NumpyEncoder

    if engine == "numpy":
        return NumpyEncoder(weights)
    from .encoder_onnx import OnnxEncoder

    try:
        return OnnxEncoder(weights)
    except ImportError:
        if engine == "onnxruntime":
            raise
        return NumpyEncoder(weights)
