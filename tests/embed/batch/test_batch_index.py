"""Batch jobs of an index: passes, status, and what people see of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.loopback.batch_api import KEY, OpenAiApi, served
from tests.loopback.batch_worker import backend

from memlane import AsyncMemory, Memory
from memlane.backends.builtin import BuiltinBackend
from memlane.config.schema import Batch
from memlane.disk import writer_lock
from memlane.embed.batch.settings import BatchSettings
from memlane.embed.endpoint import Endpoint
from memlane.search.settings import SearchRequest
from memlane.surfaces.batch_text import batches_text, job_text
from memlane.surfaces.render import report_text, status_text
from memlane.testing import RecordingObserver
from memlane.tools import value_json
from memlane.values import BatchReport, Filters

LATER = BatchSettings(enabled=True, wait=False, worth_a_job=5)
Open = Callable[..., BuiltinBackend]


@pytest.fixture
def api() -> OpenAiApi:
    return OpenAiApi()


@pytest.fixture
def opened(tmp_path: Path, api: OpenAiApi) -> Iterator[Open]:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    for number in range(20):
        (notes / f"memory/{number}.md").write_text(f"# Note {number}\n\nabout topic{number}\n", "utf-8")
    backends = []
    with served(api) as base:

        def opening(batch: BatchSettings = LATER, kind: str = "openai") -> BuiltinBackend:
            endpoint = Endpoint(kind, kind, base, "small", key=KEY)
            made = backend(notes, tmp_path / "main.sqlite", endpoint, batch, RecordingObserver())
            backends.append(made)
            return made

        yield opening
        for made in backends:
            made.close()


def test_without_waiting_a_later_pass_takes_over(opened: Open, api: OpenAiApi) -> None:
    first = opened()
    report = first.sync("command")
    assert not report.complete
    assert report.warning is not None
    assert report.warning.startswith("20 texts are left to batch jobs that go on (batch_1: ")
    found = first.search(SearchRequest("topic7", 3, 0.0), Filters())
    assert found.hits[0].path == "memory/7.md"
    (job,) = first.status().batches
    assert (job.remote_id, job.texts, job.in_use) == ("batch_1", 20, True)
    assert first.batches().jobs[0].state == "in_progress"
    report = opened().sync("command")
    assert (report.complete, report.from_batches, report.embedded) == (True, 20, 0)
    assert "20 by batch jobs" in report_text("main", report, verbose=False)
    status = opened().status()
    assert (status.batches, status.statistics.vectors, status.complete) == ((), 20, True)
    assert not api.direct


def test_a_look_collects_what_is_finished(opened: Open, api: OpenAiApi) -> None:
    api.refuses = lambda number, text: number == 0
    opened().sync("command")
    api.looks_needed = 0
    report = opened().batches()
    assert report == BatchReport((), 19, 1, ())
    assert batches_text("main", report) == (
        "main: no batch jobs, 19 vectors taken over, 1 texts to be sent directly"
        " (memlane index puts them in place)"
    )
    assert opened().sync("command").complete
    assert sum(api.direct.values()) == 1


def test_a_pass_that_somebody_waits_for_does_not_wait_for_jobs(opened: Open, api: OpenAiApi) -> None:
    waiting = BatchSettings(enabled=True, worth_a_job=5)
    api.hold.clear()
    report = opened(waiting).sync("search", brief=True)
    assert not report.complete
    assert api.log == ["upload", "create"]
    opened(waiting).sync("search", brief=True)
    assert api.log == ["upload", "create"]  # looked at less than half a minute ago


def test_jobs_that_go_on_are_taken_over_when_none_are_wanted_any_more(opened: Open, api: OpenAiApi) -> None:
    opened().sync("command")
    api.looks_needed = 0
    report = opened(BatchSettings(enabled=False)).sync("command")
    assert (report.complete, report.from_batches) == (True, 20)
    assert not api.direct


def test_of_texts_that_were_forgotten_meanwhile_nothing_is_taken_over(
    opened: Open, api: OpenAiApi, tmp_path: Path
) -> None:
    opened().sync("command")
    for number in range(3):
        (tmp_path / f"notes/memory/{number}.md").unlink()
    opened().forget()
    (known,) = (tmp_path / "main.batches").glob("*.digests")
    assert known.stat().st_size == 17 * 16
    api.looks_needed = 0
    report = opened().sync("command")
    assert (report.complete, report.from_batches) == (True, 17)
    assert not api.direct


def test_a_look_does_not_disturb_a_pass(opened: Open, api: OpenAiApi, tmp_path: Path) -> None:
    opened().sync("command")
    asked = len(api.log)
    with writer_lock(tmp_path / "main.sqlite", timeout=1.0):
        report = opened().batches()
    assert report.warnings[0].startswith("the jobs are not looked at: ")
    assert len(report.jobs) == 1
    assert len(api.log) == asked


def test_what_keeps_jobs_from_being_used_is_said(opened: Open, api: OpenAiApi) -> None:
    other = opened(kind="mistral")
    assert other.sync("command").complete
    assert (
        "remote.batch.enabled: hash has no batch jobs; texts are embedded directly" in other.status().warnings
    )
    assert api.log.count("upload") == 0


def test_a_job_in_a_line(opened: Open) -> None:
    one = opened()
    one.sync("command")
    (job,) = one.batches().jobs
    assert job_text(job) == (
        f"batch_1 at hash (small): in_progress, 20 texts, 0 seconds old, looked at {job.looked}"
    )
    assert f"Batch job     {job_text(job)}" in status_text(one.status())
    document = value_json(one.status())["batches"][0]
    assert (document["remoteId"], document["texts"], document["inUse"]) == ("batch_1", 20, True)


def test_the_settings_are_the_configured_ones() -> None:
    configured = Batch(enabled=True, wait=False, concurrency=5, poll_interval_ms=250, timeout_minutes=3)
    assert BatchSettings.of(configured) == BatchSettings(True, False, 5, 0.25, 180.0)
    assert BatchSettings.of(Batch()) == BatchSettings()


async def told(memory: AsyncMemory) -> BatchReport:
    async with memory:
        return await memory.batches()


def test_from_python(tmp_path: Path) -> None:
    import asyncio

    (tmp_path / "notes").mkdir()
    options = {"workspace": tmp_path / "notes", "state_dir": tmp_path / "state", "environ": {}}
    with Memory.open(**options) as memory:
        assert memory.batches() == BatchReport()
    assert asyncio.run(told(AsyncMemory.open(**options))) == BatchReport()
