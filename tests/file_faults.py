"""Faults at the border to the file system: the nth call fails, as on a disk that is full or broken."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest


class Countdown:
    """Counts calls; from the nth on they fail, or that one alone."""

    def __init__(self, calls: int, *, lasting: bool) -> None:
        self.calls = calls
        self.lasting = lasting
        self.struck = False

    def strikes(self) -> bool:
        self.calls -= 1
        due = self.calls < 0 if self.lasting else self.calls == -1
        self.struck = self.struck or due
        return due


class FaultyVFS(apsw.VFS):
    """SQLite's way to the disk, with faults in writing (`full`, `broken`) or in opening (`opening`)."""

    def __init__(self, kind: str, countdown: Countdown) -> None:
        self.kind, self.countdown = kind, countdown
        self.base = apsw.vfs_names()[0]
        super().__init__("faulty", self.base, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        if self.kind == "opening" and self.countdown.strikes():
            raise apsw.CantOpenError("too many open files")
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    def __init__(self, vfs: FaultyVFS, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._vfs = vfs
        super().__init__(vfs.base, name, flags)

    def _strike(self) -> None:
        if self._vfs.kind != "opening" and self._vfs.countdown.strikes():
            raise apsw.FullError("full") if self._vfs.kind == "full" else apsw.IOError("input/output error")

    def xWrite(self, data: bytes, offset: int) -> None:
        self._strike()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._strike()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        self._strike()
        super().xTruncate(size)


@contextmanager
def faulty_sqlite(kind: str, after: int, *, lasting: bool) -> Iterator[Countdown]:
    """SQLite's disk fails at the nth write, sync or truncation, or at the nth opening."""
    countdown = Countdown(after, lasting=lasting)
    vfs = FaultyVFS(kind, countdown)
    try:
        yield countdown
    finally:
        apsw.set_default_vfs(vfs.base)
        vfs.unregister()


CALLS = ("open", "write", "fsync", "mkdir", "replace", "ftruncate", "unlink")


@contextmanager
def faulty_calls(
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    after: int,
    *,
    calls: tuple[str, ...] = CALLS,
    lasting: bool = False,
) -> Iterator[Countdown]:
    """The nth of these calls of `os` raises OSError with this number; a write has written half by then."""
    countdown = Countdown(after, lasting=lasting)

    def failing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if countdown.strikes():
                if name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise OSError(number, os.strerror(number), arguments[0] if name == "open" else None)
            return real(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for name in calls:
            patch.setattr(os, name, failing(name, getattr(os, name)))
        patch.setattr("memlane.disk.open_descriptor", os.open)
        yield countdown


def open_descriptors() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
