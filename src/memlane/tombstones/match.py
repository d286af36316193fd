"""Finding what is forgotten in a text without knowing it: a rolling sum finds places, a digest decides. Pure.

The sum over each window of a text is a polynomial modulo 2^64 (Rabin and Karp, 1987), for all windows at
once; of a tombstone 24 bits of it are kept, so that one place in sixteen million is looked at for nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .entries import reached
from .values import Tombstone, digest_of, folded, path_steps

if TYPE_CHECKING:
    import numpy as np

_KEPT_BITS = 24


def mark_of(key: bytes, phrase: str) -> int:
    """The kept bits of the rolling sum of a folded phrase."""
    return int(_sums(key, phrase, len(phrase))[0])


class Tombstones:
    """All that one agent has forgotten."""

    def __init__(self, key: bytes, stones: Sequence[Tombstone] = ()) -> None:
        self.key = key
        self.stones = tuple(stones)
        self._digests = {(stone.kind, stone.digest) for stone in stones}
        self._texts = {stone.text for stone in stones if stone.text}
        self._phrases: dict[int, dict[int, set[str]]] = {}
        for stone in stones:
            if stone.kind == "phrase":
                of_length = self._phrases.setdefault(stone.length, {})
                of_length.setdefault(stone.mark, set()).add(stone.digest)

    def __bool__(self) -> bool:
        return bool(self.stones)

    @property
    def fingerprint(self) -> str:
        """Identifies all of it: what has carried out these has nothing left to do. Empty for nothing."""
        digests = sorted(f"{stone.kind}{stone.digest}{stone.text}" for stone in self.stones)
        return digest_of(self.key, "text", " ".join(digests)) if digests else ""

    def forgets_path(self, path: str) -> bool:
        """Whether a note, by its path as results show it, is forgotten: by path or by its name."""
        if not self.stones:
            return False
        named = any(("path", digest_of(self.key, "path", step)) in self._digests for step in path_steps(path))
        return named or self.holds(path)

    def forgets_session(self, stem: str) -> bool:
        """Whether the session with this transcript (its name without suffixes) is forgotten."""
        return bool(self.stones) and ("session", digest_of(self.key, "session", stem)) in self._digests

    def forgets_text(self, text: str) -> bool:
        """Whether this is the whole text of a note that was forgotten by its path."""
        return bool(self._texts) and digest_of(self.key, "text", text) in self._texts

    def holds(self, text: str) -> bool:
        """Whether a forgotten phrase stands in a text."""
        return bool(self._phrases) and bool(self.spans(text.split("\n")))

    def spans(self, lines: Sequence[str]) -> list[tuple[int, int]]:
        """Where forgotten phrases stand: first and last line of each place, counted from 0."""
        if not self._phrases:
            return []
        whole, starts, numbers = _joined(lines)
        found: list[tuple[int, int]] = []
        for length, marks in self._phrases.items():
            for start in self._places(whole, length, marks):
                first, last = (bisect_right(starts, place) - 1 for place in (start, start + length - 1))
                found.append((numbers[first], numbers[last]))
        return found

    def forgotten_lines(self, text: str) -> set[int]:
        """The lines of a note that are forgotten, counted from 0: whole entries."""
        lines = text.split("\n")
        if self.forgets_text(text):
            return set(range(len(lines)))
        spans = self.spans(lines)
        return reached(lines, spans) if spans else set()

    def without(self, text: str) -> str:
        """A note's text with an empty line in the place of each forgotten one."""
        gone = self.forgotten_lines(text)
        if not gone:
            return text
        return "\n".join("" if number in gone else line for number, line in enumerate(text.split("\n")))

    def _places(self, whole: str, length: int, marks: dict[int, set[str]]) -> Iterable[int]:
        if len(whole) < length:
            return
        import numpy as np

        sums = _sums(self.key, whole, length)
        for place in np.nonzero(np.isin(sums, np.array(list(marks), np.uint64)))[0].tolist():
            if digest_of(self.key, "phrase", whole[place : place + length]) in marks[int(sums[place])]:
                yield place


NOTHING = Tombstones(b"")
"""Where nothing is forgotten."""


def _joined(lines: Sequence[str]) -> tuple[str, list[int], list[int]]:
    """The folded lines as one text, where each begins in it, and which line that is."""
    parts: list[str] = []
    starts: list[int] = []
    numbers: list[int] = []
    at = 0
    for number, line in enumerate(lines):
        part = folded(line)
        if part:
            parts.append(part)
            starts.append(at)
            numbers.append(number)
            at += len(part) + 1
    return " ".join(parts), starts, numbers


def _sums(key: bytes, text: str, length: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """The kept bits of the rolling sum of every window of a text."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    base = int.from_bytes(key[:8], "little") | 1
    inverse = pow(base, -1, 1 << 64)
    down = np.cumprod(np.full(len(codes), inverse, np.uint64), dtype=np.uint64)
    up = np.cumprod(np.full(len(codes), base, np.uint64), dtype=np.uint64)
    totals = np.concatenate((np.zeros(1, np.uint64), np.cumsum(codes * down, dtype=np.uint64)))
    windows = (totals[length:] - totals[:-length]) * up[length - 1 :]
    # High bits alone: those at the low end hardly depend on the key.
    return windows >> np.uint64(64 - _KEPT_BITS)
