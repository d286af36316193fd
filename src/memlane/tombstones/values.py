"""What a tombstone is, and how the digest of what it stands for is made. Pure.

A digest is keyed: the key lies beside it, so whoever has the state folder can try a guess, but no table made
elsewhere tells a phrase from its digest.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal

from ..values import Value

TombstoneKind = Literal["phrase", "path", "session"]
_DIGEST_BYTES = 16
_ID_LETTERS = 8


class Tombstone(Value, frozen=True):
    """One thing that is forgotten."""

    id: str
    """The beginning of the digest."""
    kind: TombstoneKind
    digest: str
    """Of the folded phrase, of the path as results show it, or of the name of the session's transcript."""
    made_at: str
    """ISO time."""
    length: int = 0
    """Of a phrase: how many characters it has, folded."""
    mark: int = 0
    """Of a phrase: the rolling sum by which places where it may stand are found (`match`)."""
    text: str = ""
    """Of a path: the digest of the whole note, so that it is known again under another name."""


def folded(text: str) -> str:
    """A text as it is compared: compatibility forms replaced, without case, each white space one blank."""
    if text.isascii():
        return " ".join(text.lower().split())
    once = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", once).split())


def digest_of(key: bytes, kind: TombstoneKind | Literal["text"], text: str) -> str:
    """The digest that stands for a text, in hexadecimal."""
    from hashlib import blake2b  # loads OpenSSL; where nothing is forgotten nobody needs it

    return blake2b(
        text.encode("utf-8", "surrogatepass"), key=key, digest_size=_DIGEST_BYTES, person=kind.encode()
    ).hexdigest()


def id_of(digest: str, others: Sequence[Tombstone] = ()) -> str:
    """A short name for a digest, longer where another one begins alike."""
    length = _ID_LETTERS
    while any(other.id == digest[:length] for other in others if other.digest != digest):
        length += 1
    return digest[:length]


def path_steps(path: str) -> list[str]:
    """A path as results show it, and each folder above it with a slash at its end."""
    parts = path.split("/")
    return [path, *("/".join(parts[:count]) + "/" for count in range(1, len(parts)))]
