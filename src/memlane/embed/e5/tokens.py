"""Text → the token ids of multilingual-e5-small: XLM-R's normalisation and its unigram pieces."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from ..pieces import WORD_START, best_pieces

_UNKNOWN_PENALTY = 10.0
"""How much worse than the worst piece an unknown character is (as in SentencePiece)."""
_WORDS_REMEMBERED = 100_000


class Tokenizer:
    """Cuts texts into pieces. Pieces never cross the start of a word, so each word is solved once."""

    def __init__(
        self, pieces: Sequence[str], scores: Sequence[float], replacements: Mapping[int, str], unknown: int
    ) -> None:
        """`replacements` tells what stands for a character; `unknown` is the id of what no piece covers."""
        ids = dict(zip(reversed(pieces), range(len(pieces) - 1, -1, -1), strict=True))
        ids.pop("", None)
        ids.pop(pieces[unknown], None)
        self._ids = ids
        self._scores = scores
        self._longest = max(map(len, ids))
        self._replacements = replacements
        self._unknown = unknown
        self._unknown_score = min(scores) - _UNKNOWN_PENALTY
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """The ids of the text's pieces, without the marks of start and end."""
        known = self._known
        found: list[int] = []
        for word in self.words(text):
            pieces = known.get(word)
            if pieces is None:
                pieces = self._segment(word)
                if len(known) < _WORDS_REMEMBERED:
                    known[word] = pieces
            found.extend(pieces)
        return found

    def words(self, text: str) -> list[str]:
        """The text's words in normal form: composed, compatibility forms replaced, case kept."""
        if not text.isascii():
            # The table knows single characters; an accent or a Hangul part of its own is composed first.
            text = unicodedata.normalize("NFC", text)
        return text.translate(self._replacements).split()

    def _segment(self, word: str) -> list[int]:
        pieces = best_pieces(WORD_START + word, self._ids, self._scores, self._longest, self._unknown_score)
        merged: list[int] = []
        for piece in pieces:
            token = self._unknown if piece is None else piece
            if token != self._unknown or merged[-1:] != [token]:
                merged.append(token)  # a run of unknown characters is one unknown token
        return merged
