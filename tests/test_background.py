"""The life of a memory behind a host that lives on."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from memlane import AsyncMemory, Memory
from memlane import background as module
from memlane.background import Background
from memlane.embed.base import NoVector, Vector
from memlane.errors import Interrupted, StoreError
from memlane.events import Stage
from memlane.progress import ProgressRelay
from memlane.testing import HashEmbedder, RecordingObserver
from memlane.values import Pass, SyncReport

SECONDS = 20.0
Write = Callable[[str, str], Path]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def eventually(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Wait until something holds."""
    until = monotonic() + seconds
    while not condition():
        assert monotonic() < until, "it never came to be"
        threading.Event().wait(0.01)


class Passes:
    """Stands in for a memory's work: counts passes, and holds or fails them as told."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.go = threading.Event()
        self.go.set()
        self.entered = threading.Semaphore(0)
        self.failures: list[Exception] = []
        self.complete = True
        self.busy = False

    def __call__(self, reason: str) -> SyncReport:
        self.reasons.append(reason)
        self.entered.release()
        assert self.go.wait(SECONDS)
        if self.failures:
            raise self.failures.pop(0)
        if self.busy:
            return SyncReport(reason, complete=False, busy=True, warning="process 7 is writing")
        return SyncReport(reason, complete=self.complete, warning=None if self.complete else "it is down")


class FakeWatch:
    """A watch that tells what the test says."""

    def __init__(self, problem: str = "") -> None:
        self.outdated = True
        self.problem = ""
        self.renewals = 0
        self._says = problem
        self.told: list[str] = []

    @property
    def active(self) -> bool:
        return self.renewals > 0 and not self.problem

    def renew(self) -> None:
        self.outdated, self.problem = False, self._says
        self.renewals += 1

    def wait(self, wake: threading.Event, seconds: float) -> list[str]:
        wake.wait(min(seconds, 0.02))
        told, self.told = self.told, []
        return told

    def close(self) -> None:
        self.outdated = True


@pytest.fixture
def work() -> Passes:
    return Passes()


@pytest.fixture
def begin(work: Passes, observer: RecordingObserver) -> Iterator[Callable[..., Background]]:
    made: list[Background] = []

    def one(**options: Any) -> Background:
        options = {"watch": None, "debounce": 0.05, "relay": ProgressRelay(observer), **options}
        made.append(Background(options.pop("work", work), **options))
        return made[-1]

    yield one
    work.go.set()
    for background in made:
        background.close()


def thread_of(background: Background) -> threading.Thread:
    assert background._thread is not None
    return background._thread


class TestTheThread:
    def test_begins_with_the_first_reason(self, begin, work: Passes) -> None:
        before = threading.active_count()
        background = begin()
        assert threading.active_count() == before
        background.ask("search")
        eventually(lambda: background.upkeep().passes == 1)
        assert work.reasons == ["search"]
        assert threading.active_count() == before + 1

    def test_one_pass_answers_all_that_have_come_together(self, begin, work: Passes) -> None:
        background = begin()
        work.go.clear()
        background.ask("start")
        assert work.entered.acquire(timeout=SECONDS)
        for _ in range(50):
            background.ask("search")
            background.ask("session start")
        work.go.set()
        eventually(lambda: background.upkeep().passes == 2)
        assert work.reasons == ["start", "search, session start"]

    def test_ends_when_closed_and_closing_twice_is_harmless(self, begin) -> None:
        background = begin()
        background.ask("start")
        eventually(lambda: background.upkeep().passes == 1)
        background.close()
        assert not thread_of(background).is_alive()
        background.close()
        background.ask("search")
        assert background.upkeep().passes == 1

    def test_closing_ends_work_at_its_next_step(self, begin, observer: RecordingObserver) -> None:
        relay = ProgressRelay(observer)
        entered = threading.Event()

        def endless(reason: str) -> SyncReport:
            entered.set()
            for step in range(10**9):
                relay.progress("index", step, 10**9)
                threading.Event().wait(0.001)
            return SyncReport(reason)

        background = begin(work=endless, relay=relay)
        background.ask("start")
        assert entered.wait(SECONDS)
        background.close()
        assert not thread_of(background).is_alive()
        assert observer.warnings == []

    def test_survives_whatever_a_pass_raises_and_tries_again(
        self, begin, work: Passes, observer: RecordingObserver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from memlane import agenda

        monkeypatch.setattr(agenda, "_FIRST_RETRY", 0.01)
        work.failures = [StoreError("no space left"), StoreError("no space left"), RuntimeError("a bug")]
        background = begin()
        background.ask("start")
        eventually(lambda: background.upkeep().passes == 4)
        assert work.reasons == ["start", "retry", "retry", "retry"]
        assert observer.warnings == ["no space left", "unexpected RuntimeError: a bug"]
        assert background.upkeep().trouble == ""

    def test_a_listener_that_fails_stops_nothing(self, begin, observer: RecordingObserver) -> None:
        told: list[Pass] = []

        def listen(done: Pass) -> None:
            told.append(done)
            raise ValueError("no")

        background = begin(listener=listen)
        background.ask("one")
        eventually(lambda: len(told) == 1)
        background.ask("two")
        eventually(lambda: len(told) == 2)
        assert [done.reasons for done in told] == [("one",), ("two",)]
        assert set(observer.warnings) == {"a listener failed with ValueError: no"}

    def test_an_observer_that_fails_stops_nothing(self, begin, work: Passes) -> None:
        class Failing(RecordingObserver):
            def warning(self, message: str) -> None:
                raise ValueError(message)

        work.failures = [StoreError("no space left")]
        background = begin(relay=ProgressRelay(Failing()))
        background.ask("one")
        eventually(lambda: background.upkeep().passes == 1)
        background.ask("two")
        eventually(lambda: background.upkeep().passes == 2)
        assert background.upkeep().trouble == ""

    def test_another_process_that_writes_is_no_trouble(
        self, begin, work: Passes, observer: RecordingObserver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_BUSY_SECONDS", 0.01)
        work.busy = True
        background = begin()
        background.ask("start")
        eventually(lambda: background.upkeep().passes >= 3)
        outlook = background.outlook(lambda: "complete", look=False)
        assert (outlook.stale, outlook.trouble, observer.warnings) == (True, "", [])
        work.busy = False
        eventually(lambda: not background.outlook(lambda: "complete", look=False).stale)

    def test_an_interval(self, begin, work: Passes) -> None:
        background = begin(interval=0.02)
        background.ask("start")
        eventually(lambda: work.reasons.count("interval") >= 3)

    def test_what_could_not_be_done_is_told_of(self, begin, work: Passes) -> None:
        work.complete = False
        background = begin()
        background.ask("start")
        eventually(lambda: background.upkeep().passes == 1)
        outlook = background.outlook(lambda: "complete", look=False)
        assert (outlook.stale, outlook.trouble) == (True, "it is down")


class TestWatching:
    def test_changes_lead_to_a_pass_once_it_is_quiet(self, begin, work: Passes) -> None:
        watch, told = FakeWatch(), []
        background = begin(watch=watch, listener=told.append)
        background.ask("start")
        eventually(lambda: work.reasons == ["start", "watch"])  # the second: since the watch began
        watch.told = ["/notes/memory/a.md"]
        eventually(lambda: len(told) == 3)
        assert (told[2].reasons, told[2].changed) == (("watch",), ("/notes/memory/a.md",))
        assert background.upkeep().watching == "events"
        assert background.upkeep().fresh

    def test_folders_that_changed_are_watched_anew(self, begin, work: Passes, monkeypatch) -> None:
        monkeypatch.setattr(module, "_RENEW_SECONDS", 0.0)
        watch = FakeWatch()
        begin(watch=watch).ask("start")
        eventually(lambda: work.reasons.count("watch") == 1)
        watch.outdated = True
        eventually(lambda: watch.renewals == 2)
        eventually(lambda: work.reasons.count("watch") == 2)

    def test_without_events_notes_are_looked_at_regularly_with_one_warning(
        self, begin, work: Passes, observer: RecordingObserver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_POLL_SECONDS", 0.01)
        background = begin(watch=FakeWatch("the system watches no more folders"))
        background.ask("start")
        eventually(lambda: work.reasons.count("poll") >= 3)
        assert background.upkeep().watching == "polling"
        assert observer.warnings == [
            "notes are looked at every few seconds, because the system watches no more folders"
        ]

    def test_a_watch_that_breaks_leaves_the_searches(
        self, begin, work: Passes, observer: RecordingObserver
    ) -> None:
        class Broken(FakeWatch):
            def renew(self) -> None:
                raise ImportError("no watchfiles")

        background = begin(watch=Broken())
        background.ask("start")
        eventually(lambda: background.upkeep().watching == "off")
        assert observer.warnings == ["notes are no longer watched: ImportError: no watchfiles"]
        background.ask("search")
        eventually(lambda: background.upkeep().passes == 2)

    def test_a_search_looks_again_whatever_the_watch_says(self, begin, work: Passes, monkeypatch) -> None:
        monkeypatch.setattr(module, "_LOOK_SECONDS_WATCHED", 0.0)
        background = begin(watch=FakeWatch())
        background.ask("start")
        eventually(lambda: background.upkeep().passes == 2)
        assert not background.outlook(lambda: "complete", look=True).stale
        eventually(lambda: background.upkeep().passes == 3)
        assert work.reasons[-1] == "search"


class TestMakingRoom:
    def test_a_call_that_syncs_itself_goes_first(self, begin, observer: RecordingObserver) -> None:
        relay = ProgressRelay(observer)
        order: list[str] = []
        entered = threading.Event()

        def stepping(reason: str) -> SyncReport:
            order.append(reason)
            entered.set()
            if len(order) == 1:
                while True:
                    relay.progress("index", 1, 2)
                    threading.Event().wait(0.001)
            return SyncReport(reason)

        background = begin(work=stepping, relay=relay)
        background.ask("start")
        assert entered.wait(SECONDS)
        background.in_turn(lambda: order.append("own"))
        eventually(lambda: background.upkeep().passes == 1)
        assert order == ["start", "own", "start"]

    def test_vectors_wait_for_changed_notes(self, begin, observer: RecordingObserver) -> None:
        relay = ProgressRelay(observer)
        runs: list[str] = []

        def filling(reason: str) -> SyncReport:
            runs.append(reason)
            while len(runs) == 1:
                relay.progress("embed", 1, 100)
                threading.Event().wait(0.001)
            return SyncReport(reason)

        background = begin(work=filling, relay=relay)
        background.ask("start")
        eventually(lambda: runs == ["start"])
        background.note_own_change("/notes/a.md")
        eventually(lambda: background.upkeep().passes == 1)
        assert runs == ["start", "start, watch"]


# ---- with a memory ---------------------------------------------------------------------------------


@pytest.fixture
def host(tmp_path: Path, notes: Path, observer: RecordingObserver) -> Iterator[Callable[..., Memory]]:
    """Opens memories that live on, with a `memorySearch` section as keyword arguments."""
    opened: list[Memory] = []
    state = tmp_path / "state"
    state.mkdir()

    def open_one(embedder: object = None, observer: object = observer, **search: Any) -> Memory:
        search = {"sync": {"watchDebounceMs": 20}, **search}
        config = {"agents": {"defaults": {"workspace": str(notes), "memorySearch": search}}}
        (state / "openclaw.json").write_text(json.dumps(config), "utf-8")
        memory = Memory.open(
            state_dir=state,
            environ={},
            observer=observer,  # type: ignore[arg-type]
            embedder=embedder,  # type: ignore[arg-type]
            background=True,
        )
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()


class Held(HashEmbedder):
    """Embeds a batch for each permit it is given."""

    max_batch_items = 4

    def __init__(self) -> None:
        super().__init__()
        self.permits = threading.Semaphore(0)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        assert self.permits.acquire(timeout=SECONDS)
        return super().embed_documents(texts)


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query)]


def test_the_first_search_waits_for_the_words_of_a_fresh_memory(write: Write, host) -> None:
    write("memory/a.md", "green tea\n")
    result = host().search("tea")
    assert [hit.path for hit in result] == ["memory/a.md"]


def test_vectors_are_filled_in_behind_and_it_says_so(write: Write, host) -> None:
    for number in range(12):
        write(f"memory/{number}.md", f"green tea number{number}\n")
    embedder = Held()
    memory = host(embedder)
    result = memory.search("number7")
    assert [hit.path for hit in result] == ["memory/7.md"]
    assert result.partial
    assert result.stale
    embedder.permits.release(1000)
    eventually(lambda: memory.status().statistics.vectors == 12)
    eventually(lambda: memory.status().upkeep.fresh)  # type: ignore[union-attr]
    assert not memory.search("number7").partial
    assert len(embedder.documents) == 12


def test_a_changed_note_is_searchable_while_vectors_are_filled(write: Write, host) -> None:
    for number in range(40):
        write(f"memory/{number}.md", f"green tea number{number}\n")
    embedder = Held()
    memory = host(embedder)
    memory.search("tea")
    embedder.permits.release(2)
    eventually(lambda: memory.status().statistics.vectors >= 8)
    write("memory/new.md", "the lighthouse\n")
    embedder.permits.release(2)
    eventually(lambda: embedder.permits.release() or paths(memory, "lighthouse") == ["memory/new.md"])
    embedder.permits.release(1000)
    eventually(lambda: memory.status().statistics.vectors == 41)
    assert len(embedder.documents) == 41


def test_what_was_just_remembered_is_found(write: Write, host) -> None:
    write("memory/a.md", "green tea\n")
    memory = host()
    memory.search("tea")
    eventually(lambda: memory.status().upkeep.passes >= 1)  # type: ignore[union-attr]
    written = memory.remember("the lighthouse keeper called")
    assert paths(memory, "lighthouse") == [written.path]


def test_a_change_is_noticed_without_a_search(write: Write, host) -> None:
    write("memory/a.md", "green tea\n")
    memory = host()
    told: list[Pass] = []
    memory.start(told.append)
    eventually(lambda: memory.status().upkeep.watching == "events")  # type: ignore[union-attr]
    note = write("memory/sub/b.md", "the lighthouse\n")
    eventually(lambda: any(done.report and done.report.indexed and done.changed for done in told))
    assert paths(memory, "lighthouse") == ["memory/sub/b.md"]
    note.unlink()
    eventually(lambda: any(done.report and done.report.removed for done in told))


def test_an_extra_path_that_appears_is_picked_up(tmp_path: Path, write: Write, host) -> None:
    write("memory/a.md", "green tea\n")
    later = tmp_path / "team"
    memory = host(extraPaths=[str(later)])
    told: list[Pass] = []
    memory.start(told.append)
    eventually(lambda: memory.status().upkeep.watching == "events")  # type: ignore[union-attr]
    later.mkdir()
    (later / "b.md").write_text("the lighthouse\n")
    eventually(lambda: sum(done.report.indexed for done in told if done.report) == 2)


def test_without_watching_a_search_notices(write: Write, host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.05)
    write("memory/a.md", "green tea\n")
    memory = host(sync={"watch": False})
    memory.search("tea")
    write("memory/b.md", "the lighthouse\n")
    eventually(lambda: paths(memory, "lighthouse") == ["memory/b.md"])
    upkeep = memory.status().upkeep
    assert upkeep is not None
    assert upkeep.watching == "off"


def test_an_interval_notices_without_a_search(write: Write, host, monkeypatch: pytest.MonkeyPatch) -> None:
    write("memory/a.md", "green tea\n")
    memory = host(sync={"watch": False, "intervalMinutes": 1})
    assert memory._freshness._behind is not None
    monkeypatch.setattr(memory._freshness._behind._agenda, "_interval", 0.02)
    told: list[Pass] = []
    memory.start(told.append)
    eventually(lambda: any(done.reasons == ("interval",) for done in told))


def test_the_debounce_is_as_configured(host) -> None:
    memory = host(sync={"watchDebounceMs": 4321})
    assert memory._freshness._behind is not None
    assert memory._freshness._behind._agenda._debounce == 4.321


def test_a_session_that_starts_asks_for_a_pass(write: Write, host) -> None:
    write("memory/a.md", "green tea\n")
    memory = host()
    memory.context()
    eventually(lambda: memory.status().upkeep.passes >= 1)  # type: ignore[union-attr]
    assert memory.search("tea", sync=False).hits


def test_an_explicit_sync_is_done_on_return(write: Write, host) -> None:
    embedder = HashEmbedder()
    memory = host(embedder)
    for number in range(30):
        write(f"memory/{number}.md", f"note number{number}\n")
    memory.start()
    assert memory.sync().complete
    statistics = memory.status().statistics
    assert (statistics.files, statistics.vectors) == (30, 30)
    eventually(lambda: memory.status().upkeep.fresh)  # type: ignore[union-attr]
    assert len(embedder.documents) == 30
    write("memory/x.md", "the lighthouse\n")
    assert [hit.path for hit in memory.search("lighthouse", sync=True)] == ["memory/x.md"]


def test_nothing_is_left_after_closing(write: Write, host) -> None:
    threads, open_files = threading.active_count(), descriptors()
    write("memory/a.md", "green tea\n")
    for _ in range(3):
        memory = host()
        memory.search("tea")
        eventually(lambda one=memory: one.status().upkeep.watching == "events")
        memory.close()
        assert threading.active_count() == threads
    eventually(lambda: descriptors() <= open_files)


def test_closing_keeps_what_is_done_and_the_next_process_goes_on(write: Write, host) -> None:
    for number in range(40):
        write(f"memory/{number}.md", f"green tea number{number}\n")
    embedder = Held()
    memory = host(embedder, cache={"enabled": False})
    memory.search("tea")
    embedder.permits.release(3)
    eventually(lambda: memory.status().statistics.vectors == 12)
    threading.Timer(0.1, embedder.permits.release).start()
    memory.close()
    done = len(embedder.documents)
    assert done < 40
    embedder.permits.release(1000)
    again = host(embedder, cache={"enabled": False})
    assert again.sync().complete
    assert len(embedder.documents) == 40
    assert again.status().statistics.vectors == 40


class Ending(RecordingObserver):
    """An observer that ends the work at a step."""

    at: tuple[Stage, int] | None = None

    def progress(self, stage: Stage, done: int, total: int) -> None:
        super().progress(stage, done, total)
        if self.at and stage == self.at[0] and done >= self.at[1]:
            raise Interrupted("that will do")


@pytest.mark.parametrize("at", [("index", 1), ("index", 40), ("index", 90), ("embed", 4), ("embed", 50)])
def test_an_observer_can_end_the_work_at_any_step(write: Write, host, at: tuple[Stage, int]) -> None:
    for number in range(90):
        write(f"memory/{number}.md", f"green tea number{number}\n")
    observer, embedder = Ending(), HashEmbedder()
    embedder.max_batch_items = 4
    memory = host(embedder, observer, cache={"enabled": False})
    observer.at = at
    with pytest.raises(Interrupted):
        memory.sync()
    assert memory.search("tea", sync=False).hits
    observer.at = None
    assert memory.sync().complete
    statistics = memory.status().statistics
    assert (statistics.files, statistics.chunks, statistics.vectors) == (90, 90, 90)
    assert len(embedder.documents) == 90


def test_a_workspace_that_vanishes_and_returns(notes: Path, write: Write, host, monkeypatch) -> None:
    from memlane import agenda

    monkeypatch.setattr(agenda, "_LAST_RETRY", 0.05)
    write("memory/a.md", "green tea\n")
    embedder = HashEmbedder()
    memory = host(embedder)
    told: list[Pass] = []
    memory.start(told.append)
    eventually(lambda: memory.status().statistics.vectors == 1)
    notes.rename(notes.with_name("away"))
    memory._freshness._behind.ask("test")  # type: ignore[union-attr]
    eventually(lambda: any("no workspace folder" in done.failure for done in told))
    notes.with_name("away").rename(notes)
    eventually(lambda: told[-1].report is not None and told[-1].report.complete)
    assert paths(memory, "tea") == ["memory/a.md"]
    assert len(embedder.documents) == 1


def test_progress_tells_how_long_it_may_take() -> None:
    times = iter([0.0, 1.0, 2.0, 10.0, 11.0])
    relay = ProgressRelay(RecordingObserver(), clock=lambda: next(times))
    left = []
    for step in ((10, 100), (20, 100), (30, 100)):
        relay.progress("index", *step)
        left.append(relay.latest.seconds_left)  # type: ignore[union-attr]
    relay.progress("embed", 0, 50)
    assert left == [None, 8.0, 7.0]
    assert relay.latest is not None
    assert relay.latest.seconds_left is None
    relay.finish()
    assert relay.latest is None


def test_a_memory_for_one_call_starts_no_thread(write: Write, open_memory: Callable[..., Memory]) -> None:
    before = threading.active_count()
    write("memory/a.md", "green tea\n")
    memory = open_memory()
    memory.search("tea")
    memory.context()
    memory.sync()
    assert threading.active_count() == before
    assert memory.status().upkeep is None


def test_a_host_with_an_event_loop_lives_on(tmp_path: Path, notes: Path, write: Write) -> None:
    write("memory/a.md", "green tea\n")
    before = threading.active_count()

    async def run() -> list[str]:
        async with AsyncMemory.open(workspace=notes, state_dir=tmp_path / "state", environ={}) as memory:
            found = [hit.path for hit in await memory.search("tea")]
            assert (await memory.status()).upkeep is not None
        return found

    assert asyncio.run(run()) == ["memory/a.md"]
    eventually(lambda: threading.active_count() == before)


def test_a_switched_off_memory_has_no_life_of_its_own(host) -> None:
    memory = host(enabled=False)
    before = threading.active_count()
    memory.start()
    memory.context()
    assert memory.search("tea").why.code == "disabled"  # type: ignore[union-attr]
    assert threading.active_count() == before


def test_opening_by_many_threads_chooses_one_provider(write: Write, host) -> None:
    write("memory/a.md", "green tea\n")
    memory = host()
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(bool(memory.search("tea").hits))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8
