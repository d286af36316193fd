"""What configuration decides about batch jobs."""

from __future__ import annotations

from ...config.schema import Batch
from ...values import Value

WORTH_A_JOB = 1_000
"""Fewer texts are embedded directly: that is a handful of calls, and a job may take hours."""


class BatchSettings(Value, frozen=True):
    """`remote.batch`, in seconds."""

    enabled: bool = False
    """False: no job is begun; those that go on are still taken over."""
    wait: bool = True
    concurrency: int = 2
    poll_seconds: float = 2.0
    timeout_seconds: float = 3600.0
    worth_a_job: int = WORTH_A_JOB

    @classmethod
    def of(cls, batch: Batch) -> BatchSettings:
        """As configured."""
        return cls(
            batch.enabled,
            batch.wait,
            batch.concurrency,
            batch.poll_interval_ms / 1000,
            batch.timeout_minutes * 60.0,
        )
