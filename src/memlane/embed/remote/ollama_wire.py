"""Ollama's protocols: `/api/embed` for many texts, and the older `/api/embeddings` for one.

Source: docs.ollama.com/api, "Generate embeddings", and the older docs/api.md of its repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...values import Value
from ..base import Input, NoVector, Vector, texts_of
from ..endpoint import Endpoint
from ..prompts import prompts_for
from .wire import Purpose, Request, document_of, in_order, read_shape


class _Answer(Value, frozen=True):
    embeddings: list[Any]


class _OldAnswer(Value, frozen=True):
    embedding: Any


def build(endpoint: Endpoint, inputs: Sequence[Input], purpose: Purpose) -> Request:
    """The request for these texts, with the words before them that the model wants."""
    content: dict[str, Any] = {"model": endpoint.model, "input": _prompted(endpoint, inputs, purpose)}
    if endpoint.dimensions is not None:
        content["dimensions"] = endpoint.dimensions
    return Request("api/embed", document_of(content))


def build_old(endpoint: Endpoint, inputs: Sequence[Input], purpose: Purpose) -> Request:
    """The older request, for one text; it knows nothing of dimensions."""
    (text,) = _prompted(endpoint, inputs, purpose)
    return Request("api/embeddings", document_of({"model": endpoint.model, "prompt": text}))


def read(body: bytes, count: int) -> list[Vector | NoVector]:
    """The vectors of an answer. Raises Malformed."""
    return in_order([(None, numbers) for numbers in read_shape(body, _Answer).embeddings], count)


def read_old(body: bytes, count: int) -> list[Vector | NoVector]:
    """The vector of an older answer. Raises Malformed."""
    return in_order([(None, read_shape(body, _OldAnswer).embedding)], count)


def _prompted(endpoint: Endpoint, inputs: Sequence[Input], purpose: Purpose) -> list[str]:
    prompts = prompts_for(endpoint.model)
    before = prompts.query if purpose == "query" else prompts.document
    return [before + text for text in texts_of(inputs)]
