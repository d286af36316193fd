"""Asks one endpoint with patience: what passes is tried again, what does not is raised at once.

A loop of its own, and not a retry library's: the pause after a refusal belongs to all workers, ends when the
provider is closed, and is told by the product's clock. The libraries at hand sleep by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...clock import Clock
from ...errors import EmbeddingError, QuotaExhausted
from ...values import Value
from .client import Answer, CallFailed, Client
from .limiter import Cut, Limiter, TooLong, Turn, Waiter
from .refusals import Refusal, read_refusal
from .wire import Request


class Patience(Value, frozen=True):
    """How long to try."""

    attempts: int
    """Failures in a row that are borne; being told to wait is not one while the requests become smaller."""
    first_pause: float
    """Seconds after the first failure; twice as long after each further one."""
    longest_pause: float
    total_seconds: float | None
    """For all of it; None sets no end."""
    call_seconds: float
    """For one call."""


_LEAST_SECONDS = 0.05
_TOLD_SECONDS = 5.0
"""A longer pause is told in the log: otherwise it looks as if nothing happens any more."""

INDEX = Patience(6, 1.0, 60.0, None, 120.0)
QUERY = Patience(3, 0.2, 2.0, 8.0, 8.0)


class Refused(Exception):  # noqa: N818 - never leaves the room
    """The service refused, and asking the same again would not help."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.kind)
        self.refusal = refusal


class Calls:
    """Sends requests to one endpoint for one purpose."""

    def __init__(
        self,
        client: Client,
        limiter: Limiter,
        patience: Patience,
        *,
        clock: Clock,
        waiter: Waiter,
        jitter: Callable[[], float],
        who: str,
    ) -> None:
        """`jitter` gives a number from 0 to 1; `who` names the provider in messages."""
        self._client = client
        self._limiter = limiter
        self._patience = patience
        self._clock = clock
        self._waiter = waiter
        self._jitter = jitter
        self._who = who

    @property
    def largest(self) -> int | None:
        """How many items a request may have, as far as refusals have taught."""
        return self._limiter.largest

    def ask(self, request: Request, items: int) -> bytes:
        """The body of a good answer.

        Raises Refused, QuotaExhausted, or EmbeddingError when the time or the number of attempts is used up.
        """
        started = self._clock.monotonic()
        failures = 0
        while True:
            turn = self._turn(items, self._left(started))
            try:
                answer = self._answer(request, self._left(started))
            except CallFailed as failure:
                self._limiter.failed(turn)
                failures += 1
                if not failure.passing or failures >= self._patience.attempts:
                    raise
                self._pause(None, failures, started, failure)
                continue
            except BaseException:  # Ctrl-C: others may go on
                self._limiter.failed(turn)
                raise
            if answer.ok:
                self._limiter.done(turn)
                return answer.body
            refusal = read_refusal(self._client.hide_in(answer), self._clock.now())
            problem = self.problem(refusal)
            if refusal.kind == "rate":
                self._slow_down(turn, refusal, items, problem)
                continue
            self._limiter.failed(turn)
            if refusal.kind == "quota":
                raise problem
            if refusal.kind != "server":
                raise Refused(refusal)
            failures += 1
            if failures >= self._patience.attempts:
                raise problem
            self._pause(refusal.pause, failures, started, problem)

    def wait(self, seconds: float) -> bool:
        """Pause, and tell of it when it is long. True when it was cut short."""
        if seconds > _TOLD_SECONDS:
            import logging

            logging.getLogger("memlane").info("%s: the next request is sent in %.0f s", self._who, seconds)
        return self._waiter.wait(seconds)

    def _answer(self, request: Request, left: float | None) -> Answer:
        limit = self._patience.call_seconds if left is None else max(left, _LEAST_SECONDS)
        return self._client.request("POST", request.path, content=request.body, total_seconds=limit)

    def problem(self, refusal: Refusal) -> EmbeddingError:
        """A refusal as it is told to people. Never holds a key."""
        detail = self._client.hide(refusal.detail) if refusal.kind != "key" else ""
        said = f": {detail}" if detail else ""
        if refusal.kind == "quota":
            until = f" until {refusal.retry_at:%Y-%m-%d %H:%M}" if refusal.retry_at else ""
            return QuotaExhausted(
                f"{self._who} takes no more{until}: its quota is used up{said}",
                retry_at=refusal.retry_at,
                hint="what is done is kept; check the plan and billing of the account, or go on later",
            )
        words, hint = _WORDS.get(refusal.kind, _OTHER)
        return EmbeddingError(f"{self._who} {words} (status {refusal.status}){said}", hint=hint)

    def _slow_down(self, turn: Turn, refusal: Refusal, items: int, problem: EmbeddingError) -> None:
        """Pause everybody. Raises Refused when a request of this size is not to be sent again."""
        backoff = self._backoff(self._limiter.refused_in_a_row + 1)
        pause = refusal.pause if refusal.pause is not None else backoff
        self._limiter.refused(turn, pause)
        if self.largest is not None and self.largest < items:
            raise Refused(refusal)
        if self._limiter.refused_in_a_row >= self._patience.attempts:
            raise problem

    def _turn(self, items: int, left: float | None) -> Turn:
        try:
            return self._limiter.take(items, self, left)
        except TooLong as pause:
            raise EmbeddingError(
                f"{self._who} wants a pause of {pause.seconds:.0f} s before the next request",
                hint="searches find by keyword meanwhile",
            ) from None
        except Cut:
            self._ended()

    def _pause(self, wanted: float | None, failures: int, started: float, problem: EmbeddingError) -> None:
        pause = wanted if wanted is not None else self._backoff(failures)
        left = self._left(started)
        if left is not None and pause >= left:
            raise problem
        if self.wait(pause):
            self._ended()

    def _backoff(self, failures: int) -> float:
        """Exponential, and shortened by up to a half so that workers do not come back all at once."""
        pause = min(self._patience.longest_pause, self._patience.first_pause * 2.0 ** (failures - 1))
        return pause * (1.0 - 0.5 * self._jitter())

    def _left(self, started: float) -> float | None:
        total = self._patience.total_seconds
        return None if total is None else total - (self._clock.monotonic() - started)

    def _ended(self) -> NoReturn:
        raise CallFailed(f"the call to {self._client.host} was ended", "closed")


_OTHER = ("refused the request", "check the model, the address and the settings of the provider")
_WORDS = {
    "key": ("refuses the key", "check the key, and that it may use this model"),
    "model": ("does not have this model", "check memorySearch.model"),
    "address": ("has no embeddings at this address", "check memorySearch.remote.baseUrl"),
    "dimensions": ("refuses the dimensions", "check memorySearch.outputDimensionality"),
    "rate": ("takes no more requests for now", "go on later, or ask the provider for higher limits"),
    "server": ("failed", "try again later"),
    "input_length": ("finds the text too long", ""),
}
