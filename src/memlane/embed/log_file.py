"""SQLite's write-ahead log, brought into its file and cut to nothing: what was deleted lies there, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from ..errors import StoreBusy

CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"
_PATIENCE = 30.0


def empty_log(is_held: Callable[[], bool], path: Path) -> None:
    """Cut the log of the database at a path.

    `is_held` runs CHECKPOINT and tells whether a reader kept it from ending. Raises StoreBusy when another
    process goes on reading the old state for half a minute.
    """
    deadline = monotonic() + _PATIENCE
    while is_held():
        if monotonic() > deadline:
            raise StoreBusy(
                f"another process goes on reading {path} as it was",
                hint="end it or wait for it, then run memlane forget again: it goes on from here",
            )
        sleep(0.05)
