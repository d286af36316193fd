"""The provider `bundled`: a static multilingual model inside the package. No key, no network, no download.

A text's vector is the sum of its pieces' vectors (each row's length is the piece's weight), normalised:
384 dimensions, 0.2 ms for a text of 220 words in bulk. The table was distilled from a multilingual
transformer; see the NOTICE beside the files. A query is embedded with the standard library alone, at 0.05 ms
a word; numpy, sixty times as fast on long texts, is loaded only for bulk work.
"""

from __future__ import annotations

import json
import math
import mmap
import sys
from array import array
from binascii import crc32
from collections.abc import Mapping, Sequence
from functools import cache
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ProviderUnavailable
from .base import Input, NoVector, Vector, pack, texts_of
from .pieces import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "static"
MODEL_FOLDER = Path(__file__).parent / "static"
_UNRELATED_COSINE = 0.05
"""About the lower quartile of the cosines of unrelated passages in mixed notes (the median is 0.09 to 0.12;
single-topic dialogues lie higher)."""
_BULK = 64
"""From this many texts on the files' hashes are checked first: it takes as long as 300 texts."""
_NO_WORDS = NoVector("no word of the text is in the model's vocabulary")


class StaticModel:
    """The model's files, mapped into memory. Raises ProviderUnavailable when they are missing or damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            meta = json.loads((folder / "meta.json").read_text("utf-8"))
            self.dimensions, count = int(meta["dim"]), int(meta["pieces"])
            self.revision = f"{crc32((folder / 'SHA256SUMS').read_bytes()):08x}"
            self.vocabulary = Vocabulary((folder / "pieces.txt").read_bytes(), _floats(folder / "scores.f32"))
            self.scales = _floats(folder / "scales.f32")
            with (folder / "vectors.i8").open("rb") as file:
                self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _damaged(folder, str(error)) from error
        if len(self.scales) != count or len(self._mapped) != count * self.dimensions:
            raise _damaged(folder, "the sizes of its files do not fit together")
        self.rows = memoryview(self._mapped).cast("b")
        self._matrix: tuple[NDArray[np.int8], NDArray[np.float32]] | None = None

    def verify(self) -> None:
        """Compare every file with its recorded SHA-256. Raises ProviderUnavailable on a difference."""
        import hashlib  # loads OpenSSL

        for line in (self.folder / "SHA256SUMS").read_text("ascii").splitlines():
            expected, name = line.split()
            try:
                with (self.folder / name).open("rb") as file:
                    actual = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise _damaged(self.folder, str(error)) from error
            if actual != expected:
                raise _damaged(self.folder, f"{name} does not have its recorded hash")

    def embed(self, text: str) -> Vector | NoVector:
        """One text's vector, by the standard library alone."""
        width, rows, scales = self.dimensions, self.rows, self.scales
        total = [0.0] * width
        for piece in self.vocabulary.encode(text):
            scale = scales[piece]
            row = rows[piece * width : (piece + 1) * width]
            total = list(map(add, total, [scale * number for number in row]))
        norm = math.hypot(*total)
        return pack([value / norm for value in total]) if norm else _NO_WORDS

    def embed_many(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        """Many texts' vectors, by numpy."""
        import numpy as np

        if self._matrix is None:
            table = np.frombuffer(self._mapped, np.int8).reshape(-1, self.dimensions)
            self._matrix = table, np.array(self.scales, np.float32)
        table, scales = self._matrix
        vectors: list[Vector | NoVector] = []
        for text in texts:
            pieces = self.vocabulary.encode(text)
            total = scales[pieces] @ table[pieces].astype(np.float32)
            norm = float(np.linalg.norm(total)) if pieces else 0.0
            vectors.append((total / norm).astype("<f4").tobytes() if norm else _NO_WORDS)
        return vectors


@cache
def packaged_model() -> StaticModel:
    """The model inside the package, loaded once: its files never change while a process runs."""
    return StaticModel(MODEL_FOLDER)


class BundledEmbedder:
    """The bundled model as a provider."""

    id = "bundled"
    model = MODEL
    max_batch_items = 512
    max_batch_tokens = 10_000_000
    max_input_tokens = 1_000_000
    max_in_flight = 1
    takes_media = False
    worth_caching = False
    unrelated_cosine = _UNRELATED_COSINE
    relative_weight = 1.0

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds the model's files; those of the package unless given."""
        self._static = StaticModel(folder) if folder else packaged_model()
        self._verified = False

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Provider, model, revision of the files and dimensions."""
        return {
            "provider": self.id,
            "model": self.model,
            "revision": self._static.revision,
            "dimensions": self._static.dimensions,
        }

    def embed_query(self, text: str) -> Vector | NoVector:
        """The query's vector, without numpy."""
        return self._static.embed(text)

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """The texts' vectors; small batches, such as one edited note, do without numpy too."""
        texts = texts_of(inputs)
        if len(texts) >= _BULK and not self._verified:
            self.verify()
        if len(texts) <= 4 and "numpy" not in sys.modules:
            return [self._static.embed(text) for text in texts]
        return self._static.embed_many(texts)

    def verify(self) -> None:
        """Check the model's files against their hashes. Raises ProviderUnavailable on damage."""
        self._static.verify()
        self._verified = True

    def close(self) -> None:
        """The model's files are shared and stay mapped."""


def _floats(path: Path) -> array[float]:
    numbers = array("f")
    numbers.frombytes(path.read_bytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _damaged(folder: Path, detail: str) -> ProviderUnavailable:
    return ProviderUnavailable(
        f"the embedded model in {folder} is missing or damaged: {detail}", hint="reinstall memlane"
    )
