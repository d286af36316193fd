"""An embedder for the server: the least that speaks its protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from urllib.parse import urlsplit

from memlane.embed.base import Input, NoVector, Vector, pack, texts_of


class Client:
    """Takes four calls at a time, each as large as OpenAI takes them."""

    id = "loopback"
    max_batch_items = 2048
    max_batch_tokens = 300_000
    max_input_tokens = 8192
    max_in_flight = 4
    takes_media = False
    worth_caching = True
    unrelated_cosine = 0.0
    relative_weight = 1.0

    def __init__(self, address: str, model: str = "one") -> None:
        self.model = model
        self._address = address

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Without the port, which differs from run to run."""
        return {"provider": self.id, "model": self.model}

    def embed_query(self, text: str) -> Vector | NoVector:
        """One request."""
        return self.embed_documents([text])[0]

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """One request."""
        place = urlsplit(self._address)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=30)
        body = json.dumps({"model": self.model, "input": texts_of(inputs)})
        connection.request("POST", f"{place.path}/embeddings", body, {"Content-Type": "application/json"})
        rows = json.loads(connection.getresponse().read())["data"]
        connection.close()
        return [pack(row["embedding"]) for row in sorted(rows, key=lambda row: int(row["index"]))]

    def verify(self) -> None:
        """Nothing to check."""

    def close(self) -> None:
        """Nothing to let go of."""
