"""The weights of multilingual-e5-small in memory: vocabulary, normalisation and 4-bit tensors.

The file ("E5S1", little-endian): a header of sizes and special tokens; per piece its offset and
log-probability; the pieces' UTF-8; a table of characters and what stands for them; a directory of tensors.
A tensor is float32, or 4-bit in blocks of 32 numbers: a float16 scale and 16 bytes, whose low halves are
numbers 0–15 and whose high halves are numbers 16–31, each less 8 (the layout known as Q4_0).
"""

from __future__ import annotations

import mmap
import struct
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .weights_file import check_hash, unusable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BLOCK = 32
"""Numbers that share a scale."""


class Weights:
    """The checked file, mapped into memory. Raises ProviderUnavailable when it is not the one expected."""

    def __init__(self, path: Path) -> None:
        check_hash(path)
        try:
            with path.open("rb") as file:
                self._raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._read()
        except (OSError, ValueError, KeyError, struct.error) as error:
            raise unusable(path, str(error)) from error

    def _read(self) -> None:
        header = struct.unpack_from("<4s4x7ifii4iQ", self._raw)
        if header[0] != b"E5S1":
            raise ValueError("it is not of the format E5S1")
        self.width, self.layers, self.heads, self.inner, _, self.positions, _ = header[1:8]
        self.epsilon, _, count = header[8:11]
        self.start, self.end, _, self.unknown = header[11:15]
        at = 72
        offsets = self._array("<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        self.scores: list[float] = self._array("<f4", count, at).tolist()
        at += 4 * count
        text = self._raw[at : at + header[15]]
        # Bytes that are no UTF-8 become a sign that no word holds: such a piece never fits.
        self.pieces = [text[begin:end].decode("utf-8", "replace") for begin, end in pairwise(offsets)]
        at += header[15]
        at = self._read_replacements(at)
        self._read_directory(at)

    def _read_replacements(self, at: int) -> int:
        count: int
        size: int
        count, size = struct.unpack_from("<iI", self._raw, at)
        at += 8
        table = self._raw[at : at + size]
        self.replacements: dict[int, str] = {}
        position = 0
        for _ in range(count):
            code, length = struct.unpack_from("<IB", table, position)
            replaced = struct.unpack_from(f"<{length}I", table, position + 5)
            self.replacements[code] = "".join(map(chr, replaced))
            position += 5 + 4 * length
        return at + size

    def _read_directory(self, at: int) -> None:
        (count,) = struct.unpack_from("<i", self._raw, at)
        at += 4
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._raw, at)
            name = self._raw[at + 2 : at + 2 + length].decode("ascii")
            at += 2 + length
            _, _, offset, size = struct.unpack_from("<BIQQ", self._raw, at)
            at += 21
            self._places[name] = offset, size

    def floats(self, name: str) -> Floats:
        """A float32 tensor, flat."""
        offset, size = self._places[name]
        return self._array("<f4", size // 4, offset)

    def blocks(self, name: str, inputs: int) -> NDArray[Any]:
        """A 4-bit tensor as rows of blocks (`scale`, `halves`): one row an output, `inputs` numbers wide."""
        import numpy as np

        offset, size = self._places[name]
        block = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
        return self._array(block, size // block.itemsize, offset).reshape(-1, inputs // BLOCK)

    def matrix(self, name: str, inputs: int) -> Floats:
        """A 4-bit tensor in full, to multiply by from the right: inputs × outputs."""
        import numpy as np

        return np.ascontiguousarray(expanded(self.blocks(name, inputs)).T)

    def _array(self, kind: str | np.dtype[Any], count: int, offset: int) -> NDArray[Any]:
        import numpy as np

        return np.frombuffer(self._raw, kind, count, offset)


def expanded(blocks: NDArray[Any]) -> Floats:
    """Rows of 4-bit blocks as rows of float32 numbers."""
    import numpy as np

    halves = blocks["halves"]
    numbers = np.empty((*blocks.shape, BLOCK), np.float32)
    numbers[..., : BLOCK // 2], numbers[..., BLOCK // 2 :] = halves & 15, halves >> 4
    numbers -= 8
    numbers *= blocks["scale"].astype(np.float32)[..., None]
    return numbers.reshape(len(blocks), -1)
