"""Reading pictures and sounds: what they are, whether they changed, and their bytes."""

from __future__ import annotations

import os

from ..values import Modality, Value
from .decode import UnreadableNote, opened
from .media import HEAD_BYTES, MODALITY_WORDS, mime_type, tag_length

_BLOCK_BYTES = 1 << 20


class MediaFile(Value, frozen=True):
    """What is known of a picture or a sound once it has been read."""

    mime_type: str
    digest: str
    """SHA-256 (hex) of its bytes."""


def inspect_media(location: str, modality: Modality) -> MediaFile:
    """What the file at `location` is, by its content, and the digest of its bytes; a block is held at a time.

    Raises UnreadableNote (a WorkspaceError) when the content is not that of such a file, whatever its name
    says, and as `read_document`.
    """
    from hashlib import sha256  # 4 ms: loads OpenSSL

    digest = sha256()
    with opened(location) as descriptor:
        found = _type_of(descriptor, location, modality)
        os.lseek(descriptor, 0, os.SEEK_SET)
        while block := os.read(descriptor, _BLOCK_BYTES):
            digest.update(block)
    return MediaFile(found, digest.hexdigest())


def read_media(location: str, modality: Modality, *, size: int) -> tuple[MediaFile, bytes]:
    """What the file at `location` is, and its bytes, of which `size` are expected.

    Raises UnreadableNote when there are more or fewer now, and as `inspect_media`.
    """
    from hashlib import sha256

    with opened(location) as descriptor:
        found = _type_of(descriptor, location, modality)
        if os.fstat(descriptor).st_size != size:
            raise UnreadableNote(location, "changed while it was indexed")
        os.lseek(descriptor, 0, os.SEEK_SET)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            data = stream.read(size)
    return MediaFile(found, sha256(data).hexdigest()), data


def _type_of(descriptor: int, location: str, modality: Modality) -> str:
    head = os.read(descriptor, HEAD_BYTES)
    found = mime_type(head, location)
    if tag := tag_length(head):
        os.lseek(descriptor, tag, os.SEEK_SET)
        found = mime_type(os.read(descriptor, HEAD_BYTES), location) or found
    if not found.startswith(f"{modality}/"):
        content = f"it is {found}" if found else "its content is of another kind" if head else "it is empty"
        raise UnreadableNote(
            location,
            f"not {MODALITY_WORDS[modality]} of a kind that can be embedded: {content}",
            hint="rename it to what it is, or move it out of the extra path",
        )
    return found
