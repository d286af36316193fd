"""What is handed to an embedder for a chunk: a text, or the bytes of a picture or a sound.

Bytes are read when they are embedded, a few files at a time, and never kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..embed.base import Embedder, Input, Media, NoVector, Vector
from ..errors import EmbeddingError, InputRefused
from ..markdown import estimate_tokens
from ..values import Modality
from ..workspace import UnreadableNote, read_media
from .identity import media_digest
from .store import UnembeddedChunk

BATCH_BYTES = 14_000_000
"""What the files of one call may add up to. Gemini takes requests of 20 MB; as base64, bytes grow by a third,
and the texts and the frame around them want some room. A larger file goes alone."""


def input_for(chunk: UnembeddedChunk, embedder: Embedder) -> Input | NoVector:
    """What the vector of a chunk is made from, or why it cannot have one."""
    if chunk.media is not None:
        return _media(chunk, chunk.media, embedder)
    limit = embedder.max_input_tokens
    text = chunk.within(limit)
    if estimate_tokens(text) > limit:
        return NoVector(f"longer than the {limit} tokens that {embedder.model} takes")
    return text


def batches_by_bytes(chunks: Sequence[UnembeddedChunk]) -> Iterator[list[UnembeddedChunk]]:
    """The chunks in order, in lists whose files can be held and sent at once. Notes weigh nothing here."""
    batch: list[UnembeddedChunk] = []
    held = 0
    for chunk in chunks:
        size = chunk.size if chunk.media is not None else 0
        if size and held and held + size > BATCH_BYTES:
            yield batch
            batch, held = [], 0
        batch.append(chunk)
        held += size
    if batch:
        yield batch


def embed_inputs(embedder: Embedder, inputs: Sequence[Input]) -> list[Vector | NoVector]:
    """The vectors of the inputs, in order. Raises EmbeddingError.

    When the provider refuses the call for what is in it, each picture and sound is sent by itself: the ones
    that are refused again have no vector, and the others do. `made` of an error is by position.
    """
    try:
        return embedder.embed_documents(inputs)
    except InputRefused as refusal:
        if not any(isinstance(one, Media) for one in inputs):
            raise
        if len(inputs) == 1:
            return [NoVector(str(refusal))]
        made = dict(refusal.made)
    left = [place for place in range(len(inputs)) if place not in made]
    texts = [place for place in left if isinstance(inputs[place], str)]
    for places in ([texts] if texts else []) + [[place] for place in left if place not in texts]:
        try:
            vectors = embed_inputs(embedder, [inputs[place] for place in places])
        except EmbeddingError as error:
            error.made = made | {places[place]: vector for place, vector in error.made.items()}
            raise
        made.update(zip(places, vectors, strict=True))
    return [made[place] for place in range(len(inputs))]


def _media(chunk: UnembeddedChunk, modality: Modality, embedder: Embedder) -> Media | NoVector:
    if not embedder.takes_media:
        return NoVector(f"{embedder.model} takes no images and no audio")
    try:
        found, data = read_media(chunk.location, modality, size=chunk.size)
    except UnreadableNote as error:
        return NoVector(error.reason)
    if media_digest(chunk.text.encode(), found.digest.encode()) != chunk.digest:
        return NoVector("changed while it was indexed")
    return Media(chunk.text, found.mime_type, data)
