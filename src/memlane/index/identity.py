"""What an index was made with: the one place that decides whether it still fits.

Two strings, because the two halves of an index change apart. The *layout* covers how texts are cut and
analysed; when it changes, chunks and full text are made anew. The *space* covers the embedding model; when
it changes, only vectors are. Which files belong to the index (sources, extra paths) is no part of either:
the difference between the tree and the index says it. Keys, authorisation and versions of Memlane never
enter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from .analyze import ANALYZER_VERSION

FORMAT = 2
"""Raised when stored rows change their meaning."""
PIECES_OF = "26074ab3"
"""The revision of the embedded model in whose vocabulary the pieces of a chunk are."""
DIGEST_BYTES = 16


def layout_identity(*, chunk_tokens: int, chunk_overlap: int) -> str:
    """The identity of a generation."""
    return json.dumps(
        {
            "format": FORMAT,
            "analyzer": ANALYZER_VERSION,
            "pieces": PIECES_OF,
            "tokens": chunk_tokens,
            "overlap": chunk_overlap,
        },
        sort_keys=True,
    )


def space_identity(embedder_identity: Mapping[str, str | int]) -> str:
    """The identity of a vector space."""
    return json.dumps(dict(embedder_identity), sort_keys=True)


def text_digest(text: str) -> bytes:
    """The digest under which a text's embedding is known."""
    return bytes_digest(text.encode("utf-8", "surrogatepass"))


def media_digest(label: bytes, digest: bytes) -> bytes:
    """The digest under which the embedding of a file with this label and these bytes is known.

    `digest` is that of the bytes, in hex. No text has it: none that is indexed holds NUL.
    """
    return bytes_digest(b"%b\0%b" % (label, digest))


def bytes_digest(data: bytes) -> bytes:
    """The digest of a text that is encoded already."""
    from hashlib import sha256  # loads OpenSSL; a search needs none

    return sha256(data).digest()[:DIGEST_BYTES]
