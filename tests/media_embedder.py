"""An embedder that knows what pictures show and sounds say, and refuses what it is told to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memlane.embed.base import Input, Media, NoVector, Vector
from memlane.errors import InputRefused
from memlane.testing import HashEmbedder


class MediaEmbedder(HashEmbedder):
    """`shown` maps bytes to the words they stand for; `refused` bytes fail any call that they are part of."""

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
        for one in media:
            if one.data in self.refused:
                raise InputRefused(f"gemini does not take {one.mime_type}: Unable to process input")
        self.media += media
        self.documents += [one for one in inputs if isinstance(one, str)]
        return [
            self._embed(self.shown.get(one.data, one.label) if isinstance(one, Media) else one)
            for one in inputs
        ]
