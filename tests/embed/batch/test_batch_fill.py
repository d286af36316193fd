"""The life of jobs at each of the three interfaces, without sockets; every pass is a process of its own."""

from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path

import pytest
from tests.loopback.batch_api import CUT, LOST, GeminiApi
from tests.loopback.in_process import KINDS, Killed, Site

from memlane.embed.batch.settings import BatchSettings
from memlane.errors import Interrupted

TEN = [f"text {number}" for number in range(10)]


def nothing_twice(site: Site) -> bool:
    return max(site.api.paid.values()) == 1


def test_ten_rows_two_errors_shuffled_restarted_while_it_runs(site: Site) -> None:
    site.api.refuses = lambda number, text: number in {3, 7}
    site.settings = BatchSettings(enabled=True, poll_seconds=1, timeout_seconds=60, worth_a_job=5)
    site.api.hold.clear()
    outcome = site.run(TEN, brief=True)
    assert len(outcome.left) == 10
    assert not site.api.direct
    (job,) = site.ledger.jobs()
    assert (job.stage, job.texts, site.known(TEN)) == ("created", 10, 0)
    site.api.hold.set()
    outcome = site.run(TEN, direct=False)
    assert (outcome.taken, outcome.resent, outcome.left) == (8, 2, frozenset())
    assert site.known(TEN) == 8
    site.run(TEN)
    assert site.api.direct == {"text 3": 1, "text 7": 1}
    assert len(site.api.jobs) == 1
    assert nothing_twice(site)
    assert site.known(TEN) == 10
    assert site.ledger.jobs() == []
    assert not site.ledger.folder.exists()


def test_each_vector_goes_to_its_own_text(site: Site) -> None:
    texts = [f"word{number} word{number + 1}" for number in range(200)]
    site.run(texts)
    cache = site.cache()
    for text in texts:
        (expected,) = site.embedder.embed_documents([text])
        from memlane.index.identity import text_digest

        assert cache.get(site.embedder.identity, [text_digest(text)]) == {text_digest(text): expected}
    cache.close()
    assert not site.api.direct


def test_few_texts_are_no_job(tmp_path: Path) -> None:
    site = Site(tmp_path, "openai", worth=11)
    outcome = site.run(TEN)
    assert (outcome.left, site.api.jobs, sum(site.api.direct.values())) == (frozenset(), {}, 10)
    assert not site.ledger.folder.exists()


@pytest.mark.parametrize("ends_as", ["expired", "cancelled"])
def test_of_a_job_that_did_not_get_through_the_good_rows_are_kept(site: Site, ends_as: str) -> None:
    site.api.ends_as, site.api.answers = ends_as, 0.6
    outcome = site.run(TEN)
    assert (outcome.taken, outcome.resent, sum(site.api.direct.values())) == (6, 4, 4)
    assert nothing_twice(site)
    assert site.known(TEN) == 10


def test_after_two_failed_jobs_the_rest_is_sent_directly_and_said(site: Site) -> None:
    site.api.ends_as = "failed"
    site.protocol.max_requests = 2
    site.settings = BatchSettings(
        enabled=True, poll_seconds=1, timeout_seconds=60, worth_a_job=1, concurrency=1
    )
    outcome = site.run(TEN)
    assert len(site.api.jobs) == 2
    assert sum(site.api.direct.values()) == 10
    assert "the file is no good; its texts are sent directly" in outcome.warnings[0]
    assert outcome.warnings[-1] == "two batch jobs have failed in a row: for now, all texts are sent directly"
    site.api.ends_as = "completed"
    site.run([f"later {number}" for number in range(4)])
    assert len(site.api.jobs) == 4  # the next pass tries again


def test_a_success_between_failures_counts(site: Site) -> None:
    site.protocol.max_requests = 2
    site.settings = BatchSettings(
        enabled=True, poll_seconds=1, timeout_seconds=60, worth_a_job=1, concurrency=1
    )
    site.api.faults["upload"].extend([400])
    outcome = site.run(TEN)
    assert len(site.api.jobs) == 4
    assert len(outcome.warnings) == 1
    assert site.known(TEN) == 10
    assert nothing_twice(site)


def test_as_many_jobs_at_a_time_as_configured(site: Site) -> None:
    site.protocol.max_requests = 2
    most = []
    site.api.on_step = lambda step: most.append(len(site.ledger.jobs()))
    site.run(TEN)
    assert len(site.api.jobs) == 5
    assert max(most) == 2
    assert nothing_twice(site)


def test_a_job_holds_no_more_than_its_provider_takes(site: Site) -> None:
    site.protocol.max_bytes = 3 * len(site.protocol.line("0" * 32, TEN[0]))
    site.run(TEN)
    assert [len(job.requests) for job in site.api.jobs.values()] == [3, 3, 3, 1]


def test_without_waiting_the_rest_is_left_for_later_too(site: Site) -> None:
    site.protocol.max_requests = 2
    site.settings = BatchSettings(enabled=True, wait=False, worth_a_job=1)
    outcome = site.run(TEN)
    assert (len(site.api.jobs), len(outcome.left), site.time.pauses) == (2, 10, [])
    passes = 1
    while site.known(TEN) < 10:
        site.time.passed += 60
        site.run(TEN)
        passes += 1
        assert passes < 20
    assert not site.api.direct
    assert nothing_twice(site)


@pytest.mark.parametrize("state", ["in_progress", "a_new_word"])
def test_waiting_ends_at_the_deadline_and_nothing_is_sent_twice(site: Site, state: str) -> None:
    site.api.ends_as = state
    outcome = site.run(TEN)
    assert 60 <= site.time.passed < 63
    assert len(outcome.left) == 10
    assert not site.api.paid
    assert outcome.outlook.startswith("10 texts are left to batch jobs that go on (")
    site.time.passed += timedelta(hours=50).total_seconds()
    outcome = site.run(TEN)
    assert outcome.left == frozenset()
    assert "after its time" in outcome.warnings[0]
    assert sum(site.api.direct.values()) == 10
    assert site.ledger.jobs() == []


def test_a_job_that_its_provider_does_not_know_is_given_up(site: Site) -> None:
    site.run(TEN, brief=True)
    site.api.jobs.clear()
    site.time.passed += 60
    outcome = site.run(TEN)
    assert "is not known there; its texts are sent directly" in outcome.warnings[0]
    assert sum(site.api.direct.values()) == 10


@pytest.mark.parametrize("step", ["upload", "create", "look", "download"])
@pytest.mark.parametrize("fault", [500, LOST, 429])
def test_a_single_fault_costs_nothing_twice(site: Site, step: str, fault) -> None:
    site.api.faults[step].append(fault)
    for _ in range(3):
        site.run(TEN)
        site.time.passed += 60
    assert site.known(TEN) == 10
    assert nothing_twice(site)
    assert len(site.api.jobs) <= 1
    assert site.ledger.jobs() == []


def test_a_download_that_is_cut_is_asked_for_again(site: Site) -> None:
    site.api.faults["download"].extend([CUT, CUT])
    outcome = site.run(TEN)
    assert (outcome.taken, sum(site.api.direct.values())) == (10, 0)


def test_results_that_cannot_be_had_now_are_left_for_later(site: Site) -> None:
    site.api.faults["download"].extend([CUT] * 300)
    outcome = site.run(TEN)
    assert (len(outcome.left), sum(site.api.direct.values())) == (10, 0)
    site.api.faults.clear()
    site.run(TEN)
    assert site.known(TEN) == 10
    assert nothing_twice(site)


def test_results_that_are_gone_are_paid_again_and_said(site: Site) -> None:
    site.run(TEN, brief=True)
    site.api.faults["download"].append(404)
    site.time.passed += 60
    outcome = site.run(TEN)
    assert "could not be taken over" in outcome.warnings[0]
    assert sum(site.api.direct.values()) == 10


def test_who_may_not_list_jobs_waits_rather_than_paying_twice(site: Site) -> None:
    site.api.faults["create"].append(LOST)
    site.api.lists = False
    outcome = site.run(TEN)
    assert len(outcome.left) == 10
    assert len(site.api.jobs) == 1
    assert [job.stage for job in site.ledger.jobs()] == ["uploaded"]
    site.api.lists = True
    site.run(TEN)
    assert (site.known(TEN), len(site.api.jobs)) == (10, 1)
    assert nothing_twice(site)


def test_a_refusal_after_an_unclear_creation_counts_as_a_failed_job(site: Site) -> None:
    site.api.faults["create"].append(LOST)
    site.api.lists = False
    site.run(TEN)
    site.api.jobs.clear()  # the first call never came in
    site.api.lists = True
    site.api.faults["create"].append(403)
    site.settings = BatchSettings(enabled=True, poll_seconds=1, timeout_seconds=60, worth_a_job=100)
    outcome = site.run(TEN)
    (warning,) = outcome.warnings
    assert warning.startswith(f"{site.embedder.id} took no batch job: ")
    assert warning.endswith("; its texts are sent directly")
    assert (outcome.left, site.ledger.jobs()) == (frozenset(), [])
    assert sum(site.api.direct.values()) == 10


@pytest.mark.parametrize("step", ["look", "download"])
def test_a_job_that_cannot_be_asked_keeps_its_texts_as_long_as_it_may_have_results(
    site: Site, step: str
) -> None:
    site.run(TEN, brief=True)
    site.api.looks_needed = 0
    site.api.faults[step].extend([403] * 300)
    site.time.passed += timedelta(days=10).total_seconds()
    outcome = site.run(TEN, brief=True)
    assert (len(outcome.left), len(site.ledger.jobs())) == (10, 1)
    assert "403" in outcome.warnings[0]
    site.time.passed += timedelta(days=25).total_seconds()
    outcome = site.run(TEN, brief=True)
    assert (outcome.left, site.ledger.jobs()) == (frozenset(), [])
    assert sum(site.api.direct.values()) == 10


def test_an_interrupted_wait_leaves_the_job_running(site: Site) -> None:
    def end(stage, done, total):
        raise Interrupted("enough")

    progress = site.observer.progress
    site.observer.progress = end  # type: ignore[method-assign]
    with pytest.raises(Interrupted):
        site.run(TEN)
    assert [job.stage for job in site.ledger.jobs()] == ["created"]
    site.observer.progress = progress  # type: ignore[method-assign]
    site.run(TEN)
    assert (site.known(TEN), len(site.api.jobs)) == (10, 1)


STEPS = ["upload", "create", "look", "list", "download"]


@pytest.mark.parametrize("moment", range(8))
@pytest.mark.parametrize("lost", [False, True])
def test_a_kill_at_any_call_costs_nothing_twice(site: Site, moment: int, lost: bool) -> None:
    """`lost`: the call is done by the server, and the process dies before it hears of it."""
    site.protocol.max_requests = 5
    site.api.refuses = lambda number, text: text == "text 4"
    killed = kill_at(site, moment, lost)
    for _ in range(4):
        try:
            site.run(TEN)
        except Killed:
            continue
    assert site.known(TEN) == 10
    assert nothing_twice(site)
    assert len(site.api.jobs) == 2
    assert sum(site.api.direct.values()) == 1
    assert site.ledger.jobs() == []
    assert not site.ledger.folder.exists()
    assert killed


def kill_at(site: Site, moment: int, lost: bool) -> list[str]:
    calls: list[str] = []
    killed: list[str] = []
    handle = site.api.handle

    def deadly(*call):
        now = len(calls) == moment
        calls.append(call[1])
        if now:
            killed.append(call[1])
            if lost:
                handle(*call)
            raise Killed
        return handle(*call)

    site.api.handle = deadly  # type: ignore[method-assign]
    return killed


@pytest.mark.parametrize("write", range(14))
def test_a_kill_at_any_write_of_the_ledger_costs_nothing_twice(
    site: Site, write: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memlane.embed.batch import ledger

    count = 0
    real = ledger.write_private

    def deadly(path: Path, data: bytes) -> None:
        nonlocal count
        count += 1
        if count == write + 1:
            raise Killed
        real(path, data)

    monkeypatch.setattr(ledger, "write_private", deadly)
    site.protocol.max_requests = 5
    for _ in range(4):
        try:
            site.run(TEN)
        except Killed:
            continue
    assert site.known(TEN) == 10
    assert nothing_twice(site)
    assert not site.api.direct
    assert site.ledger.jobs() == []


def test_a_kill_between_storing_and_forgetting(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from memlane.embed.batch.ledger import Ledger

    real = Ledger.remove

    def deadly(self, job) -> None:
        monkeypatch.setattr(Ledger, "remove", real)
        raise Killed

    monkeypatch.setattr(Ledger, "remove", deadly)
    with pytest.raises(Killed):
        site.run(TEN)
    assert site.known(TEN) == 10
    site.run(TEN)
    assert nothing_twice(site)
    assert site.ledger.jobs() == []


def test_the_record_is_private_and_holds_no_key_and_no_text(site: Site) -> None:
    site.run(TEN, brief=True)
    files = list(site.ledger.folder.iterdir())
    assert {file.suffix for file in files} == {".json", ".digests"}
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert b"sk-" not in file.read_bytes()
        assert b"text 1" not in file.read_bytes()
    assert stat.S_IMODE(site.ledger.folder.stat().st_mode) == 0o700


def test_a_record_that_cannot_be_read_is_set_aside_and_said(site: Site) -> None:
    site.run(TEN, brief=True)
    (record,) = site.ledger.folder.glob("*.json")
    record.write_bytes(b'{"id": ')
    outcome = site.run(TEN)
    assert outcome.warnings[0].endswith("of a batch job cannot be read; its texts are sent directly")
    assert record.with_name(f"{record.name}.damaged").exists()


def test_a_job_of_another_model_is_left_alone(site: Site) -> None:
    site.run(TEN, brief=True)
    (job,) = site.ledger.jobs()
    site.ledger.put(
        job.__class__(**{**{name: getattr(job, name) for name in job.__struct_fields__}, "space": "x"})
    )
    outcome = site.run(TEN)
    assert outcome.left == frozenset()
    assert len(site.ledger.jobs()) == 1
    site.time.passed += timedelta(days=33).total_seconds()
    site.run(TEN)
    assert site.ledger.jobs() == []


def test_odd_texts_reach_the_provider_as_they_are(site: Site) -> None:
    texts = [
        "한국어 메모",
        "第二条\u2028line",
        "a\x85b",
        "🦊" * 50,
        '"quoted" \\ back',
        "tab\tand\nline\r\nends",
    ]
    site.run(texts)
    assert set(site.api.paid) == set(texts)
    assert not site.api.direct


def test_rows_that_are_no_vectors_are_sent_directly(site: Site) -> None:
    vectors = iter([[float("nan")] * 8, [0.0] * 8, [1.0] * 3, ["x"] * 8, []])
    real = site.api.vector
    site.api.vector = lambda text: next(vectors, real(text))  # type: ignore[method-assign]
    (first, *_) = site.embedder.embed_documents(["a first one says how long they are"])
    assert first
    outcome = site.run(TEN)
    assert (outcome.taken, outcome.resent) == (5, 5)
    assert site.known(TEN) == 10


@pytest.mark.parametrize("place", ["response", "metadata"])
def test_gemini_names_the_result_file_in_either_place(tmp_path: Path, place: str) -> None:
    site = Site(tmp_path, "gemini")
    assert isinstance(site.api, GeminiApi)
    site.api.file_in = place
    assert site.run(TEN).taken == 10


@pytest.mark.parametrize("prefix", ["BATCH_STATE_", "JOB_STATE_"])
def test_gemini_has_two_prefixes_for_states(tmp_path: Path, prefix: str) -> None:
    site = Site(tmp_path, "gemini")
    assert isinstance(site.api, GeminiApi)
    site.api.file_in = "metadata"
    site.api.states = {"completed": f"{prefix}SUCCEEDED", "in_progress": f"{prefix}RUNNING"}
    assert site.run(TEN).taken == 10


def test_a_job_among_many_is_found(site: Site) -> None:
    for number in range(250):
        site.api.begin(f"somebody-{number}", [("00", "x")])
    site.api.faults["create"].append(LOST)
    site.run(TEN)
    assert site.known(TEN) == 10
    assert len(site.api.jobs) == 251


def test_kinds_are_those_with_batch_jobs() -> None:
    assert set(KINDS) == {"openai", "voyage", "gemini"}
