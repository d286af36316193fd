"""A process that indexes through batch jobs.

`python -m tests.loopback.batch_worker NOTES INDEX BASE KIND TEXTS`; TEXTS is how many a job may hold.
What is not in a job is embedded directly by an embedder that asks the same server.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.request import Request, urlopen

from tests.loopback.batch_api import KEY

from memlane.backends.builtin import BuiltinBackend
from memlane.backends.settings import IndexSettings
from memlane.clock import SystemClock
from memlane.embed.base import CheckedEmbedder, Input, NoVector, Vector, pack, texts_of
from memlane.embed.batch.gemini import GeminiBatches
from memlane.embed.batch.openai import OpenAiBatches
from memlane.embed.batch.settings import BatchSettings
from memlane.embed.endpoint import Endpoint
from memlane.embed.select import Choice
from memlane.index.sources import Sources
from memlane.search.settings import SearchSettings
from memlane.testing import HashEmbedder, RecordingObserver
from memlane.workspace import Workspace


class DirectEmbedder(HashEmbedder):
    """Asks an interface of OpenAI's kind for vectors, one call at a time."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(8, model=endpoint.model)
        self._endpoint = endpoint

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        texts = texts_of(inputs)
        model = f"models/{self.model}"
        if self._endpoint.kind == "gemini":
            path = f"/{model}:batchEmbedContents"
            requests = [{"model": model, "content": {"parts": [{"text": text}]}} for text in texts]
            answer = self._ask(path, {"requests": requests})
            return [pack(entry["values"]) for entry in answer["embeddings"]]
        answer = self._ask("/embeddings", {"model": self.model, "input": texts})
        return [pack(entry["embedding"]) for entry in answer["data"]]

    def _ask(self, path: str, body: dict[str, object]):
        headers = {
            "content-type": "application/json",
            "authorization": f"Bearer {KEY}",
            "x-goog-api-key": KEY,
        }
        request = Request(self._endpoint.base_url + path, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=60) as response:
            return json.loads(response.read())


def backend(
    notes: Path, index: Path, endpoint: Endpoint, batch: BatchSettings, observer: RecordingObserver
) -> BuiltinBackend:
    embedder = CheckedEmbedder(DirectEmbedder(endpoint))
    return BuiltinBackend(
        Sources(Workspace(notes, home=notes)),
        IndexSettings(agent="main", store_path=index, batch=batch, cache_entries=10**6),
        SearchSettings(),
        choose=lambda: Choice(embedder, (), endpoint=endpoint),
        observer=observer,
        clock=SystemClock(),
    )


def main(notes: str, index: str, base: str, kind: str, texts: str) -> None:
    for protocol in (OpenAiBatches, GeminiBatches):
        protocol.max_requests = int(texts)
    settings = BatchSettings(enabled=True, concurrency=2, poll_seconds=0.0, worth_a_job=5)
    endpoint = Endpoint(kind, kind, base, "small", key=KEY)
    observer = RecordingObserver()
    opened = backend(Path(notes), Path(index), endpoint, settings, observer)
    report = opened.sync("command")
    counts = opened.status().statistics
    opened.close()
    seen = {"complete": report.complete, "warnings": observer.warnings}
    sys.stdout.write(json.dumps({**seen, "chunks": counts.chunks, "vectors": counts.vectors}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
