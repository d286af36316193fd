from __future__ import annotations

import threading

import pytest

from memlane.patience import TookTooLong, within


def test_what_the_work_gives_is_given() -> None:
    assert within(30.0, lambda: 42) == 42
    assert within(30.0, lambda: None) is None


def test_what_the_work_raises_is_raised() -> None:
    def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        within(30.0, work)


def test_work_that_hangs_is_left_behind() -> None:
    gone = threading.Event()
    with pytest.raises(TookTooLong):
        within(0.05, lambda: gone.wait(60))
    left = [thread for thread in threading.enumerate() if thread.name == "memlane-probe"]
    assert all(thread.daemon for thread in left)
    gone.set()
    for thread in left:
        thread.join(60)
