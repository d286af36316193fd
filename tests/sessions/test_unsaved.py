"""What a flush could not save: whole on disk or not at all, limited, and given back oldest first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.sessions.lives import LiveIn

from memlane.errors import SessionError
from memlane.sessions import unsaved
from memlane.sessions.unsaved import UnsavedPieces


@pytest.fixture
def pieces(live: LiveIn) -> UnsavedPieces:
    return live(None).keeping.unsaved


def test_a_piece_is_on_disk_whole_or_not_at_all(
    pieces: UnsavedPieces, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pieces.keep("a", session="s", reason="r", text="first")

    def full(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:5])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(unsaved, "write_all", full)
        with pytest.raises(SessionError, match=r"cannot write .*a\.json: No space left on device"):
            pieces.keep("a", session="s", reason="r", text="second")
    assert list(pieces.folder.iterdir()) == [path]
    assert [piece.text for piece in pieces.waiting()] == ["first"]
    pieces.keep("a", session="s", reason="r", text="third")
    assert [piece.text for piece in pieces.waiting()] == ["third"]


def test_of_a_long_one_the_end_is_kept_and_no_half_of_a_secret(
    pieces: UnsavedPieces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsaved, "MOST_CHARACTERS", 40)
    secret = "sk-TESTabcdefghijklmnopqrstuvwxyz0123456789"
    pieces.keep("a", session="s", reason=f"sent {secret}", text=f"{'x' * 100} {secret} and the end")
    (piece,) = pieces.waiting(session="s")
    assert len(piece.text) <= 40
    assert piece.text.endswith("and the end")
    assert "uvwxyz" not in piece.text + piece.reason


def test_the_oldest_go(pieces: UnsavedPieces, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsaved, "MOST_KEPT", 2)
    for number, mark in enumerate(("c", "b", "a")):
        path = pieces.keep(mark, session=mark, reason="r")
        os.utime(path, (number, number))
    assert sorted(piece.session for piece in pieces.waiting()) == ["a", "b"]


def test_one_that_vanishes_meanwhile_hides_no_other(
    pieces: UnsavedPieces, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mark in ("a", "b"):
        pieces.keep(mark, session=mark, reason="r")
    real = Path.stat

    def gone(path: Path, **options: bool) -> os.stat_result:
        if path.name == "a.json":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", gone)
    assert [piece.session for piece in pieces.waiting(session="b")] == ["b"]
