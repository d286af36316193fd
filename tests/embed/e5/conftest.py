from __future__ import annotations

from pathlib import Path

import pytest

from memlane.embed.e5.weights import Weights
from memlane.embed.e5.weights_file import find_weights
from memlane.errors import ProviderUnavailable


@pytest.fixture(scope="session")
def weights_path() -> Path:
    """The installed weights; tests that ask for them are skipped where they are not installed."""
    try:
        return find_weights()
    except ProviderUnavailable as error:
        pytest.skip(f"{error}; {error.hint}")


@pytest.fixture(scope="session")
def weights(weights_path: Path) -> Weights:
    return Weights(weights_path)
