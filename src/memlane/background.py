"""The life of a memory in a process that lives on: one thread that keeps its index fresh.

Passes are asked for by reasons (a session starts, a search finds the last look old, notes change, an interval
is over); one pass answers all that have come together. Whatever goes wrong in a pass is reported and tried
again; the thread goes on.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Literal, Protocol, TypeVar

from .agenda import Agenda, Turn
from .errors import Interrupted, MemlaneError
from .events import Stage
from .progress import ProgressRelay
from .values import Outlook, Pass, Readiness, SyncReport, Upkeep

_Answer = TypeVar("_Answer")

VECTORS = "vectors"
"""The reason of a pass that makes what a brief one left: the vectors of a model that takes long."""
_LOOK_SECONDS = 2.0
"""A search asks for a pass when the last one began longer ago than this."""
_LOOK_SECONDS_WATCHED = 5.0
_FIRST_WORDS_SECONDS = 0.6
"""How long a search waits for the keyword index of a fresh memory when a part of it can answer already."""
_FIRST_INDEX_SECONDS = 5.0
"""The same while nothing at all can answer."""
_OWN_WORDS_SECONDS = 0.5
"""How long a search waits for what was just remembered here."""
_JUST_NOW_SECONDS = 2.0
_POLL_SECONDS = 3.0
_POLL_SHARE = 20
"""Polling takes at most one part in so many of the time."""
_BUSY_SECONDS = 1.0
"""When to look again after another process was writing."""
_PATIENCE_SECONDS = 10.0
"""A search asks for a pass after so long even while a provider fails: changed words need none."""
_FILL_RETRY_SECONDS = 60.0
_WATCH_RETRY_SECONDS = 300.0
_RENEW_SECONDS = 0.5
"""Folders that come and go faster than this are watched when they rest."""
_CLOSE_SECONDS = 5.0
_STEP = 0.02


class Watch(Protocol):
    """What tells of changes (`workspace.watch.TreeWatch`)."""

    outdated: bool
    problem: str

    @property
    def active(self) -> bool:
        """Whether events come in."""
        ...

    def renew(self) -> None:
        """Watch what is there now."""
        ...

    def wait(self, wake: threading.Event, seconds: float) -> list[str]:
        """What changed, as soon as anything did; nothing when time is up or `wake` is set."""
        ...

    def close(self) -> None:
        """Watch no longer."""
        ...


class Background:
    """Runs passes behind a memory. Thread-safe; the thread starts with the first reason for a pass."""

    def __init__(
        self,
        work: Callable[[str], SyncReport],
        *,
        relay: ProgressRelay,
        watch: Watch | None,
        debounce: float,
        interval: float = 0.0,
        listener: Callable[[Pass], None] | None = None,
    ) -> None:
        """`work` does a pass for a reason. `debounce` and `interval` in seconds; `watch` None: do not watch.

        `listener` is told of every pass, from the thread that does them.
        """
        self._work = work
        self._relay = relay
        self._watch = watch
        self.listener = listener
        self._agenda = Agenda(debounce=debounce, interval=interval)
        self._state = threading.Condition()
        self._wake = threading.Event()
        self._passing = threading.Lock()
        self._claims = 0
        """How many calls of this process wait to do a pass themselves."""
        self._closing = False
        self._thread: threading.Thread | None = None
        self._running: Turn | None = None
        self._passes = 0
        self._trouble = ""
        self._complete = False
        """Whether the last pass did all there was to do."""
        self._poll_pause: float | None = None
        self._attempted = self._looked = float("-inf")
        """When the last pass began, and the last one that did all there was to do."""
        self._answers = False
        """A search has been answered, or has waited long enough."""
        self._own_change = float("-inf")
        self._watch_tried = float("-inf")
        self._fill_after = float("-inf")
        """When a model that failed is asked for vectors again."""
        relay.tells_once = True
        relay.is_over = self._is_over

    # -- what callers ask ----------------------------------------------------------------------------

    def ask(self, reason: str) -> None:
        """Have a pass made soon."""
        with self._state:
            if self._closing:
                return
            self._agenda.ask(reason)
            if self._thread is None:
                self._thread = threading.Thread(target=self._live, name="memlane", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        self._wake.set()

    def note_own_change(self, location: str) -> None:
        """A note was written by this memory itself."""
        with self._state:
            self._own_change = monotonic()
            self._agenda.note_changes((location,), self._own_change)
        self._wake.set()

    def outlook(self, readiness: Callable[[], Readiness], *, look: bool) -> Outlook:
        """What a search is to know; with `look`, a pass is asked for when the last look is old.

        Waits for nothing but the first keyword index of a fresh memory, and what was just remembered here.
        """
        began = monotonic()
        if look and self._wants_look(began):
            self.ask("search")
        just_now = began - self._own_change < _JUST_NOW_SECONDS
        if look and just_now and self._own_change > self._looked and not self._trouble:
            self.ask("remember")
            self._wait(lambda: self._looked >= self._own_change, began + _OWN_WORDS_SECONDS)
        if look and not self._answers:
            self._wait(lambda: self._has_words(readiness, began), began + _FIRST_INDEX_SECONDS)
            self._answers = True
        with self._state:
            return Outlook(not self._is_fresh(monotonic()), self._trouble)

    def in_turn(self, work: Callable[[], _Answer]) -> _Answer:
        """Do a pass in the caller's thread; one that runs behind ends at its next step and goes on later."""
        with self._state:
            self._claims += 1
        try:
            with self._passing:
                began = monotonic()
                try:
                    answer = work()
                finally:
                    self._relay.finish()
        finally:
            with self._state:
                self._claims -= 1
            self._wake.set()
        with self._state:
            if isinstance(answer, SyncReport) and answer.complete:
                self._looked = self._attempted = began
                self._trouble, self._complete = "", True
        return answer

    def upkeep(self) -> Upkeep:
        """What is going on."""
        with self._state:
            return Upkeep(
                watching=self._watching(),
                problem=self._watch.problem if self._watch else "",
                working_on=self._running.reasons if self._running else (),
                progress=self._relay.latest,
                passes=self._passes,
                fresh=self._is_fresh(monotonic()),
                trouble=self._trouble,
            )

    def close(self) -> None:
        """End the thread; work at hand ends at its next step. Takes a few seconds at most."""
        with self._state:
            self._closing = True
            self._state.notify_all()
            thread = self._thread
        self._wake.set()
        if thread is None or thread is threading.current_thread():
            return
        atexit.unregister(self.close)
        thread.join(_CLOSE_SECONDS)
        if thread.is_alive():
            self._relay.warning("a provider does not answer; the thread that waits for it ends when it does")

    # -- the thread ----------------------------------------------------------------------------------

    def _live(self) -> None:
        try:
            while True:
                try:
                    turn = self._next_turn()
                except Exception as error:  # noqa: BLE001 - whatever becomes of the watch, searches still ask
                    self._watch = None
                    self._warn(f"notes are no longer watched: {type(error).__name__}: {error}")
                    continue
                if turn is None:
                    return
                self._run(turn)
        finally:
            if self._watch is not None:
                self._watch.close()

    def _next_turn(self) -> Turn | None:
        """Wait until a pass is due; None when this memory is closed."""
        while True:
            with self._state:
                if self._closing:
                    return None
                self._wake.clear()
                turn = None if self._claims else self._agenda.take(monotonic())
                if turn is not None:
                    self._running, self._attempted = turn, monotonic()
                    return turn
                pause = 0.5 if self._claims else self._agenda.pause(monotonic())
            if self._renew_watch():
                continue
            changed = self._watch_for(pause)
            if changed:
                with self._state:
                    self._agenda.note_changes(changed, monotonic())

    def _renew_watch(self) -> bool:
        """Watch the folders as they are now, when that is due. Gives whether a look at them is due then."""
        watch = self._watch
        if watch is None:
            return False
        tried = monotonic() - self._watch_tried
        if not (watch.outdated or (watch.problem and tried > _WATCH_RETRY_SECONDS)):
            return False
        if tried < _RENEW_SECONDS:
            return False
        known = watch.problem
        watch.renew()
        self._watch_tried = monotonic()
        if watch.problem and not known:
            self._warn(f"notes are looked at every few seconds, because {watch.problem}")
        with self._state:
            self._agenda.note_changes((), monotonic())
        return True

    def _watch_for(self, pause: float) -> list[str]:
        if self._watch is None:
            self._wake.wait(pause)
            return []
        return self._watch.wait(self._wake, min(pause, _RENEW_SECONDS) if self._watch.outdated else pause)

    def _run(self, turn: Turn) -> None:
        began = monotonic()
        report, failure, ended = None, "", False
        try:
            with self._passing:
                report = self._work(", ".join(turn.reasons))
        except Interrupted:
            ended = True
        except MemlaneError as error:
            failure = str(error)
        except Exception as error:  # noqa: BLE001 - the thread outlives whatever a host's parts raise
            failure = f"unexpected {type(error).__name__}: {error}"
        if failure and not self._closing:
            self._warn(failure)
        complete = report is not None and report.complete
        busy = report is not None and report.busy
        if complete:
            self._relay.forget()
        self._relay.finish()
        with self._state:
            self._running = None
            now = monotonic()
            if ended:
                self._agenda.give_back(turn)
            else:
                self._passes += 1
                self._trouble = "" if busy else failure or self._shortfall(report)
                self._poll_pause = _BUSY_SECONDS if busy else self._poll(now - began)
                self._agenda.end_pass(now, failed=not complete and not busy, poll=self._poll_pause)
                self._complete = complete
            if complete:
                self._looked = began
            if turn.reasons == (VECTORS,) and not (complete or ended):
                self._fill_after = now + _FILL_RETRY_SECONDS
            self._ask_for_vectors(report, now)
            self._state.notify_all()
        if self.listener is not None and not ended:
            self._tell(Pass(turn.reasons, turn.changed, report, failure))

    def _ask_for_vectors(self, report: SyncReport | None, now: float) -> None:
        """Have made what a brief pass left, unless that has just failed."""
        if report is not None and report.complete and report.left and now >= self._fill_after:
            self._agenda.ask(VECTORS)

    def _tell(self, done: Pass) -> None:
        try:
            if self.listener is not None:
                self.listener(done)
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(f"a listener failed with {type(error).__name__}: {error}")

    def _warn(self, message: str) -> None:
        """Tell the host. One that cannot be told loses the message, not the thread."""
        with suppress(Exception):
            self._relay.warning(message)

    def _is_over(self, stage: Stage) -> bool:
        """Whether the pass at hand should end at this step.

        Vectors may take minutes to fill: changed notes are searchable by keyword before that goes on.
        """
        if self._closing:
            return True
        if threading.current_thread() is not self._thread:
            return False
        with self._state:
            return bool(self._claims) or (stage == "embed" and self._agenda.is_due(monotonic()))

    # -- what follows from the state -----------------------------------------------------------------

    def _wait(self, condition: Callable[[], bool], until: float) -> None:
        """Wait for something the thread does, as long as this memory is open."""
        while not condition() and (left := until - monotonic()) > 0 and not self._closing:
            with self._state:
                self._state.wait(min(left, _STEP))

    def _has_words(self, readiness: Callable[[], Readiness], began: float) -> bool:
        """Whether a fresh memory can answer: by all its words, or by some of them after a while."""
        latest = self._relay.latest
        if self._passes or (latest is not None and latest.stage == "embed"):
            return True
        ready = readiness() if latest is None else "partial"
        return ready == "complete" or (ready == "partial" and monotonic() - began >= _FIRST_WORDS_SECONDS)

    def _wants_look(self, now: float) -> bool:
        with self._state:
            usual = _LOOK_SECONDS_WATCHED if self._watching() == "events" else _LOOK_SECONDS
            return now - self._attempted >= max(usual, min(self._agenda.retry_pause, _PATIENCE_SECONDS))

    def _is_fresh(self, now: float) -> bool:
        """Whether all that is known to have changed is indexed, and there is reason to think that is all."""
        if not self._complete or self._agenda.has_changes or self._own_change > self._looked:
            return False
        filling = self._running is not None and self._running.reasons == (VECTORS,)
        if (
            self._running is not None
            and not filling
            and (self._running.changed or self._relay.latest is not None)
        ):
            return False  # it has found something to do
        watching = self._watching()
        if watching == "events":
            return True
        trusted = 2 * (self._poll_pause or 0.0) if watching == "polling" else 0.0
        return now - self._looked < max(_LOOK_SECONDS, trusted)

    def _watching(self) -> Literal["events", "polling", "off"]:
        if self._watch is None:
            return "off"
        return "events" if self._watch.active else "polling"

    def _poll(self, seconds: float) -> float | None:
        """When to look again without being asked, after a pass that took so long."""
        return max(_POLL_SECONDS, _POLL_SHARE * seconds) if self._watching() == "polling" else None

    @staticmethod
    def _shortfall(report: SyncReport | None) -> str:
        if report is None or report.complete:
            return ""
        return report.warning or "another process is indexing"
