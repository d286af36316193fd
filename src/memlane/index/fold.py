"""Text as it is compared: without case, width, diacritics and what nobody sees. Pure."""

from __future__ import annotations

import unicodedata

INVISIBLE = "\u00ad\u200c\u200d\u2060\ufe0e\ufe0f"
"""Soft hyphens, joiners and choices of shape: they stand inside words and say nothing."""
_ALIKE = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ё": "е"}
    | {"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "\u0640": ""}
    | dict.fromkeys(INVISIBLE, "")
)
"""Letters that do not decompose but are typed as others; forms of Arabic letters that are used alike."""


def fold(text: str) -> str:
    """Compatibility forms replaced (NFKC), case folded, digits of all scripts as 0 to 9.

    Accents go from Latin and Greek letters, points from Hebrew and Arabic ones. What makes another letter
    elsewhere stays: Cyrillic й, the vowel signs of South Asia, the voicing marks of kana.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii():
        return text
    kept: list[str] = []
    bare = False
    for character in unicodedata.normalize("NFD", text.translate(_ALIKE)):
        if unicodedata.combining(character):
            if bare or "\u0591" <= character <= "\u0670":
                continue
        else:
            bare = character < "\u0400" or "\u1e00" <= character < "\u2000"
        kept.append(str(unicodedata.decimal(character)) if character.isdecimal() else character)
    return unicodedata.normalize("NFC", "".join(kept))
