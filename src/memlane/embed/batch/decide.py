"""What becomes of a job and of its texts after a look at it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from .base import Phase

Verdict = Literal["wait", "collect", "give up"]
"""`wait`: this pass or a later one looks again, and until then the texts belong to the job.
`collect`: take what it made; its other texts are sent directly. `give up`: all are."""

GRACE = timedelta(hours=1)
"""A job whose window is over is given so much longer before its texts are paid a second time."""


def verdict(phase: Phase | Literal["gone"], *, over: bool) -> Verdict:
    """What to do about a job.

    `phase` "gone": its provider does not know it. `over`: whether the time is over within which the provider
    may complete it. As long as it may, its texts are not sent a second time, whatever the name of its state.
    """
    if phase in {"ended", "failed"}:
        return "collect"
    if phase == "gone" or over:
        return "give up"
    return "wait"


def is_over(now: datetime, ends: datetime) -> bool:
    """Whether a job that was to end by `ends` cannot be expected any more."""
    return now > ends + GRACE
