"""OpenAI's protocol of embeddings. Mistral, Voyage and many servers of one's own speak it with small changes.

`POST {base}/embeddings` with `{model, input: [...]}` gives `data[].{index, embedding}`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...values import Value
from ..base import Input, NoVector, Vector, texts_of
from ..endpoint import Endpoint
from .wire import Purpose, Request, document_of, in_order, read_shape

InputType = Callable[[Endpoint, Purpose], str | None]


class _Row(Value, frozen=True):
    embedding: Any
    index: int | None = None


class _Answer(Value, frozen=True):
    data: list[_Row]


def configured_input_type(endpoint: Endpoint, purpose: Purpose) -> str | None:
    """The `input_type` that the configuration names."""
    return endpoint.query_input_type if purpose == "query" else endpoint.document_input_type


def no_input_type(endpoint: Endpoint, purpose: Purpose) -> str | None:  # noqa: ARG001
    """Services that refuse the field."""
    return None


def voyage_input_type(endpoint: Endpoint, purpose: Purpose) -> str | None:  # noqa: ARG001
    """Voyage puts words of its own before a text by what it is."""
    return purpose


def build(
    endpoint: Endpoint,
    inputs: Sequence[Input],
    purpose: Purpose,
    *,
    input_type: InputType,
    dimensions_field: str,
) -> Request:
    """The request for these texts."""
    content: dict[str, Any] = {"model": endpoint.model, "input": texts_of(inputs)}
    if endpoint.dimensions is not None:
        content[dimensions_field] = endpoint.dimensions
    if (kind := input_type(endpoint, purpose)) is not None:
        content["input_type"] = kind
    return Request("embeddings", document_of(content))


def read(body: bytes, count: int) -> list[Vector | NoVector]:
    """The vectors of an answer, joined by index. Raises Malformed."""
    answer = read_shape(body, _Answer)
    return in_order([(row.index, row.embedding) for row in answer.data], count)
