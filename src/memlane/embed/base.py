"""What an embedding provider is, and the check every vector passes on its way in.

A vector is `bytes`: float32, little-endian, L2-normalised. That is the form SQLite stores and compares, so
no vector is copied through a Python list on its way to disk.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from ..errors import EmbeddingError
from ..values import Value

Vector = bytes

PROBE = "memory"
"""The text that is embedded to learn whether a provider works, and how long its vectors are."""
_NORM_TOLERANCE = 1e-5


class NoVector(Value, frozen=True):
    """A text that has no vector, and why. Its chunk stays searchable by keyword."""

    reason: str


class Media(Value, frozen=True):
    """A picture or a sound to be embedded."""

    label: str
    """A text that names the file; it is embedded with the bytes."""
    mime_type: str
    data: bytes


Input = str | Media
"""What a document's vector is made from."""


class Embedder(Protocol):
    """Turns texts, and where it says so media, into vectors.

    Query and document are two calls because asymmetric models want different prefixes or task types.
    Implementations may answer raw vectors; `CheckedEmbedder` guards the border.
    """

    @property
    def id(self) -> str:
        """The provider's name as in the configuration, such as `bundled`."""
        ...

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What decides whether two vectors can be compared. Never a secret.

        Provider, model and revision, endpoint, dimensions, input types.
        """
        ...

    @property
    def max_batch_items(self) -> int:
        """How many inputs one call of `embed_documents` may hold. A limit may fall as it is learned."""
        ...

    @property
    def max_batch_tokens(self) -> int:
        """How many estimated tokens one call of `embed_documents` may hold."""
        ...

    @property
    def max_input_tokens(self) -> int:
        """The longest input, in estimated tokens; longer ones must be cut by the caller."""
        ...

    @property
    def max_in_flight(self) -> int:
        """How many calls of `embed_documents` may run at a time, each in a thread of its own."""
        ...

    @property
    def takes_media(self) -> bool:
        """Whether `embed_documents` takes pictures and sounds."""
        ...

    @property
    def worth_caching(self) -> bool:
        """Whether computing a vector costs more than reading one from disk."""
        ...

    @property
    def unrelated_cosine(self) -> float | None:
        """The cosine that unrelated texts typically reach with this model: the zero of its scale.

        None where nobody knows: it is then measured on the vectors of the index.
        """
        ...

    @property
    def relative_weight(self) -> float:
        """How much the cosines of this model count beside those of the embedded static one, which count 1."""
        ...

    def embed_query(self, text: str) -> Vector | NoVector:
        """The vector of a query. Raises EmbeddingError when the provider fails."""
        ...

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """One vector per input, in order. Raises EmbeddingError when the provider fails.

        What the provider refuses of the inputs, such as a damaged picture, is a `NoVector` among the others.
        The error's `made` holds the vectors that were made before, by position: they are paid for.
        """
        ...

    def verify(self) -> None:
        """Check, at some cost, that the provider can be used. Raises EmbeddingError."""
        ...

    def close(self) -> None:
        """Let go of connections and processes. Calls that are running end with EmbeddingError.

        A pass that is ended does this too. What a host passes in has to work again when it is asked again;
        what Memlane made itself is made anew.
        """
        ...


def pack(values: Sequence[float]) -> Vector:
    """The vector of these numbers, not yet checked or normalised."""
    packed = array("f", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack(vector: Vector) -> array[float]:
    """The numbers of a vector."""
    values = array("f")
    values.frombytes(vector)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def texts_of(inputs: Sequence[Input]) -> list[str]:
    """The inputs of a model that takes texts alone. Raises ValueError for media, which it was not to get."""
    texts = [entry for entry in inputs if isinstance(entry, str)]
    if len(texts) != len(inputs):
        raise ValueError("pictures and sounds cannot be embedded by this model")
    return texts


def dimensions_of(vector: Vector) -> int:
    """How many numbers a vector holds."""
    return len(vector) // 4


def fitting(vector: Vector | NoVector, dimensions: int | None) -> Vector | NoVector:
    """The vector, or why it is none among others of so many dimensions; None where there are no others."""
    if isinstance(vector, NoVector) or dimensions in (None, dimensions_of(vector)):
        return vector
    return NoVector(f"the vector has {dimensions_of(vector)} dimensions, the others {dimensions}")


def cosine(left: array[float], right: array[float]) -> float:
    """The cosine of two normalised vectors: their dot product, summed in double precision."""
    return math.fsum(map(float.__mul__, left, right))


class CheckedEmbedder:
    """Wraps an embedder so that only sound vectors come out of it.

    Every vector is finite, has a norm above zero, is L2-normalised, and has the length of the others in its
    answer. A vector that is not becomes `NoVector`; a wrong count fails the call, because then nobody knows
    which vector belongs to which text. A whole answer of another length than before is let through: whoever
    compares vectors sees that they do not fit.
    """

    def __init__(self, inner: Embedder, *, dimensions: int | None = None) -> None:
        """`dimensions` is the one length to let through; None takes what the model gives."""
        self._inner = inner
        self._wanted = self._dimensions = dimensions
        self.closed = False
        self.id = inner.id
        self.model = inner.model
        self.identity = inner.identity
        self.max_in_flight = inner.max_in_flight
        self.takes_media = inner.takes_media
        self.worth_caching = inner.worth_caching
        self.relative_weight = inner.relative_weight

    @property
    def dimensions(self) -> int | None:
        """The length of this model's vectors, as of its last answer."""
        return self._dimensions

    @property
    def max_batch_items(self) -> int:
        """As the provider says now: it may have learned that it takes fewer."""
        return self._inner.max_batch_items

    @property
    def max_batch_tokens(self) -> int:
        """As the provider says now."""
        return self._inner.max_batch_tokens

    @property
    def max_input_tokens(self) -> int:
        """As the provider says now."""
        return self._inner.max_input_tokens

    @property
    def unrelated_cosine(self) -> float | None:
        """As is known now: it may be measured once the model is loaded."""
        return self._inner.unrelated_cosine

    def embed_query(self, text: str) -> Vector | NoVector:
        """The query's vector, checked."""
        with self._translated():
            vector = self._inner.embed_query(text)
        return self.checked([vector])[0]

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """The documents' vectors, checked, one per input."""
        with self._translated():
            vectors = self._inner.embed_documents(inputs)
        if len(vectors) != len(inputs):
            raise EmbeddingError(
                f"{self.id} ({self.model}) answered {len(vectors)} vectors for {len(inputs)} texts",
                hint="the vectors of this batch were not stored; check the endpoint and the model",
            )
        return self.checked(vectors)

    def verify(self) -> None:
        """Check that the provider can be used."""
        with self._translated():
            self._inner.verify()

    def close(self) -> None:
        """Let go of connections and processes."""
        self.closed = True
        self._inner.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Whatever a provider raises is a failure of that provider."""
        try:
            yield
        except EmbeddingError as error:
            error.made = dict(zip(error.made, self.checked(list(error.made.values())), strict=True))
            raise
        except Exception as error:
            raise EmbeddingError(
                f"{self.id} ({self.model}) failed: {error or type(error).__name__}"
            ) from error

    def checked(self, vectors: Sequence[Vector | NoVector]) -> list[Vector | NoVector]:
        """The vectors of one answer, whichever way it came, normalised, or why one is none."""
        rows = [unpack(v) if not isinstance(v, NoVector) and len(v) % 4 == 0 else array("f") for v in vectors]
        lengths = {len(row): None for row in rows if row}
        length = self._wanted or self._dimensions
        if length is None or (self._wanted is None and len(lengths) == 1):
            length = next(iter(lengths), None)
        checked: list[Vector | NoVector] = []
        for vector, values in zip(vectors, rows, strict=True):
            if isinstance(vector, NoVector):
                checked.append(vector)
                continue
            norm = math.hypot(*values)
            problem = _problem(vector, values, norm, length)
            if problem:
                checked.append(NoVector(problem))
            elif abs(norm - 1.0) > _NORM_TOLERANCE:
                checked.append(pack([value / norm for value in values]))
            else:
                checked.append(vector)
            if not problem:
                self._dimensions = length
        return checked


def _problem(vector: Vector, values: array[float], norm: float, length: int | None) -> str:
    if not values:
        return f"a vector of {len(vector)} bytes is not a row of float32 numbers"
    if not math.isfinite(norm):
        return "the vector holds numbers that are not finite"
    if norm == 0.0:
        return "the vector is zero"
    if len(values) != length:
        return f"the vector has {len(values)} dimensions, not {length}"
    return ""
