from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.loopback.passing import Time
from tests.loopback.sites import KINDS

from memlane.embed.base import NoVector
from memlane.embed.remote.limiter import Cut, Limiter, TooLong


class Service:
    """Takes so many items within any sixty seconds."""

    def __init__(self, time: Time, limit: int) -> None:
        self.time = time
        self.limit = limit
        self.taken: list[tuple[float, int]] = []
        self.refused = 0

    def takes(self, items: int) -> bool:
        now = self.time.passed
        if sum(n for at, n in self.taken if at + 60 > now) + items > self.limit:
            self.refused += 1
            return False
        self.taken.append((now, items))
        return True


def drive(limiter: Limiter, service: Service, time: Time, total: int, pause: float) -> None:
    while total:
        items = min(total, limiter.largest or total)
        turn = limiter.take(items, time)
        if service.takes(items):
            limiter.done(turn)
            total -= items
        else:
            limiter.refused(turn, pause)


@pytest.mark.parametrize("pause", [0.5, 5.0, 60.0])
def test_a_pace_is_found_that_a_service_without_words_takes(pause):
    time = Time()
    limiter, service = Limiter(time.monotonic), Service(time, 10)
    drive(limiter, service, time, 50, pause)
    drive(limiter, service, time, 200, pause)
    assert sum(n for _, n in service.taken) == 250
    late = [n for at, n in service.taken if at > time.passed - 300]
    assert sum(late) >= 40  # of the 50 that five minutes allow
    before = service.refused
    drive(limiter, service, time, 50, pause)
    assert service.refused - before <= 2


def test_a_refusal_pauses_everybody_once():
    time = Time()
    limiter = Limiter(time.monotonic)
    first, second = limiter.take(4, time), limiter.take(4, time)
    limiter.refused(first, 9)
    limiter.refused(second, 9)
    assert limiter.largest is None  # two requests of one moment are one refusal
    limiter.take(4, time)
    assert time.pauses == [9.0]


def test_twice_refused_without_anything_taken_halves_the_request():
    time = Time()
    limiter = Limiter(time.monotonic)
    for size in (None, 32, 16):
        limiter.refused(limiter.take(64 if size is None else size * 2, time), 1)
        assert limiter.largest == size


def test_a_service_that_was_only_busy_is_not_held_to_a_pace():
    time = Time()
    limiter = Limiter(time.monotonic)
    for _ in range(3):
        limiter.refused(limiter.take(min(8, limiter.largest or 8), time), 1)
    assert limiter.largest == 2
    while (items := limiter.largest) < 8:
        limiter.done(limiter.take(items, time))
    assert time.passed == 3  # the pauses it asked for, and no other


def test_what_is_under_way_counts_for_the_pace():
    time = Time()
    limiter = Limiter(time.monotonic)
    first, second, third = (limiter.take(256, time) for _ in range(3))
    limiter.done(first)
    limiter.refused(second, 1)
    assert limiter.largest == 512
    limiter.done(third)
    assert limiter.largest > 512  # all of it was taken: there may be room for more


def test_a_ceiling_that_is_disproved_is_forgotten():
    time = Time()
    limiter = Limiter(time.monotonic)
    limiter.done(limiter.take(8, time))
    limiter.refused(limiter.take(8, time), 1)
    assert limiter.largest == 8
    for _ in range(8):
        limiter.done(limiter.take(limiter.largest, time))
    assert limiter.largest == 15  # 16 were refused lately
    time.passed += 700
    for _ in range(3):
        limiter.done(limiter.take(limiter.largest, time))
    assert limiter.largest > 16


def test_a_pause_that_is_too_long_is_not_begun():
    time = Time()
    limiter = Limiter(time.monotonic)
    limiter.refused(limiter.take(1, time), 20)
    with pytest.raises(TooLong) as caught:
        limiter.take(1, time, within=8)
    assert caught.value.seconds == 20
    assert time.pauses == []


def test_a_wait_can_be_cut_short():
    time = Time()
    time.over = True
    limiter = Limiter(time.monotonic)
    limiter.refused(limiter.take(1, time), 20)
    with pytest.raises(Cut):
        limiter.take(1, time)


def test_a_clock_that_stands_still_does_not_wait_for_ever():
    time = Time()
    limiter = Limiter(lambda: 0.0)
    limiter.refused(limiter.take(1, time), 20)
    limiter.take(1, time)
    assert time.pauses == [20]


@pytest.mark.parametrize("name", [name for name in KINDS if name != "ollama-old"])
@pytest.mark.parametrize("workers", [1, 4])
def test_ten_items_a_minute(site, name, workers):
    """50 texts against a service that takes 10 a minute: all done, never more, nothing paid twice."""
    at = site(name)
    at.service.items_per_minute = 10
    at.service.monotonic = at.time.monotonic
    texts = [f"text {n}" for n in range(50)]
    if workers == 1:
        vectors = at.embedder.embed_documents(texts)
    else:
        parts = [texts[start::workers] for start in range(workers)]
        with ThreadPoolExecutor(workers) as pool:
            vectors = [each for part in pool.map(at.embedder.embed_documents, parts) for each in part]
    assert len(vectors) == 50
    assert not any(isinstance(vector, NoVector) for vector in vectors)
    assert sum(at.service.embedded.values()) == 50
    assert set(at.service.embedded.values()) == {1}
    assert at.embedder.max_batch_items <= 12  # a little more than is known to fit is tried now and then


def test_a_long_pause_is_told(site, caplog):
    at = site("openai")
    at.service.faults.extend(at.service.rate_limited(**{"retry-after": wait}) for wait in ("2", "30"))
    with caplog.at_level("INFO", "memlane"):
        at.embedder.embed_documents(["a"])
    (told,) = (record.getMessage() for record in caplog.records if record.name == "memlane")
    assert told.endswith("the next request is sent in 30 s")


def test_a_query_is_not_held_up_by_the_pause_of_indexing(site):
    at = site("openai")
    at.service.faults.append(at.service.rate_limited(**{"retry-after": "60"}))
    paused, go_on = threading.Event(), threading.Event()

    def wait(seconds: float) -> bool:
        paused.set()
        return not go_on.wait(30)

    at.time.wait = wait
    with ThreadPoolExecutor(1) as pool:
        indexing = pool.submit(at.embedder.embed_documents, ["a"])
        assert paused.wait(30)
        assert len(at.embedder.embed_query("x")) == 4 * at.service.dimensions
        at.time.passed += 60
        go_on.set()
        assert len(indexing.result(30)) == 1
