"""What is handed to an embedder for a chunk: a text, or the bytes of a picture or a sound.

Bytes are read when they are sent, a few files at a time, and never kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..embed.base import Embedder, Input, Media, NoVector, Vector
from ..errors import EmbeddingError
from ..markdown import estimate_tokens
from ..values import Modality, Value
from ..workspace import UnreadableNote, read_media
from .identity import media_digest
from .store import UnembeddedChunk


class MediaDraft(Value, frozen=True):
    """A picture or a sound whose bytes are not read yet."""

    label: str
    location: str
    modality: Modality
    size: int
    """In bytes, as it was when it was indexed."""
    digest: bytes
    """Of label and bytes, as they were then."""


Draft = str | MediaDraft
"""What waits to be sent."""


def draft_of(chunk: UnembeddedChunk, embedder: Embedder) -> tuple[Draft, int] | NoVector:
    """What a chunk waits as, with the estimated tokens of its text, or why it cannot have a vector."""
    if chunk.media is not None:
        if not embedder.takes_media:
            return NoVector(f"{embedder.model} takes no images and no audio")
        draft = MediaDraft(chunk.text, chunk.location, chunk.media, chunk.size, chunk.digest)
        return draft, estimate_tokens(chunk.text)
    limit = embedder.max_input_tokens
    text = chunk.within(limit)
    tokens = estimate_tokens(text)
    if tokens > limit:
        return NoVector(f"longer than the {limit} tokens that {embedder.model} takes")
    return text, tokens


def input_for(draft: Draft) -> Input | NoVector:
    """What is sent for a draft: of a picture or a sound its bytes, or why they cannot be had."""
    if isinstance(draft, str):
        return draft
    try:
        found, data = read_media(draft.location, draft.modality, size=draft.size)
    except UnreadableNote as error:
        return NoVector(error.reason)
    if media_digest(draft.label.encode(), found.digest.encode()) != draft.digest:
        return NoVector("changed while it was indexed")
    return Media(draft.label, found.mime_type, data)


def vectors_of(embedder: Embedder, drafts: Sequence[Draft]) -> list[Vector | NoVector]:
    """The vectors of the drafts, in order. Raises EmbeddingError, its `made` by position."""
    made: dict[int, Vector | NoVector] = {}
    inputs: dict[int, Input] = {}
    for place, draft in enumerate(drafts):
        found = input_for(draft)
        if isinstance(found, NoVector):
            made[place] = found
        else:
            inputs[place] = found
    places = list(inputs)
    if places:
        try:
            vectors = embedder.embed_documents(list(inputs.values()))
        except EmbeddingError as error:
            error.made = made | {places[place]: vector for place, vector in error.made.items()}
            raise
        made.update(zip(places, vectors, strict=True))
    return [made[place] for place in range(len(drafts))]
