"""How long a text is for an embedding model, estimated without a tokenizer.

The unit of account is a quarter of a token, so that sums stay whole numbers: the weight of a text is the
sum of the weights of its characters, and a chunk of several lines weighs its lines plus one for each
line break between them. A character weighs what its UTF-8 form suggests: one byte (ASCII) a quarter,
two bytes (accented Latin, Greek, Cyrillic, Hebrew, Arabic) a half, more (Han, kana, Hangul, full-width
forms, emoji, Indic scripts, symbols) a whole token.
"""

from __future__ import annotations

import re
from itertools import accumulate

QUARTERS = 4
"""Weight of one token."""

_WIDE = re.compile("[^\x00-\u07ff]+")  # said the other way round it takes 4 ms to compile


def estimate_tokens(text: str) -> int:
    """The number of tokens `text` is likely to take, rounded up; 0 for the empty text only."""
    return -(-weight(text) // QUARTERS)


def weight(text: str) -> int:
    """The size of `text` in quarters of a token. That of two texts joined is the sum of theirs."""
    if text.isascii():
        return len(text)
    narrow = _WIDE.sub("", text)
    return QUARTERS * (len(text) - len(narrow)) + len(narrow.encode())


def running_weights(text: str) -> list[int]:
    """For every n in 1..len(text) the weight of the first n characters."""
    if text.isascii():
        return list(range(1, len(text) + 1))
    return list(accumulate(1 if c < "\x80" else 2 if c < "\u0800" else QUARTERS for c in text))
