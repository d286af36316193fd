"""The batch interfaces of OpenAI, Voyage and Gemini on the loopback, strict and full of faults on demand.

Written from what the providers document, as read on 2026-12-01:

- OpenAI: developers.openai.com/api/reference/resources/batches and …/files; the Batch API guide for the lines
  of result files.
- Voyage AI: docs.voyageai.com/docs/batch-inference, docs.voyageai.com/reference/create-batch, …/list-batches.
- Gemini: ai.google.dev/api/batch-api (asyncBatchEmbedContent, batches.get, batches.list, BatchState),
  ai.google.dev/gemini-api/docs/batch-api (file input, `key`, `alt=media`), ai.google.dev/api/files.

A server counts what it is paid for: each text it has embedded, by its digest as the client names it or by the
text itself where it is asked directly.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from memlane.embed.base import NoVector, unpack
from memlane.testing import HashEmbedder

from .running import running

KEY = "sk-loopback"
LOST = "lost"
"""A fault: the request is done, but the connection is closed without an answer."""
CUT = "cut"
"""A fault: the answer is cut in the middle."""
HALVES = 2
MOVED = 307
UTC_TIME = "2026-12-01T00:00:00.000000+00:00"

Reply = tuple[int, bytes]
Fault = int | str


class Refusal(Exception):
    """The server says no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Job:
    """A job as the server keeps it."""

    def __init__(self, number: int, own: str, requests: list[tuple[str, str]], model: str) -> None:
        self.remote = f"batch_{number}"
        self.own = own
        self.requests = requests
        self.model = model
        self.looks = 0
        self.state = "validating"
        self.files: dict[str, str] = {}
        self.done = self.failed = 0


class BatchApi:
    """What the three have in common: files, jobs that get on with every look, faults, and the bill."""

    dimensions = 8
    key_header = ("authorization", f"Bearer {KEY}")

    def __init__(self, *, model: str = "small") -> None:
        self.model = model
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, Job] = {}
        self.paid = Counter[str]()
        """How often each text was embedded."""
        self.direct = Counter[str]()
        """The same for those that were asked for directly."""
        self.log: list[str] = []
        """The steps that were asked for: upload, create, look, list, download, direct."""
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        """For each step: what goes wrong with the next calls. A status, LOST or CUT."""
        self.looks_needed = 2
        self.ends_as = "completed"
        """The state that jobs end in, or are stuck in when it is none of the documented ones."""
        self.answers = 1.0
        """The share of a job's requests that are worked on before it ends."""
        self.refuses: Callable[[int, str], bool] = lambda number, text: False
        """Which request of a job, by its number and text, ends in an error."""
        self.lists = True
        self.hold = threading.Event()
        """Unset: no job gets on."""
        self.hold.set()
        self.on_step: Callable[[str], None] = lambda step: None
        """Called after each step is done, before it is answered."""
        self._turn = threading.RLock()
        self._embedder = HashEmbedder(self.dimensions)

    # -- calls -----------------------------------------------------------------------------------------

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply | Fault:
        """The answer to a call, or the fault that happens instead of one."""
        parts = urlsplit(target)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        lowered = {key.lower(): value for key, value in headers.items()}
        with self._turn:
            step = self.step_of(method, parts.path)
            self.log.append(step)
            fault = self.faults[step].popleft() if self.faults[step] else None
            if isinstance(fault, int):
                return fault, self.error(f"fault {fault}")
            try:
                self.check_key(lowered)
                reply = 200, self.serve(step, parts.path, query, lowered, body)
            except Refusal as refusal:
                return refusal.status, self.error(str(refusal))
        self.on_step(step)
        if fault == CUT:
            return "cut", reply[1]
        return LOST if fault == LOST else reply

    def check_key(self, headers: Mapping[str, str]) -> None:
        name, value = self.key_header
        if headers.get(name) != value:
            raise Refusal(401, "wrong key")

    def step_of(self, method: str, path: str) -> str:
        raise NotImplementedError

    def serve(
        self, step: str, path: str, query: dict[str, str], headers: Mapping[str, str], body: bytes
    ) -> bytes:
        raise NotImplementedError

    def error(self, message: str) -> bytes:
        return json.dumps(
            {"error": {"message": message, "code": "loopback", "type": "x", "param": None}}
        ).encode()

    # -- what it does ----------------------------------------------------------------------------------

    def begin(self, own: str, requests: list[tuple[str, str]]) -> Job:
        ids = [key for key, _ in requests]
        if len(set(ids)) != len(ids):
            raise Refusal(400, "ids are not unique")
        if not 1 <= len(ids) <= 50_000:
            raise Refusal(400, "a job takes 1 to 50,000 requests")
        job = Job(len(self.jobs) + 1, own, requests, self.model)
        self.jobs[job.remote] = job
        return job

    def get_on(self, job: Job) -> None:
        """A job gets on each time it is looked at, and is worked through when it ends."""
        if not self.hold.is_set() or job.files or job.state == self.ends_as:
            return
        job.looks += 1
        job.state = "in_progress"
        if job.looks >= self.looks_needed:
            job.state = self.ends_as
            if self.ends_as in {"completed", "expired", "cancelled"}:
                self.work_through(job)

    def work_through(self, job: Job) -> None:
        rows: list[bytes] = []
        errors: list[bytes] = []
        reached = round(len(job.requests) * self.answers)
        for number, (key, text) in enumerate(job.requests):
            if number >= reached:
                errors.append(self.error_row(key, None))
            elif self.refuses(number, text):
                errors.append(self.error_row(key, 400))
            else:
                self.paid[text] += 1
                rows.append(self.row(key, self.vector(text)))
        job.done, job.failed = len(rows), len(errors)
        order = random.Random(len(rows))
        order.shuffle(rows)
        order.shuffle(errors)
        self.keep_results(job, rows, errors)

    def vector(self, text: str) -> list[float]:
        made = self._embedder.embed_query(text)
        return [0.5] * self.dimensions if isinstance(made, NoVector) else list(unpack(made))

    def row(self, key: str, vector: list[float]) -> bytes:
        raise NotImplementedError

    def error_row(self, key: str, status: int | None) -> bytes:
        raise NotImplementedError

    def keep_results(self, job: Job, rows: list[bytes], errors: list[bytes]) -> None:
        raise NotImplementedError

    def keep(self, name: str, lines: list[bytes]) -> str:
        self.files[name] = b"".join(line + b"\n" for line in lines)
        return name

    def shown(self, job: Job) -> dict[str, Any]:
        raise NotImplementedError

    def look(self, name: str) -> bytes:
        job = self.jobs.get(name)
        if job is None:
            raise Refusal(404, "no such batch")
        self.get_on(job)
        return json.dumps(self.shown(job)).encode()

    def pay_directly(self, texts: list[str]) -> list[list[float]]:
        for text in texts:
            self.paid[text] += 1
            self.direct[text] += 1
        return [self.vector(text) for text in texts]


class OpenAiApi(BatchApi):
    """https://api.openai.com/v1"""

    window = "24h"
    root = "/v1"

    def step_of(self, method: str, path: str) -> str:
        rest = path.removeprefix(self.root)
        if method == "POST":
            return {"/files": "upload", "/batches": "create", "/embeddings": "direct"}.get(rest, "?")
        if rest == "/batches":
            return "list"
        return "look" if rest.startswith("/batches/") else "download" if rest.endswith("/content") else "?"

    def serve(
        self, step: str, path: str, query: dict[str, str], headers: Mapping[str, str], body: bytes
    ) -> bytes:
        rest = path.removeprefix(self.root)
        if step == "upload":
            return self.upload(headers, body)
        if step == "create":
            return json.dumps(self.shown(self.create(loads(body, headers)))).encode()
        if step == "direct":
            return self.embed(loads(body, headers))
        if step == "look":
            return self.look(rest.removeprefix("/batches/"))
        if step == "list":
            return self.page(query)
        if step == "download":
            return self.content(rest.split("/")[2])
        raise Refusal(404, f"no such address {path}")

    def upload(self, headers: Mapping[str, str], body: bytes) -> bytes:
        fields = form_fields(headers, body)
        if set(fields) != {"purpose", "file"} or fields["purpose"] != b"batch":
            raise Refusal(400, "a file needs the purpose batch")
        if len(fields["file"]) > 200_000_000:
            raise Refusal(400, "the file is larger than 200 MB")
        name = self.keep(f"file-{len(self.files) + 1}", [])
        self.files[name] = fields["file"]
        return json.dumps({"id": name, "object": "file", "bytes": len(body), "purpose": "batch"}).encode()

    def create(self, asked: dict[str, Any]) -> Job:
        only(asked, {"input_file_id", "endpoint", "completion_window"}, {"metadata", *self.further()})
        if asked["endpoint"] != "/v1/embeddings" or asked["completion_window"] != self.window:
            raise Refusal(400, "endpoint or window")
        metadata = asked.get("metadata", {})
        if len(metadata) > 16 or any(len(key) > 64 or len(value) > 512 for key, value in metadata.items()):
            raise Refusal(400, "metadata")
        if asked["input_file_id"] not in self.files:
            raise Refusal(400, "no such file")
        lines = self.files[asked["input_file_id"]].split(b"\n")
        requests = [self.request(json.loads(line)) for line in lines if line]
        self.parameters(asked)
        return self.begin(metadata.get("memlane", ""), requests)

    def further(self) -> set[str]:
        return set()

    def parameters(self, asked: dict[str, Any]) -> None:
        """What the job says of the model."""

    def request(self, line: dict[str, Any]) -> tuple[str, str]:
        only(line, {"custom_id", "method", "url", "body"}, set())
        only(line["body"], {"model", "input"}, {"dimensions", "encoding_format"})
        if (line["method"], line["url"], line["body"]["model"]) != ("POST", "/v1/embeddings", self.model):
            raise Refusal(400, "method, address or model of a line")
        text = line["body"]["input"]
        if not isinstance(text, str) or not text:
            raise Refusal(400, "input of a line")
        return line["custom_id"], text

    def shown(self, job: Job) -> dict[str, Any]:
        return {
            "id": job.remote,
            "object": "batch",
            "endpoint": "/v1/embeddings",
            "errors": {"object": "list", "data": [{"code": "invalid", "message": "the file is no good"}]}
            if job.state == "failed"
            else None,
            "input_file_id": "file-1",
            "completion_window": self.window,
            "status": job.state,
            "output_file_id": job.files.get("output"),
            "error_file_id": job.files.get("error"),
            "created_at": 1_700_000_000,
            "request_counts": {"total": len(job.requests), "completed": job.done, "failed": job.failed},
            "metadata": {"memlane": job.own} if job.own else None,
        }

    def page(self, query: dict[str, str]) -> bytes:
        if not self.lists:
            raise Refusal(403, "this key may not list batches")
        limit = int(query.get("limit", "20"))
        if not 1 <= limit <= 100:
            raise Refusal(400, "limit")
        newest = list(reversed(self.jobs.values()))
        if "after" in query:
            names = [job.remote for job in newest]
            newest = newest[names.index(query["after"]) + 1 :]
        shown = [self.shown(job) for job in newest[:limit]]
        page = {"object": "list", "data": shown, "has_more": len(newest) > limit}
        return json.dumps({**page, "last_id": shown[-1]["id"] if shown else None}).encode()

    def content(self, name: str) -> bytes:
        if name not in self.files:
            raise Refusal(404, "no such file")
        return self.files[name]

    def row(self, key: str, vector: list[float]) -> bytes:
        data = [{"object": "embedding", "index": 0, "embedding": vector}]
        body = {"object": "list", "data": data, "model": self.model, "usage": {"total_tokens": 1}}
        response = {"status_code": 200, "request_id": "r", "body": body}
        return json.dumps(
            {"id": "batch_req_1", "custom_id": key, "response": response, "error": None}
        ).encode()

    def error_row(self, key: str, status: int | None) -> bytes:
        if status is None:
            error = {"code": "batch_expired", "message": "This request could not be executed in time."}
            return json.dumps({"id": "r", "custom_id": key, "response": None, "error": error}).encode()
        body = {"error": {"message": "too long", "code": "context_length_exceeded"}}
        response = {"status_code": status, "request_id": "r", "body": body}
        return json.dumps({"id": "r", "custom_id": key, "response": response, "error": None}).encode()

    def keep_results(self, job: Job, rows: list[bytes], errors: list[bytes]) -> None:
        for kind, lines in (("output", rows), ("error", errors)):
            if lines:
                job.files[kind] = self.keep(f"file-{kind}-{job.remote}", lines)

    def embed(self, asked: dict[str, Any]) -> bytes:
        only(asked, {"model", "input"}, {"dimensions", "encoding_format", *self.direct_fields()})
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(self.pay_directly(texts))
        ]
        return json.dumps({"object": "list", "data": data, "model": self.model}).encode()

    def direct_fields(self) -> set[str]:
        return set()


class VoyageApi(OpenAiApi):
    """https://api.voyageai.com/v1"""

    window = "12h"

    def further(self) -> set[str]:
        return {"request_params"}

    def direct_fields(self) -> set[str]:
        return {"input_type", "output_dimension", "truncation"}

    def parameters(self, asked: dict[str, Any]) -> None:
        if "request_params" not in asked:
            raise Refusal(400, "request_params are missing")
        only(asked["request_params"], {"model"}, {"input_type", "output_dimension", "truncation"})
        if asked["request_params"] != {"model": self.model, "input_type": "document"}:
            raise Refusal(400, "model or input type")

    def request(self, line: dict[str, Any]) -> tuple[str, str]:
        only(line, {"custom_id", "body"}, set())
        only(line["body"], {"input"}, set())
        (text,) = line["body"]["input"]
        return line["custom_id"], text

    def shown(self, job: Job) -> dict[str, Any]:
        shown = {**super().shown(job), "model": self.model, "created_at": UTC_TIME}
        return {**shown, "expected_completion_at": UTC_TIME, "metadata": {"memlane": job.own}}

    def error(self, message: str) -> bytes:
        return json.dumps({"detail": message}).encode()

    def error_row(self, key: str, status: int | None) -> bytes:
        response = {"status_code": status or 500, "message": "refused"}
        return json.dumps({"custom_id": key, "response": response}).encode()


class GeminiApi(BatchApi):
    """https://generativelanguage.googleapis.com/v1beta"""

    key_header = ("x-goog-api-key", KEY)
    root = "/v1beta"
    states: Mapping[str, str] = {
        "validating": "BATCH_STATE_PENDING",
        "in_progress": "BATCH_STATE_RUNNING",
        "completed": "BATCH_STATE_SUCCEEDED",
        "failed": "BATCH_STATE_FAILED",
        "expired": "BATCH_STATE_EXPIRED",
        "cancelled": "JOB_STATE_CANCELLED",
    }
    file_in = "response"
    """Where a finished operation names its result file: `response` or `metadata`."""

    def step_of(self, method: str, path: str) -> str:
        if method == "POST":
            if path == f"/upload{self.root}/files":
                return "upload"
            kinds = {
                "asyncBatchEmbedContent": "create",
                "batchEmbedContents": "direct",
                "embedContent": "direct",
            }
            return kinds.get(path.rpartition(":")[2], "?")
        rest = path.removeprefix(self.root)
        if rest == "/batches":
            return "list"
        return "look" if rest.startswith("/batches/") else "download" if rest.endswith(":download") else "?"

    def serve(
        self, step: str, path: str, query: dict[str, str], headers: Mapping[str, str], body: bytes
    ) -> bytes:
        rest = path.removeprefix(self.root)
        if step == "upload":
            return self.upload(query, headers, body)
        if step == "create":
            return json.dumps(self.shown(self.create(rest, loads(body, headers)))).encode()
        if step == "direct":
            return self.embed(rest, loads(body, headers))
        if step == "look":
            return self.look(rest.removeprefix("/batches/"))
        if step == "list":
            return self.page(query)
        if step == "download":
            name = rest.removeprefix("/").removesuffix(":download")
            if query.get("alt") != "media" or name not in self.files:
                raise Refusal(404, "no such file, or alt=media is missing")
            return self.files[name]
        raise Refusal(404, f"no such address {path}")

    def upload(self, query: dict[str, str], headers: Mapping[str, str], body: bytes) -> bytes:
        if query.get("uploadType") != "multipart":
            raise Refusal(400, "uploadType")
        about, file = related(headers, body)
        only(about, {"file"}, set())
        only(about["file"], {"displayName"}, {"mimeType"})
        name = self.keep(f"files/in{len(self.files) + 1}", [])
        self.files[name] = file
        return json.dumps(
            {"file": {"name": name, "mimeType": "application/jsonl", "state": "ACTIVE"}}
        ).encode()

    def create(self, rest: str, asked: dict[str, Any]) -> Job:
        if rest != f"/models/{self.model}:asyncBatchEmbedContent":
            raise Refusal(404, "no such model")
        only(asked, {"batch"}, set())
        only(asked["batch"], {"displayName", "inputConfig"}, {"model", "priority"})
        only(asked["batch"]["inputConfig"], {"fileName"}, set())
        name = asked["batch"]["inputConfig"]["fileName"]
        if name not in self.files:
            raise Refusal(404, "no such file")
        requests = [self.request(json.loads(line)) for line in self.files[name].split(b"\n") if line]
        return self.begin(asked["batch"]["displayName"], requests)

    def request(self, line: dict[str, Any]) -> tuple[str, str]:
        only(line, {"key", "request"}, set())
        return line["key"], self.text_of(line["request"])

    def text_of(self, request: dict[str, Any]) -> str:
        only(request, {"content"}, {"model", "taskType", "outputDimensionality", "title"})
        if request.get("model", f"models/{self.model}") != f"models/{self.model}":
            raise Refusal(400, "the model of a line")
        only(request["content"], {"parts"}, {"role"})
        (part,) = request["content"]["parts"]
        only(part, {"text"}, set())
        return part["text"]

    def shown(self, job: Job) -> dict[str, Any]:
        counts = {"requestCount": str(len(job.requests)), "successfulRequestCount": str(job.done)}
        about: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.EmbedContentBatch",
            "model": f"models/{self.model}",
            "displayName": job.own,
            "state": self.states.get(job.state, job.state),
            "batchStats": {**counts, "failedRequestCount": str(job.failed)},
            "name": f"batches/{job.remote}",
        }
        operation: dict[str, Any] = {"name": f"batches/{job.remote}", "metadata": about}
        if job.files:
            output = {"responsesFile": job.files["output"]}
            if self.file_in == "response":
                operation |= {"done": True, "response": output}
            else:
                about["output"] = output
        if job.state == "failed":
            operation |= {"done": True, "error": {"code": 3, "message": "the file is no good"}}
        return operation

    def page(self, query: dict[str, str]) -> bytes:
        if not self.lists:
            raise Refusal(501, "UNIMPLEMENTED")
        size, start = int(query.get("pageSize", "50")), int(query.get("pageToken", "0"))
        jobs = list(self.jobs.values())
        page: dict[str, Any] = {"operations": [self.shown(job) for job in jobs[start : start + size]]}
        if len(jobs) > start + size:
            page["nextPageToken"] = str(start + size)
        return json.dumps(page).encode()

    def row(self, key: str, vector: list[float]) -> bytes:
        return json.dumps({"key": key, "response": {"embedding": {"values": vector}}}).encode()

    def error_row(self, key: str, status: int | None) -> bytes:
        return json.dumps({"key": key, "error": {"code": 3, "message": f"refused {status}"}}).encode()

    def keep_results(self, job: Job, rows: list[bytes], errors: list[bytes]) -> None:
        mixed = [*rows, *errors]
        random.Random(1).shuffle(mixed)
        job.files["output"] = self.keep(f"files/out-{job.remote}", mixed)

    def embed(self, rest: str, asked: dict[str, Any]) -> bytes:
        if rest.endswith(":embedContent"):
            (vector,) = self.pay_directly([self.text_of(asked)])
            return json.dumps({"embedding": {"values": vector}}).encode()
        only(asked, {"requests"}, set())
        vectors = self.pay_directly([self.text_of(request) for request in asked["requests"]])
        return json.dumps({"embeddings": [{"values": vector} for vector in vectors]}).encode()


def loads(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    if not headers.get("content-type", "").startswith("application/json"):
        raise Refusal(415, "application/json is wanted")
    value = json.loads(body)
    if not isinstance(value, dict):
        raise Refusal(400, "an object is wanted")
    return value


def only(given: dict[str, Any], needed: set[str], allowed: set[str]) -> None:
    """Refuse what the reference does not name."""
    unknown, missing = set(given) - needed - allowed, needed - set(given)
    if unknown or missing:
        raise Refusal(400, f"unknown fields {sorted(unknown)}, missing {sorted(missing)}")


def parsed(headers: Mapping[str, str], body: bytes, kind: str) -> list[Any]:
    if not headers.get("content-type", "").startswith(f"multipart/{kind}; boundary="):
        raise Refusal(415, f"multipart/{kind} is wanted")
    message = BytesParser(policy=HTTP).parsebytes(
        f"Content-Type: {headers['content-type']}\r\nMIME-Version: 1.0\r\n\r\n".encode() + body
    )
    if not message.is_multipart() or message.defects:
        raise Refusal(400, "the parts cannot be told apart")
    return list(message.iter_parts())


def form_fields(headers: Mapping[str, str], body: bytes) -> dict[str, bytes]:
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
        for part in parsed(headers, body, "form-data")
    }


def related(headers: Mapping[str, str], body: bytes) -> tuple[dict[str, Any], bytes]:
    about, file = parsed(headers, body, "related")
    if file.get_content_type() != "application/jsonl":
        raise Refusal(400, "the type of the file")
    return json.loads(about.get_payload(decode=True)), file.get_payload(decode=True)


@contextmanager
def served(api: BatchApi) -> Iterator[str]:
    """The interface on a real socket. Gives its base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            reply = api.handle(self.command, self.path, dict(self.headers.items()), body)
            if reply == LOST:
                self.close_connection = True
                return
            assert isinstance(reply, tuple)
            status, data = reply
            cut = status == CUT
            self.send_response(200 if cut else int(status))
            self.send_header("content-type", "application/json")
            if status == MOVED:
                self.send_header("location", data.decode())
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // HALVES] if cut else data)
            self.close_connection = self.close_connection or cut

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with running(Handler) as address:
        yield f"{address}{api.root}"  # type: ignore[attr-defined]
