from __future__ import annotations

from pathlib import Path

import pytest
from tests.loopback.in_process import KINDS, Site


@pytest.fixture(params=list(KINDS))
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    return Site(tmp_path, request.param)
