"""How far a transcript has been read, and whether what was read is still what stands there."""

from __future__ import annotations

from typing import BinaryIO

EXTRACTION = 1
"""Raised when the same transcript gives other passages: other turns, other masks, other borders."""
_SAMPLE = 4096
_DIGEST_LETTERS = 32


def fingerprint(file: BinaryIO, offset: int) -> str:
    """Identifies the bytes before `offset` by their number, the first few thousand and the last.

    A transcript is only ever appended to, or replaced by another, so a sample tells; reading all of it again
    for each new line would not do.
    """
    from hashlib import sha256  # loads OpenSSL; a search needs none

    digest = sha256(str(offset).encode())
    for start in (0, max(0, offset - _SAMPLE)):
        file.seek(start)
        digest.update(file.read(min(_SAMPLE, offset - start)))
    return f"{EXTRACTION}:{digest.hexdigest()[:_DIGEST_LETTERS]}"


def is_of_this_version(mark: str) -> bool:
    """Whether a fingerprint goes with passages as they are made now."""
    return mark.startswith(f"{EXTRACTION}:")


def messages_between(location: str, start: int, stop: int, *, enough: int) -> int:
    """How many messages stand between two bytes of a transcript; counting ends at `enough`.

    What cannot be read counts as none.
    """
    from .lines import Entries

    count = 0
    try:
        with open(location, "rb") as file:  # noqa: PTH123 - a plain string
            for entry in Entries(file, offset=start, stop=stop):
                count += entry.type == "message"
                if count >= enough:
                    break
    except OSError:
        return 0
    return count
