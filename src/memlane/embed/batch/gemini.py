"""The batch interface of Gemini: an uploaded file, an operation with a state, and a file of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from ..base import pack
from ..endpoint import Endpoint
from ..remote.gemini_wire import build
from .base import Call, JobState, Json, Phase, ResultRow
from .lines import as_count, as_object, as_text, json_line, json_object, part, related_parts

_PREFIXES = ("BATCH_STATE_", "JOB_STATE_")
PHASES: Mapping[str, Phase] = {
    "PENDING": "running",
    "QUEUED": "running",
    "RUNNING": "running",
    "CANCELLING": "running",
    "SUCCEEDED": "ended",
    "PARTIALLY_SUCCEEDED": "ended",
    "EXPIRED": "ended",
    "CANCELLED": "ended",
    "FAILED": "failed",
}
_FILE_TYPE = "application/jsonl"
_PAGE = "100"


class GeminiBatches:
    """Gemini's batches for one model. One text a request, joined by `key`."""

    max_requests = 50_000
    max_bytes = 2_000_000_000
    window = timedelta(hours=48)
    """Its aim is 24 hours; what is not done after 48 expires."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def line(self, key: str, text: str) -> bytes:
        """A request as the interface for single texts takes it, under its key."""
        (request,) = json_object(build(self._endpoint, [text], "document").body)["requests"]
        return json_line({"key": key, "request": request})

    def upload(self, own: str, lines: Iterable[bytes]) -> Call:
        """A description and the file in one request."""
        about = {"file": {"displayName": own, "mimeType": _FILE_TYPE}}
        return Call(
            "POST",
            "/files",
            {"uploadType": "multipart"},
            related_parts(own, about, lines, _FILE_TYPE),
            f"multipart/related; boundary={own}",
            upload=True,
        )

    def uploaded(self, answer: Json) -> str:
        """The file's name, `files/…`."""
        return as_text(as_object(answer.get("file")).get("name"))

    def create(self, own: str, file: str) -> Call:
        """A batch over the file, with our id as the name that is shown."""
        job = {"batch": {"displayName": own, "inputConfig": {"fileName": file}}}
        path = f"/models/{quote(self._endpoint.model, safe='-._')}:asyncBatchEmbedContent"
        return Call("POST", path, body=json_line(job), content_type="application/json")

    def look(self, remote: str) -> Call:
        """Ask for the operation; its name is `batches/…`."""
        return Call("GET", f"/{remote}")

    def state(self, answer: Json) -> JobState:
        """What an operation tells: its metadata describe the batch, and so may its response."""
        about = part(answer, "metadata")
        state = str(about.get("state") or "")
        counts = part(about, "batchStats")
        return JobState(
            as_text(answer.get("name")),
            str(about.get("displayName") or ""),
            state,
            _phase(state, answer),
            as_count(counts.get("successfulRequestCount")),
            as_count(counts.get("failedRequestCount")),
            _files(part(answer, "response"), part(about, "output")),
            _message(answer.get("error")),
        )

    def listing(self, page: str) -> Call:
        """Ask for the operations there are."""
        return Call("GET", "/batches", {"pageSize": _PAGE, **({"pageToken": page} if page else {})})

    def listed(self, answer: Json) -> tuple[list[JobState], str]:
        """One page of operations."""
        jobs = [self.state(as_object(entry)) for entry in answer.get("operations") or ()]
        return jobs, str(answer.get("nextPageToken") or "")

    def download(self, file: str) -> Call:
        """Ask for what a file holds, not for its description."""
        return Call("GET", f"/{file}:download", {"alt": "media"})

    def row(self, line: bytes) -> ResultRow:
        """A line of the result file: the answer to a request, or the error it ended with."""
        entry = json_object(line)
        key = as_text(entry.get("key"))
        response = part(entry, "response")
        if said := entry.get("error") or response.get("error"):
            return ResultRow(key, None, _message(said) or "refused")
        try:
            return ResultRow(key, pack(response["embedding"]["values"]))
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError("an embedding of numbers was expected") from error


def _phase(state: str, answer: Json) -> Phase:
    """What a state comes to. An operation that is done is over, whatever word its state is."""
    for prefix in _PREFIXES:
        state = state.removeprefix(prefix)
    known = PHASES.get(state)
    if known is not None:
        return known
    if answer.get("done"):
        return "failed" if answer.get("error") else "ended"
    return "unknown"


def _files(*outputs: Json) -> tuple[str, ...]:
    """The result file, which the operation names in its response, in its metadata, or in both."""
    return tuple(
        dict.fromkeys(str(output["responsesFile"]) for output in outputs if output.get("responsesFile"))
    )


def _message(said: Any) -> str:  # noqa: ANN401 - any JSON
    """What an error says, in its own words."""
    return str(said.get("message") or said.get("code") or "")[:200] if isinstance(said, dict) else ""
