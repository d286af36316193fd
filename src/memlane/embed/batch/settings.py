"""What configuration decides about batch jobs."""

from __future__ import annotations

from ...values import Value

WORTH_A_JOB = 1_000
"""Fewer texts are embedded directly: that takes a minute or two, a job up to a day."""


class BatchSettings(Value, frozen=True):
    """`remote.batch`, in seconds."""

    enabled: bool = False
    """False: no job is begun; those that go on are still taken over."""
    wait: bool = True
    concurrency: int = 2
    poll_seconds: float = 2.0
    timeout_seconds: float = 3600.0
    worth_a_job: int = WORTH_A_JOB
