"""The file of tombstones, where it cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlane.errors import StoreError
from memlane.tombstones.ledger import Ledger, ledger_path
from memlane.tombstones.values import Tombstone

STONE = Tombstone("ab", "path", "abcd", "2026-02-10")


def test_a_disk_that_is_full_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(ledger_path(tmp_path, "main"))
    ledger.change(lambda _key, _stones: [STONE])
    before = ledger.path.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("memlane.disk.fsync", full)
        with pytest.raises(StoreError, match=r"main\.forgotten\.json: No space left on device"):
            ledger.change(lambda _key, _stones: [])
    assert ledger.path.read_bytes() == before
    assert ledger.read().stones == (STONE,)
    assert ledger.path.stat().st_mode & 0o777 == 0o600
    assert ledger.change(lambda _key, _stones: []) == ()
    assert not ledger.read()
    assert [path.name for path in ledger.path.parent.iterdir() if path.suffix == ".new"] == []
