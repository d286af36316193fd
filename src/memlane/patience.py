"""Waiting no longer than a limit for something that may never answer: a network, a disk that is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")


class TookTooLong(Exception):  # noqa: N818 - reads as a statement of fact
    """The work was not done within its limit. It goes on in its thread, and nobody waits for it."""


def within(seconds: float, work: Callable[[], _Answer]) -> _Answer:
    """What `work` gives, or TookTooLong after `seconds`; raises what the work raises.

    Python cannot stop a thread: work that hangs is left behind in one that does not keep the process alive.
    """
    outcome: _Outcome[_Answer] = _Outcome()
    thread = threading.Thread(target=outcome.take, args=(work,), name="memlane-probe", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome.answers:
        if outcome.error is None:
            raise TookTooLong
        raise outcome.error
    return outcome.answers[0]


class _Outcome(Generic[_Answer]):
    """What came of the work, written by its thread."""

    def __init__(self) -> None:
        self.answers: list[_Answer] = []
        self.error: BaseException | None = None

    def take(self, work: Callable[[], _Answer]) -> None:
        try:
            self.answers.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.error = error
