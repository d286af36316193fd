"""What batch jobs are given to embed."""

from __future__ import annotations

from typing import Any

from memlane.embed.cache import NoCache
from memlane.index import by_jobs
from memlane.index.store import Space, UnembeddedChunk
from memlane.testing import HashEmbedder


class Pages:
    """As much of a store as is asked."""

    def unembedded(self, space: Space, *, after: int, limit: int) -> list[UnembeddedChunk]:
        note = UnembeddedChunk(1, b"note", "", "tea")
        picture = UnembeddedChunk(2, b"picture", "", "Image file: a.png", "/a.png", "image", 9)
        return [] if after else [note, picture]

    def known_vectors(self, identity: str, digests: list[bytes], **options: Any) -> dict[bytes, bytes]:
        return {}


def test_pictures_and_sounds_are_not_embedded_as_their_names() -> None:
    space = Space(1, 1, "{}", None, True, False)
    missing = by_jobs._missing(Pages(), space, HashEmbedder(), NoCache(), trusting=True)  # type: ignore[arg-type]
    assert list(missing) == [(b"note", "tea")]
