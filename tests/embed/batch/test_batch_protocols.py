"""Requests and answers of the three interfaces, field by field (sources: tests/loopback/batch_api.py)."""

from __future__ import annotations

import json

import pytest

from memlane.embed.base import pack
from memlane.embed.batch.base import ResultRow
from memlane.embed.batch.gemini import GeminiBatches
from memlane.embed.batch.lines import split_lines
from memlane.embed.batch.openai import OpenAiBatches
from memlane.embed.batch.voyage import VoyageBatches
from memlane.embed.endpoint import Endpoint

OPENAI = OpenAiBatches(Endpoint("openai", "openai", "https://h/v1", "small", dimensions=512))
VOYAGE = VoyageBatches(Endpoint("voyage", "voyage", "https://h/v1", "voyage-4-large", dimensions=512))
GEMINI = GeminiBatches(
    Endpoint("gemini", "gemini", "https://h/v1beta", "gemini-embedding-001", dimensions=768)
)
SECOND = GeminiBatches(Endpoint("gemini", "gemini", "https://h/v1beta", "gemini-embedding-2-preview"))


def test_lines() -> None:
    assert json.loads(OPENAI.line("0a", "tea")) == {
        "custom_id": "0a",
        "method": "POST",
        "url": "/v1/embeddings",
        "body": {"model": "small", "input": "tea", "dimensions": 512},
    }
    assert json.loads(VOYAGE.line("0a", "tea")) == {"custom_id": "0a", "body": {"input": ["tea"]}}
    assert json.loads(GEMINI.line("0a", "tea")) == {
        "key": "0a",
        "request": {
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": "tea"}]},
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 768,
        },
    }
    assert json.loads(SECOND.line("0a", "tea"))["request"] == {
        "model": "models/gemini-embedding-2-preview",
        "content": {"parts": [{"text": "title: none | text: tea"}]},
    }


def test_what_a_job_says() -> None:
    common = {"input_file_id": "file-1", "endpoint": "/v1/embeddings", "metadata": {"memlane": "memlane-1"}}
    assert body(OPENAI.create("memlane-1", "file-1")) == {**common, "completion_window": "24h"}
    assert body(VOYAGE.create("memlane-1", "file-1")) == {
        **common,
        "completion_window": "12h",
        "request_params": {"model": "voyage-4-large", "input_type": "document", "output_dimension": 512},
    }
    call = GEMINI.create("memlane-1", "files/x")
    assert call.path == "/models/gemini-embedding-001:asyncBatchEmbedContent"
    assert body(call) == {"batch": {"displayName": "memlane-1", "inputConfig": {"fileName": "files/x"}}}


def body(call) -> object:
    return json.loads(call.body)


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        *((state, "running") for state in ("validating", "in_progress", "finalizing", "cancelling")),
        *((state, "ended") for state in ("completed", "expired", "cancelled")),
        ("failed", "failed"),
        ("paused", "unknown"),
    ],
)
def test_states_of_openai(state: str, phase: str) -> None:
    assert OPENAI.state({"id": "b", "status": state}).phase == phase


@pytest.mark.parametrize("prefix", ["BATCH_STATE_", "JOB_STATE_"])
@pytest.mark.parametrize(
    ("state", "phase"),
    [
        *((state, "running") for state in ("PENDING", "QUEUED", "RUNNING", "CANCELLING")),
        *((state, "ended") for state in ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "EXPIRED", "CANCELLED")),
        ("FAILED", "failed"),
        ("UNSPECIFIED", "unknown"),
    ],
)
def test_states_of_gemini(prefix: str, state: str, phase: str) -> None:
    assert GEMINI.state({"name": "batches/b", "metadata": {"state": prefix + state}}).phase == phase


def test_an_operation_that_is_done_is_over_whatever_its_state_is_called() -> None:
    assert GEMINI.state(
        {"name": "batches/b", "done": True, "response": {"responsesFile": "files/o"}}
    ).phase == ("ended")
    failed = GEMINI.state({"name": "batches/b", "done": True, "error": {"code": 3, "message": "no good"}})
    assert (failed.phase, failed.reason) == ("failed", "no good")


@pytest.mark.parametrize("protocol", [OPENAI, VOYAGE, GEMINI])
@pytest.mark.parametrize("answer", [{}, {"id": 3, "status": []}, {"name": None, "metadata": "x"}])
def test_an_answer_of_another_shape_is_a_value_error(protocol, answer) -> None:
    with pytest.raises(ValueError, match="was expected"):
        protocol.state(answer)


@pytest.mark.parametrize(
    "line",
    [b"", b"[]", b"null", b"{", b"{}", b"\xff", b'{"custom_id": "a", "response": 3}', b'{"key": "a"}'],
)
@pytest.mark.parametrize("protocol", [OPENAI, VOYAGE, GEMINI])
def test_a_line_of_another_shape_is_a_value_error(protocol, line: bytes) -> None:
    with pytest.raises(ValueError):
        protocol.row(line)


@pytest.mark.parametrize("protocol", [OPENAI, VOYAGE, GEMINI])
def test_a_row_that_is_nested_beyond_reason_cannot_be_read(protocol) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        protocol.row(b'{"a":' * 100_000)


def test_rows() -> None:
    vector = pack([0.5, 1.0])
    data = {"data": [{"index": 0, "embedding": [0.5, 1.0]}]}
    good = {"custom_id": "a", "response": {"status_code": 200, "body": data}, "error": None}
    assert OPENAI.row(json.dumps(good).encode()) == ResultRow("a", vector)
    late = {"custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "too late"}}
    assert OPENAI.row(json.dumps(late).encode()) == ResultRow("a", None, "too late")
    bad = {"custom_id": "a", "response": {"status_code": 400, "message": "too long"}}
    assert VOYAGE.row(json.dumps(bad).encode()) == ResultRow("a", None, "too long")
    row = {"key": "a", "response": {"embedding": {"values": [0.5, 1]}}}
    assert GEMINI.row(json.dumps(row).encode()) == ResultRow("a", vector)
    refused = {"key": "a", "error": {"code": 3, "message": "no"}}
    assert GEMINI.row(json.dumps(refused).encode()) == ResultRow("a", None, "no")


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([], []),
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc", b"\n\n", b"d"], [b"ab", b"c", b"d"]),
        ([b"a\r\nb\r\n"], [b"a", b"b"]),
        (["a\u2028b\n".encode()], ["a\u2028b".encode()]),
    ],
)
def test_lines_of_a_file_in_parts(parts: list[bytes], lines: list[bytes]) -> None:
    assert list(split_lines(parts)) == lines
