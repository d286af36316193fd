"""What the dialects of all providers have in common: requests to be sent and vectors that are read.

Pure: values in, bytes out, and back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec

from ...values import Value
from ..base import NoVector, Vector, pack

Purpose = Literal["query", "document"]
_Shape = TypeVar("_Shape")


class Request(Value, frozen=True):
    """One request to be sent."""

    path: str
    """Below the base address."""
    body: bytes


class Malformed(ValueError):  # noqa: N818 - reads as a statement of fact
    """A good answer that cannot be understood; the text says how."""


def document_of(content: object) -> bytes:
    """A JSON body."""
    return msgspec.json.encode(content)


def read_shape(body: bytes, shape: type[_Shape]) -> _Shape:
    """The answer in this shape. Raises Malformed.

    Numbers that are none (`NaN`, `null`) are let through where the shape has a vector: they spoil that one alone.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        return msgspec.convert(json.loads(body), shape)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise Malformed(f"answered something that is not its documented form: {_beginning(error)}") from None


def vector_of(numbers: Any) -> Vector | NoVector:  # noqa: ANN401 - what came over the network
    """A vector from what should be a list of numbers."""
    try:
        return pack(numbers)
    except (TypeError, OverflowError):
        return NoVector("the provider's vector holds something that is not a number")


def in_order(rows: Sequence[tuple[int | None, Any]], count: int) -> list[Vector | NoVector]:
    """The vectors of rows that say which input they belong to; in the order they came where none says so.

    Raises Malformed for a wrong count, or when it is not clear what belongs to what.
    """
    if len(rows) != count:
        raise Malformed(f"answered {len(rows)} vectors for {count} texts")
    if any(index is not None for index, _ in rows):
        by_index = dict(rows)
        if set(by_index) != set(range(count)):
            raise Malformed("answered vectors whose numbers do not fit the texts")
        return [vector_of(by_index[place]) for place in range(count)]
    return [vector_of(numbers) for _, numbers in rows]


def _beginning(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
