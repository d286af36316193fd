"""A loopback server of Gemini's embeddings, strict and with faults on demand.

Written from ai.google.dev/api/embeddings (embedContent, batchEmbedContents, EmbedContentRequest, TaskType) and
ai.google.dev/gemini-api/docs/embeddings (dimensions, prefixes of the second generation, media), as read on
2026-12-01; error bodies are google.rpc.Status with typed details (google.aip.dev/193).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from .embeddings_api import KEY, Refused, Reply, Service, as_json

_TYPES = "type.googleapis.com/google.rpc."


class GeminiService(Service):
    """`models/{m}:embedContent` and `:batchEmbedContents` of one model."""

    key_header = ("x-goog-api-key", KEY)
    model = "gemini-embedding-001"
    max_items = 100
    max_input_tokens = 2048
    refuses_media = False

    def check(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        name, wanted = self.key_header
        if headers.get(name) != wanted:
            raise Refused(self.wrong_key(headers.get(name, "")))
        found = re.fullmatch(r"/v1beta/models/([\w.-]+):(embedContent|batchEmbedContents)", path)
        if found is None:
            raise Refused(Reply(404, b"<html>Error 404 (Not Found)!!1</html>"))
        if found[1] != self.model:
            raise Refused(self.wrong_model(found[1]))

    def texts_of(self, path: str, body: Any) -> list[str]:
        if path.endswith(":embedContent"):
            return [self.text_of(body)]
        self.only(body, {"requests"})
        for request in body["requests"]:
            if request.get("model") != f"models/{self.model}":
                raise Refused(self.error(400, "BatchEmbedContentsRequest.requests: model must be the same"))
        return [self.text_of(request) for request in body["requests"]]

    def text_of(self, request: Any) -> str:
        second = self.model.startswith("gemini-embedding-2")
        task = set() if second else {"taskType", "title"}
        self.only(request, {"model", "content", "outputDimensionality", *task})
        if not second and request.get("taskType") not in {"RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"}:
            raise Refused(self.error(400, "Invalid value at 'task_type'"))
        size = request.get("outputDimensionality")
        if size is not None and not 128 <= size <= 3072:
            raise Refused(self.error(400, "output_dimensionality must be between 128 and 3072"))
        self.only(request["content"], {"parts", "role"})
        return "\n".join(self.part(each, second) for each in request["content"]["parts"])

    def part(self, part: Any, second: bool) -> str:
        self.only(part, {"text", "inlineData"})
        if "text" in part:
            return part["text"]
        if not second or self.refuses_media:
            raise Refused(self.error(400, "Unable to process input image. Please retry or report."))
        self.only(part["inlineData"], {"mimeType", "data"})
        return f"{part['inlineData']['mimeType']} {b64decode(part['inlineData']['data'], validate=True)!r}"

    def only(self, document: Any, allowed: set[str]) -> None:
        for name in set(document) - allowed:
            text = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            raise Refused(self.error(400, text))

    def document(self, path: str, body: Any, vectors: list[Any], fault: str) -> Any:
        rows = [{"values": vector} for vector in vectors]
        if not path.endswith(":embedContent"):
            return {"embeddings": rows}
        return {"embedding": rows[0]} if rows else {}

    def dimensions_for(self, body: Any) -> int:
        request = body["requests"][0] if "requests" in body else body
        return int(request.get("outputDimensionality") or self.dimensions)

    def error(self, status: int, message: str, code: str | None = None, **headers: str) -> Reply:
        return self.status(status, message, [], **headers)

    def status(self, status: int, message: str, details: list[Any], **headers: str) -> Reply:
        word = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}.get(status, "UNKNOWN")
        error = {"code": status, "message": message, "status": word, "details": details}
        return as_json(status, {"error": error}, **headers)

    def wrong_key(self, given: str) -> Reply:
        info = {"@type": f"{_TYPES}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        return self.status(400, "API key not valid. Please pass a valid API key.", [info])

    def wrong_model(self, name: str) -> Reply:
        text = f"models/{name} is not found for API version v1beta, or is not supported for embedContent."
        return self.error(404, f"{text} Call ListModels to see the list of available models.")

    def too_many_items(self, count: int) -> Reply:
        text = "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch\n"
        return self.error(400, text.replace("100", str(self.max_items)))

    def too_long(self, tokens: int) -> Reply:
        text = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed"
        return self.error(400, f"{text} ({self.max_input_tokens}).")

    def too_many_tokens(self, tokens: int) -> Reply:
        return self.error(400, "Request payload size exceeds the limit: 20971520 bytes.")

    def rate_limited(self, **headers: str) -> Reply:
        """Gemini says in the body how long to wait."""
        pause = headers.pop("retry-after", None)
        details = [self.violation("EmbedContentRequestsPerMinutePerUserPerProjectPerModel-FreeTier")]
        if pause is not None:
            details.append({"@type": f"{_TYPES}RetryInfo", "retryDelay": f"{pause}s"})
        return self.status(429, "You exceeded your current quota, please check your plan.", details)

    def quota_used_up(self) -> Reply:
        details = [self.violation("EmbedContentRequestsPerDayPerUserPerProjectPerModel-FreeTier")]
        details.append({"@type": f"{_TYPES}RetryInfo", "retryDelay": "21s"})
        return self.status(429, "You exceeded your current quota, please check your plan.", details)

    def violation(self, quota: str) -> Any:
        return {"@type": f"{_TYPES}QuotaFailure", "violations": [{"quotaId": quota, "quotaValue": "1000"}]}


class Gemini2Service(GeminiService):
    """The second generation: no task types, longer texts, media."""

    model = "gemini-embedding-2"
    max_input_tokens = 8192
