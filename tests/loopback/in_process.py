"""The batch interfaces without a socket, and a process that is killed at any step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

from memlane.embed.base import CheckedEmbedder
from memlane.embed.batch.base import BatchProtocol, BatchService, Call, JobRefused, Pause, Unclear, Wire
from memlane.embed.batch.fill import BatchFill
from memlane.embed.batch.gemini import GeminiBatches
from memlane.embed.batch.ledger import Ledger
from memlane.embed.batch.openai import OpenAiBatches
from memlane.embed.batch.settings import BatchSettings
from memlane.embed.batch.voyage import VoyageBatches
from memlane.embed.cache import EmbeddingCache
from memlane.embed.endpoint import Endpoint
from memlane.embed.sqlite_cache import SqliteCache
from memlane.index.identity import space_identity, text_digest
from memlane.testing import HashEmbedder, RecordingObserver

from .batch_api import CUT, LOST, BatchApi, GeminiApi, OpenAiApi, VoyageApi
from .passing import Time

KINDS: dict[str, tuple[type[BatchApi], Callable[[Endpoint], BatchProtocol]]] = {
    "openai": (OpenAiApi, OpenAiBatches),
    "voyage": (VoyageApi, VoyageBatches),
    "gemini": (GeminiApi, GeminiBatches),
}


class Killed(BaseException):
    """What a kill is in a process that goes on: nothing catches it."""


class DirectWire:
    """Hands calls to a server in this process; faults are what they would be over a network."""

    def __init__(self, api: BatchApi) -> None:
        self.api = api

    def answer(self, call: Call, *, once: bool = False) -> bytes:
        root = f"/upload{self.api.root}" if call.upload else self.api.root  # type: ignore[attr-defined]
        target = f"{root}{call.path}?{urlencode(call.query)}"
        name, value = self.api.key_header
        headers = {name: value, "content-type": call.content_type}
        reply = self.api.handle(call.method, target, headers, call.body or b"")
        if reply == LOST:
            raise Unclear("the connection was closed")
        assert isinstance(reply, tuple)
        status, data = reply
        if status == CUT:
            raise Unclear("the answer was cut")
        if int(status) >= 500:
            raise Unclear(f"status {status}")
        if int(status) >= 400:
            refused = JobRefused(data.decode(), status=int(status))
            refused.passing = int(status) == 429
            raise refused
        return data

    def close(self) -> None:
        """It holds nothing."""

    def parts(self, call: Call) -> Iterator[bytes]:
        target = f"{self.api.root}{call.path}?{urlencode(call.query)}"  # type: ignore[attr-defined]
        name, value = self.api.key_header
        reply = self.api.handle(call.method, target, {name: value}, b"")
        if reply == LOST:
            raise Unclear("the connection was closed")
        assert isinstance(reply, tuple)
        status, data = reply
        if status != CUT and int(status) >= 400:
            raise (Unclear("status") if int(status) >= 500 else JobRefused(data.decode(), status=int(status)))
        for start in range(0, len(data) // (2 if status == CUT else 1), 1000):
            yield data[start : start + 1000]
        if status == CUT:
            raise Unclear("the answer was cut")


class Site:
    """One index with its cache and ledger, and the passes over it. Every pass is a process of its own."""

    def __init__(self, folder: Path, kind: str, *, worth: int = 1) -> None:
        api, protocol = KINDS[kind]
        self.api = api()
        self.kind = kind
        self.protocol = protocol(Endpoint(kind, kind, "http://loopback", self.api.model))
        self.folder = folder
        self.time = Time()
        self.settings = BatchSettings(enabled=True, poll_seconds=1.0, timeout_seconds=60.0, worth_a_job=worth)
        self.embedder = CheckedEmbedder(HashEmbedder(self.api.dimensions))
        self.connect: Callable[[Pause], Wire] = lambda pause: DirectWire(self.api)
        self.observer = RecordingObserver()

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "main.batches")

    def cache(self) -> SqliteCache:
        return SqliteCache(self.folder / "main.embeddings.sqlite", max_entries=10**6, max_bytes=10**9)

    def fill(self, cache: EmbeddingCache) -> BatchFill:
        return BatchFill(
            BatchService(self.protocol, self.connect),
            self.embedder,
            cache,
            self.ledger,
            self.settings,
            space=space_identity(self.embedder.identity),
            observer=self.observer,
            clock=self.time,
            pause=self.time.pause,
        )

    def run(self, texts: list[str], *, brief: bool = False, direct: bool = True):
        """A pass: jobs first, then what is missing directly, as an index does it."""
        cache = self.cache()
        try:
            identity = self.embedder.identity

            def missing():
                for text in texts:
                    digest = text_digest(text)
                    if not cache.get(identity, [digest]):
                        yield digest, text

            outcome = self.fill(cache).run(missing(), total=len(texts), brief=brief)
            if direct:
                for digest, text in list(missing()):
                    if digest not in outcome.left:
                        self.api.pay_directly([text])
                        (vector,) = self.embedder.embed_documents([text])
                        cache.put(identity, [(digest, vector)])
            return outcome
        finally:
            cache.close()

    def known(self, texts: list[str]) -> int:
        cache = self.cache()
        try:
            return len(cache.get(self.embedder.identity, [text_digest(text) for text in texts]))
        finally:
            cache.close()
