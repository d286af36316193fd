"""How long a provider that failed is left alone: kept beside the index, so that every process honours it."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from ..clock import Clock
from ..embed.base import Embedder
from ..errors import EmbeddingError, QuotaExhausted
from ..values import Value
from .identity import space_identity
from .store import Store

_NOTE = "provider_pause"
_FIRST_SECONDS = 60
_LONGEST_SECONDS = 30 * 60


class Pause(Value, frozen=True):
    """Why a provider is left alone, and until when."""

    identity: str
    """Of its vector space."""
    until: datetime
    reason: str
    failures: int = 1
    """In a row."""
    is_stated: bool = False
    """The provider itself has said until when."""

    @property
    def retry_at(self) -> str:
        """ISO time."""
        return self.until.isoformat(timespec="seconds")

    def __str__(self) -> str:
        sooner = "" if self.is_stated else "; memlane index tries at once"
        return f"{self.reason} (tried again from {self.until:%Y-%m-%d %H:%M %Z} on{sooner})"


class Pauses:
    """The pause of one provider. Each failure in a row doubles it, from a minute to half an hour.

    A provider that says itself when it may be asked again is taken at its word.
    """

    def __init__(self, store: Store, embedder: Embedder, clock: Clock) -> None:
        self._store = store
        self._identity = space_identity(embedder.identity)
        self._clock = clock

    def last(self) -> Pause | None:
        """The last failure since the provider worked, over or not."""
        with suppress(msgspec.MsgspecError):
            pause = msgspec.json.decode(self._store.note(_NOTE) or "", type=Pause)
            if pause.identity == self._identity:
                return replace(pause, until=pause.until.astimezone(self._clock.now().tzinfo))
        return None

    def in_force(self) -> Pause | None:
        """The pause that is not over."""
        pause = self.last()
        return pause if pause and self._clock.now() < pause.until else None

    def begin(self, error: EmbeddingError) -> Pause:
        """The provider failed."""
        before = self.last()
        failures = before.failures + 1 if before else 1
        seconds = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2 ** min(failures - 1, 10))
        until = self._clock.now() + timedelta(seconds=seconds)
        stated = error.retry_at if isinstance(error, QuotaExhausted) else None
        if stated is not None:
            until = stated.astimezone(until.tzinfo)
        pause = Pause(self._identity, until, str(error), failures, is_stated=stated is not None)
        self._store.put_note(_NOTE, msgspec.json.encode(pause).decode())
        return pause

    def end(self) -> None:
        """The provider works."""
        if self.last() is not None:
            self._store.put_note(_NOTE, "")
