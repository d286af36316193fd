"""The batch interface of OpenAI: files, batches, and result files of JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from ..base import Vector, pack
from ..endpoint import Endpoint
from .base import Call, JobState, Json, Phase, ResultRow
from .lines import as_count, as_object, as_text, form_data, json_line, json_object, part

PHASES: Mapping[str, Phase] = {
    "validating": "running",
    "in_progress": "running",
    "finalizing": "running",
    "cancelling": "running",
    "completed": "ended",
    "expired": "ended",
    "cancelled": "ended",
    "failed": "failed",
}
_OWN_ID = "memlane"
"""The key under which our id goes into a job's metadata."""
_PAGE = "100"


class OpenAiBatches:
    """OpenAI's batches for one model. One text a request, joined by `custom_id`."""

    max_requests = 50_000
    max_bytes = 200_000_000
    window = timedelta(hours=24)
    completion_window = "24h"

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def line(self, key: str, text: str) -> bytes:
        """A request with its address and all its parameters."""
        body: dict[str, Any] = {"model": self._endpoint.model, "input": text}
        if self._endpoint.dimensions is not None:
            body["dimensions"] = self._endpoint.dimensions
        return json_line({"custom_id": key, "method": "POST", "url": "/v1/embeddings", "body": body})

    def upload(self, own: str, lines: Iterable[bytes]) -> Call:
        """A form with the purpose and the file."""
        body = form_data(own, {"purpose": "batch"}, f"{own}.jsonl", lines)
        return Call("POST", "/files", body=body, content_type=f"multipart/form-data; boundary={own}")

    def uploaded(self, answer: Json) -> str:
        """The file's id."""
        return as_text(answer.get("id"))

    def create(self, own: str, file: str) -> Call:
        """A batch over the file, with our id among its metadata."""
        job = {
            "input_file_id": file,
            "endpoint": "/v1/embeddings",
            "completion_window": self.completion_window,
            "metadata": {_OWN_ID: own},
            **self._parameters(),
        }
        return Call("POST", "/batches", body=json_line(job), content_type="application/json")

    def look(self, remote: str) -> Call:
        """Ask for one batch."""
        return Call("GET", f"/batches/{remote}")

    def state(self, answer: Json) -> JobState:
        """What a batch object tells. Both files may be there: results, and requests that failed."""
        state = as_text(answer.get("status"))
        counts = part(answer, "request_counts")
        files = (answer.get("output_file_id"), answer.get("error_file_id"))
        return JobState(
            as_text(answer.get("id")),
            str(part(answer, "metadata").get(_OWN_ID, "")),
            state,
            PHASES.get(state, "unknown"),
            as_count(counts.get("completed")),
            as_count(counts.get("failed")),
            tuple(str(file) for file in files if file),
            _reason(part(answer, "errors").get("data")),
        )

    def listing(self, page: str) -> Call:
        """Ask for the batches there are; a page is named by the last batch of the one before."""
        return Call("GET", "/batches", {"limit": _PAGE, **({"after": page} if page else {})})

    def listed(self, answer: Json) -> tuple[list[JobState], str]:
        """One page of batches."""
        jobs = [self.state(as_object(entry)) for entry in answer.get("data") or ()]
        return jobs, jobs[-1].remote if jobs and answer.get("has_more") else ""

    def download(self, file: str) -> Call:
        """Ask for what a file holds."""
        return Call("GET", f"/files/{file}/content")

    def row(self, line: bytes) -> ResultRow:
        """A line of the output file or of the error file."""
        entry = json_object(line)
        key = as_text(entry.get("custom_id"))
        response = part(entry, "response")
        body = part(response, "body")
        if entry.get("error") or response.get("status_code") != 200:
            said = entry.get("error") or body.get("error") or body or response
            return ResultRow(key, None, _message(said) or "refused")
        return ResultRow(key, _vector(body))

    def _parameters(self) -> dict[str, Any]:
        """What the job says besides its requests: here each of those says it all."""
        return {}


def _vector(body: Json) -> Vector:
    """The one vector of an answer. Raises ValueError."""
    data = body.get("data")
    if not isinstance(data, list) or len(data) != 1:
        raise ValueError("one embedding was expected")
    try:
        return pack(as_object(data[0])["embedding"])
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError("an embedding of numbers was expected") from error


def _reason(errors: Any) -> str:  # noqa: ANN401 - any JSON
    return "; ".join(filter(None, map(_message, errors[:3]))) if isinstance(errors, list) else ""


def _message(said: Any) -> str:  # noqa: ANN401 - any JSON
    """What an error says, in its own words, from whichever of the usual places."""
    if isinstance(said, dict):
        said = said.get("message") or said.get("detail") or said.get("code") or ""
    return str(said)[:200]
