from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memlane.embed.batch.decide import GRACE, is_over, verdict

ENDS = datetime(2026, 12, 2, tzinfo=UTC)

# phase, still waiting, time over: what becomes of the job
TABLE = [
    ("running", True, False, "wait"),
    ("running", False, False, "later"),
    ("running", True, True, "give up"),
    ("running", False, True, "give up"),
    ("unknown", True, False, "wait"),
    ("unknown", False, False, "later"),
    ("unknown", True, True, "give up"),
    ("unknown", False, True, "give up"),
    ("ended", True, False, "collect"),
    ("ended", False, False, "collect"),
    ("ended", True, True, "collect"),
    ("ended", False, True, "collect"),
    ("failed", True, False, "collect"),
    ("failed", False, False, "collect"),
    ("failed", True, True, "collect"),
    ("failed", False, True, "collect"),
    ("gone", True, False, "give up"),
    ("gone", False, False, "give up"),
    ("gone", True, True, "give up"),
    ("gone", False, True, "give up"),
]


@pytest.mark.parametrize(("phase", "waiting", "over", "expected"), TABLE)
def test_what_becomes_of_a_job(phase, waiting, over, expected) -> None:
    assert verdict(phase, waiting=waiting, over=over) == expected


@pytest.mark.parametrize(
    ("late", "expected"),
    [(-timedelta(1), False), (GRACE, False), (GRACE + timedelta(seconds=1), True)],
)
def test_a_job_is_given_some_time_beyond_its_own(late: timedelta, expected: bool) -> None:
    assert is_over(ENDS + late, ENDS) is expected
