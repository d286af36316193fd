"""What a command does at SIGTERM, with which a supervisor ends a program."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_terminate(react: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Call `react` when the signal comes, so that work ends in good order."""
    before = signal.signal(signal.SIGTERM, react)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
