"""Temporal decay: what is older counts less, unless it is evergreen. Pure."""

from __future__ import annotations

from datetime import date


def age_in_days(day: date, today: date) -> int:
    """Whole days between two calendar days; the future has age 0."""
    return max(0, (today - day).days)


def decay_factor(age_days: int, half_life_days: float) -> float:
    """`exp(−ln 2 / half-life × age)`: 1 today, one half after a half-life."""
    # Written as a power of two, which is exact at whole half-lives and cannot overflow.
    return float(2.0 ** (-age_days / half_life_days))
