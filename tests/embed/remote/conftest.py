from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.loopback.sites import Make, maker


@pytest.fixture
def site() -> Iterator[Make]:
    """Makes a site of a kind; further arguments change the endpoint."""
    with ExitStack() as stack:
        yield maker(stack)
