from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memlane.embed.batch.decide import GRACE, is_over, verdict

ENDS = datetime(2026, 12, 2, tzinfo=UTC)

# phase, time over: what becomes of the job
TABLE = [
    ("running", False, "wait"),
    ("running", True, "give up"),
    ("unknown", False, "wait"),
    ("unknown", True, "give up"),
    ("ended", False, "collect"),
    ("ended", True, "collect"),
    ("failed", False, "collect"),
    ("failed", True, "collect"),
    ("gone", False, "give up"),
    ("gone", True, "give up"),
]


@pytest.mark.parametrize(("phase", "over", "expected"), TABLE)
def test_what_becomes_of_a_job(phase, over, expected) -> None:
    assert verdict(phase, over=over) == expected


@pytest.mark.parametrize(
    ("late", "expected"),
    [(-timedelta(1), False), (GRACE, False), (GRACE + timedelta(seconds=1), True)],
)
def test_a_job_is_given_some_time_beyond_its_own(late: timedelta, expected: bool) -> None:
    assert is_over(ENDS + late, ENDS) is expected
