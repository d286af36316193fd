"""Text → piece ids: the vocabulary of the embedded model and its unigram segmentation.

A word is its own piece where the vocabulary has it, else it is cut into the pieces whose summed
log-probability is highest (Viterbi over the unigram model: Kudo 2018, "Subword Regularization").
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Mapping, Sequence

from ..errors import ProviderUnavailable

WORD_START = "\u2581"
_UNKNOWN_SCORE = -20.0
_WORDS_REMEMBERED = 50_000
_FEW_WORDS = 24
"""Up to this many unknown words are looked up one by one; beyond, the whole vocabulary is loaded (40 ms)."""

# Scripts written without spaces, where a word's start means nothing: South-East Asian and East Asian.
_UNSPACED = (
    (0x0E00, 0x0F00),
    (0x1000, 0x10A0),
    (0x1780, 0x1800),
    (0x2E80, 0x3130),
    (0x31F0, 0xA000),
    (0xF900, 0xFB00),
    (0x20000, 0x110000),
)


_WORD = re.compile(r"\S+")


def normal_form(text: str) -> str:
    """The text as it is segmented: compatibility-normalised, in lower case."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()


def _is_unspaced(character: str) -> bool:
    code = ord(character)
    return code >= 0x0E00 and any(low <= code < high for low, high in _UNSPACED)


class _WordCharacters(dict[int, int]):
    """A translation table that keeps letters, marks and numbers and turns all else into a space."""

    def __missing__(self, code: int) -> int:
        kept = code if unicodedata.category(chr(code))[0] in "LMN" else 0x20
        self[code] = kept
        return kept


class Vocabulary:
    """The pieces (line number = id) and their log-probabilities.

    Answers single look-ups from the raw bytes, which is all that most queries need, and loads the whole
    table only when a word must be segmented or many are asked for.
    """

    def __init__(self, pieces: bytes, scores: array[float]) -> None:
        self._raw = b"\n" + pieces
        self._scores = scores
        self._ids: dict[str, int] | None = None
        self._strings: list[str] = []
        """The pieces by id, once the table is loaded."""
        self._longest = 0
        self._characters = _WordCharacters()
        self._segmented: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str) -> list[int]:
        """The ids of the text's pieces, in order. Characters outside the vocabulary have none."""
        words = self.words(text)
        if self._ids is None and len(words) > _FEW_WORDS:
            self._load()
        known = self._segmented
        ids: list[int] = []
        for word in words:
            pieces = known.get(word)
            ids.extend(self._segment(word) if pieces is None else pieces)
        return ids

    def words(self, text: str) -> list[str]:
        """Lower-cased, compatibility-normalised runs of letters, marks and digits."""
        return normal_form(text).translate(self._characters).split()

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """The text's pieces with their places: (id, start, end) in the text's `normal_form`."""
        found: list[tuple[int, int, int]] = []
        for match in _WORD.finditer(normal_form(text).translate(self._characters)):
            word, place = match.group(), match.start()
            pieces = self._segmented.get(word) or self._segment(word)
            if len(pieces) == 1 and not self._strings:
                found.append((pieces[0], place, match.end()))
                continue
            at = 0
            for piece in pieces:
                string = self._strings[piece].removeprefix(WORD_START)
                at = word.index(string, at) + len(string)  # unknown characters between are passed over
                found.append((piece, place + at - len(string), place + at))
        return found

    def _segment(self, word: str) -> tuple[int, ...]:
        marked = word if _is_unspaced(word[0]) else WORD_START + word
        whole = self._lookup(marked)
        pieces = (whole,) if whole is not None else self._viterbi(marked)
        if len(self._segmented) < _WORDS_REMEMBERED:
            self._segmented[word] = pieces
        return pieces

    def _lookup(self, piece: str) -> int | None:
        if self._ids is not None:
            return self._ids.get(piece)
        at = self._raw.find(b"\n" + piece.encode("utf-8", "replace") + b"\n")
        return None if at < 0 else self._raw.count(b"\n", 0, at)

    def _load(self) -> dict[str, int]:
        if self._ids is None:
            try:
                pieces = self._raw[1:].decode("utf-8").removesuffix("\n").split("\n")
            except UnicodeDecodeError as error:
                raise ProviderUnavailable(
                    f"the embedded model is damaged: its pieces are not UTF-8 ({error.reason})",
                    hint="reinstall memlane",
                ) from error
            if len(pieces) != len(self._scores):
                raise ProviderUnavailable(
                    f"the embedded model is damaged: {len(pieces)} pieces, {len(self._scores)} scores",
                    hint="reinstall memlane",
                )
            self._longest = max(map(len, pieces))
            self._strings = pieces  # before the table: whoever finds that one relies on these
            self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        return self._ids

    def _viterbi(self, word: str) -> tuple[int, ...]:
        ids = self._load()
        pieces = best_pieces(word, ids, self._scores, self._longest, _UNKNOWN_SCORE)
        return tuple(piece for piece in pieces if piece is not None)


def best_pieces(
    word: str, ids: Mapping[str, int], scores: Sequence[float], longest: int, unknown_score: float
) -> list[int | None]:
    """The pieces that a word is most likely made of: those whose log-probabilities have the highest sum.

    `scores` are by id, `longest` is the length of the longest piece. A character that no piece covers
    counts `unknown_score` and gives None.
    """
    length = len(word)
    best = [0.0] + [float("-inf")] * length
    # For each position: where the best last piece begins, and its id.
    back: list[tuple[int, int | None]] = [(0, None)] * (length + 1)
    for start in range(length):
        reached = best[start]
        for end in range(start + 1, min(length, start + longest) + 1):
            piece = ids.get(word[start:end])
            if piece is not None and reached + scores[piece] > best[end]:
                best[end] = reached + scores[piece]
                back[end] = (start, piece)
        if reached + unknown_score > best[start + 1]:
            best[start + 1] = reached + unknown_score
            back[start + 1] = (start, None)
    found: list[int | None] = []
    end = length
    while end:
        end, piece = back[end]
        found.append(piece)
    found.reverse()
    return found
