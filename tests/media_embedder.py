"""An embedder that knows what pictures show and sounds say, and refuses what it is told to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memlane.embed.base import Input, Media, NoVector, Vector
from memlane.testing import HashEmbedder


class MediaEmbedder(HashEmbedder):
    """`shown` maps bytes to the words they stand for; `refused` bytes have no vector."""

    id = "gemini"
    takes_media = True

    def __init__(self, shown: Mapping[bytes, str], *, refused: Sequence[bytes] = ()) -> None:
        super().__init__(dimensions=256, model="gemini-embedding-2")
        self.shown = dict(shown)
        self.refused = list(refused)
        self.media: list[Media] = []
        self.calls: list[int] = []
        self.most_bytes = 0

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        self.calls.append(len(inputs))
        media = [one for one in inputs if isinstance(one, Media)]
        self.most_bytes = max(self.most_bytes, sum(len(one.data) for one in media))
        self.media += [one for one in media if one.data not in self.refused]
        self.documents += [one for one in inputs if isinstance(one, str)]
        return [self._vector(one) for one in inputs]

    def _vector(self, one: Input) -> Vector | NoVector:
        if isinstance(one, str):
            return self._embed(one)
        if one.data in self.refused:
            return NoVector(f"gemini does not take {one.mime_type}: Unable to process input")
        return self._embed(self.shown.get(one.data, one.label))
