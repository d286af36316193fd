"""Gemini's protocol: `models/{m}:embedContent` for a query, `:batchEmbedContents` for documents.

The first generation is told by `taskType` what a text is; the second by words before it, and it takes pictures
and sounds as well. Source: ai.google.dev/gemini-api/docs/embeddings and ai.google.dev/api/embeddings.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...values import Value
from ..base import Input, Media, NoVector, Vector
from ..endpoint import Endpoint
from .wire import Purpose, Request, document_of, in_order, read_shape

_TASK_TYPES = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_PREFIXES = {"query": "task: search result | query: ", "document": "title: none | text: "}


class _Embedding(Value, frozen=True):
    values: Any


class _One(Value, frozen=True):
    embedding: _Embedding


class _Many(Value, frozen=True):
    embeddings: list[_Embedding]


def is_second_generation(model: str) -> bool:
    """Whether the model takes media, and words before a text in the place of a task type."""
    return model.startswith("gemini-embedding-2")


def build(endpoint: Endpoint, inputs: Sequence[Input], purpose: Purpose) -> Request:
    """The request for one query, or for documents."""
    name = f"models/{quote(endpoint.model, safe='-._')}"
    if purpose == "query":
        (query,) = inputs
        return Request(f"{name}:embedContent", document_of(_content(endpoint, query, purpose)))
    requests = [{"model": f"models/{endpoint.model}", **_content(endpoint, each, purpose)} for each in inputs]
    return Request(f"{name}:batchEmbedContents", document_of({"requests": requests}))


def read(body: bytes, count: int) -> list[Vector | NoVector]:
    """The vectors of an answer to documents. Raises Malformed."""
    return in_order([(None, each.values) for each in read_shape(body, _Many).embeddings], count)


def read_query(body: bytes, count: int) -> list[Vector | NoVector]:
    """The vector of an answer to a query. Raises Malformed."""
    return in_order([(None, read_shape(body, _One).embedding.values)], count)


def _content(endpoint: Endpoint, each: Input, purpose: Purpose) -> dict[str, Any]:
    second = is_second_generation(endpoint.model)
    content: dict[str, Any] = {"content": {"parts": _parts(each, _PREFIXES[purpose] if second else "")}}
    if not second:
        content["taskType"] = _TASK_TYPES[purpose]
    if endpoint.dimensions is not None:
        content["outputDimensionality"] = endpoint.dimensions
    return content


def _parts(each: Input, prefix: str) -> list[dict[str, Any]]:
    if isinstance(each, Media):
        data = {"mimeType": each.mime_type, "data": b64encode(each.data).decode()}
        return [{"text": each.label}, {"inlineData": data}]
    return [{"text": prefix + each}]
