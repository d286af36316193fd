"""When an index is checked as a whole: damage that no query happens to touch must not stay for long."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from ..clock import Clock
from ..errors import StoreError
from .sqlite import SqliteStore

VERIFIED = "verified"
"""The note that holds the time of the last check of the whole file."""
_EVERY = timedelta(days=1)


def verification_is_due(store: SqliteStore, clock: Clock) -> bool:
    """Whether the last check is more than a day ago, or lies in the future because the clock was set back."""
    if store.read_only or store.current_generation() is None:
        return False
    with suppress(ValueError, TypeError):
        age = clock.now() - datetime.fromisoformat(store.note(VERIFIED) or "")
        return not timedelta(0) <= age < _EVERY
    return True


def note_verification(store: SqliteStore, clock: Clock) -> None:
    """Keep the time of a check that found nothing. Where that cannot be written the next one comes sooner."""
    with suppress(StoreError):
        store.put_note(VERIFIED, clock.now().isoformat(timespec="seconds"))
        store.settle()
