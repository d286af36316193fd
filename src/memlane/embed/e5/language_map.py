"""The language map: takes from a vector what tells its language, so that texts meet across languages.

multilingual-e5-small puts every text near one mean, and texts of one language near each other. The map
subtracts that mean, takes away 0.6 of the part along ten directions in which languages differ, and
normalises. Mean and directions were measured by the project; see the NOTICE beside the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ProviderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

VERSION = 1
DATA = Path(__file__).parent / "language-map.f32"
SHA256 = "eca1a6f5da79efd9dcefa908de3c06b1aae07c7704487d5a9aed4c8518391c06"
_SHARE = 0.6


class LanguageMap:
    """Maps unit vectors. Raises ProviderUnavailable when its data is missing or damaged."""

    def __init__(self, path: Path = DATA, *, width: int = 384) -> None:
        import hashlib

        import numpy as np

        try:
            raw = path.read_bytes()
        except OSError as error:
            raise _damaged(path, error.strerror or str(error)) from error
        if hashlib.sha256(raw).hexdigest() != SHA256:
            raise _damaged(path, "it does not have its recorded SHA-256")
        numbers = np.frombuffer(raw, "<f4").reshape(-1, width)
        self._mean, self._directions = numbers[0], numbers[1:]

    def apply(self, vectors: Floats) -> Floats:
        """The vectors, one a row, as they are stored and compared."""
        import numpy as np

        moved = vectors - self._mean
        moved -= _SHARE * (moved @ self._directions.T) @ self._directions
        mapped: Floats = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        return mapped


def _damaged(path: Path, detail: str) -> ProviderUnavailable:
    return ProviderUnavailable(f"the language map {path} cannot be used: {detail}", hint="reinstall memlane")
