"""Who may ask next, where only one can."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """One at a time. Whoever is in a hurry goes before all who are not."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._taken = False
        self._hurried = 0

    @contextmanager
    def one(self, *, hurried: bool) -> Iterator[None]:
        """Wait for a turn and have it."""
        with self._state:
            self._hurried += hurried
            try:
                self._state.wait_for(lambda: not self._taken and (hurried or not self._hurried))
                self._taken = True
            finally:
                self._hurried -= hurried
                self._state.notify_all()  # whoever was let go first may have given up
        try:
            yield
        finally:
            with self._state:
                self._taken = False
                self._state.notify_all()
