"""Calls over real sockets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.loopback.batch_api import CUT, KEY, LOST, OpenAiApi, served
from tests.loopback.in_process import Site
from tests.loopback.passing import Time

from memlane.embed.batch.base import Call, JobRefused, Unclear
from memlane.embed.batch.connect import batch_service, has_batches
from memlane.embed.batch.wire import HttpWire, upload_address
from memlane.embed.endpoint import Endpoint
from memlane.embed.remote.client import Answer
from memlane.errors import Interrupted

TEXTS = [f"text {number} 한국어" for number in range(40)]


@pytest.fixture
def api() -> OpenAiApi:
    return OpenAiApi()


def at(base: str, kind: str = "openai", **more) -> Endpoint:
    return Endpoint(kind, kind, base, "small", **{"key": KEY, **more})


def wire_to(endpoint: Endpoint, time: Time | None = None) -> HttpWire:
    time = time or Time()
    return HttpWire(endpoint, clock=time, pause=time.pause)


def over_sockets(site: Site, base: str) -> None:
    site.protocol, site.connect = batch_service(at(base, site.kind), clock=site.time)


def test_a_job_goes_all_the_way(site: Site) -> None:
    site.api.refuses = lambda number, text: number == 5
    with served(site.api) as base:
        over_sockets(site, base)
        outcome = site.run(TEXTS)
    assert (outcome.taken, outcome.resent, outcome.warnings) == (39, 1, ())
    assert set(site.api.paid) == set(TEXTS)
    assert max(site.api.paid.values()) == 1
    assert site.known(TEXTS) == 40


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        *(("upload", fault) for fault in (429, LOST)),
        *(("create", fault) for fault in (500, CUT, LOST)),
        ("look", 503),
        *(("download", fault) for fault in (429, CUT)),
    ],
)
def test_what_passes_is_tried_again_and_nothing_is_paid_twice(site: Site, step: str, fault) -> None:
    with served(site.api) as base:
        over_sockets(site, base)
        site.api.faults[step].append(fault)
        outcome = site.run(TEXTS)
    assert (outcome.taken, site.known(TEXTS), outcome.warnings) == (40, 40, ())
    assert len(site.api.jobs) == 1
    assert not site.api.direct


def test_a_provider_that_goes_on_failing_is_asked_five_times(api: OpenAiApi) -> None:
    time = Time()
    with served(api) as base:
        api.faults["list"].extend([503] * 9)
        wire = wire_to(at(base), time)
        with pytest.raises(Unclear, match="openai answered 503: fault 503"):
            wire.answer(Call("GET", "/batches"))
        wire.close()
    assert (time.pauses, api.log) == ([1.0, 2.0, 4.0, 8.0], ["list"] * 5)


def test_a_pause_between_attempts_can_be_cut_short(site: Site) -> None:
    def end(*_: object) -> None:
        raise Interrupted("enough")

    site.observer.progress = end  # type: ignore[method-assign]
    with served(site.api) as base:
        over_sockets(site, base)
        site.api.faults["upload"].append(503)
        with pytest.raises(Interrupted):
            site.run(TEXTS)
    assert site.api.log == ["upload"]


@pytest.mark.parametrize(
    ("headers", "message", "passing", "pause"),
    [
        ({"retry-after": "Tue, 01 Dec 2026 12:00:30 GMT"}, "slow down", True, 30.0),
        ({"retry-after-ms": "250"}, "slow down", True, 0.25),
        ({}, "insufficient_quota", False, None),
    ],
)
def test_a_refusal_is_read_as_every_other_one(headers, message, passing, pause) -> None:
    said = json.dumps({"error": {"message": message}}).encode()
    with pytest.raises(JobRefused) as caught:
        wire_to(at("http://127.0.0.1:9/v1"))._check(Answer(429, headers, said))
    assert (caught.value.passing, caught.value.pause) == (passing, pause)


def test_what_may_cost_is_sent_once(api: OpenAiApi) -> None:
    with served(api) as base:
        api.faults["create"].extend([500, 500])
        wire = wire_to(at(base))
        with pytest.raises(Unclear):
            wire.answer(Call("POST", "/batches", body=b"{}", content_type="application/json"), once=True)
        wire.close()
    assert api.log == ["create"]


def test_a_wrong_key_is_refused_at_once_and_never_shown(api: OpenAiApi) -> None:
    api.check_key = lambda headers: (_ for _ in ()).throw(refusal(headers))  # type: ignore[method-assign]

    def refusal(headers):
        from tests.loopback.batch_api import Refusal

        return Refusal(401, f"wrong key {headers['authorization']}")

    with served(api) as base:
        wire = wire_to(at(base, key="sk-TEST-secret"))
        with pytest.raises(JobRefused) as refused:
            wire.answer(Call("GET", "/batches"))
        wire.close()
    assert refused.value.status == 401
    assert "sk-TEST" not in str(refused.value)
    assert str(refused.value) == "openai answered 401: wrong key Bearer •••"
    assert api.log == ["list"]


def test_headers_of_the_endpoint_go_along_and_win(api: OpenAiApi) -> None:
    with served(api) as base:
        wire = wire_to(at(base, key="other", headers={"Authorization": f"Bearer {KEY}"}))
        assert b'"has_more": false' in wire.answer(Call("GET", "/batches", {"limit": "1"}))
        wire.close()


def test_nobody_there_is_said_without_the_query(api: OpenAiApi) -> None:
    wire = wire_to(at("http://127.0.0.1:9/v1?api-key=sk-TEST-query"))
    with pytest.raises(Unclear) as unclear:
        wire.answer(Call("GET", "/batches"))
    wire.close()
    assert "sk-TEST" not in str(unclear.value)
    assert str(unclear.value).startswith("openai: 127.0.0.1:9 cannot be reached: ")


def test_a_download_that_has_moved_is_followed_without_the_key(api: OpenAiApi) -> None:
    seen: list[dict[str, str]] = []

    class Elsewhere(OpenAiApi):
        def handle(self, method, target, headers, body):
            seen.append({name.lower(): value for name, value in headers.items()})
            return 200, b"moved here"

    class Moving(OpenAiApi):
        to = ""

        def handle(self, method, target, headers, body):
            return 307, self.to.encode()

    moving = Moving()
    with served(Elsewhere()) as there, served(moving) as base:
        moving.to = f"{there}/file"
        wire = wire_to(at(base, headers={"x-secret": "s"}))
        assert b"".join(wire.parts(Call("GET", "/files/x/content"))) == b"moved here"
        wire.close()
    assert "authorization" not in seen[0]
    assert "x-secret" not in seen[0]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("https://h/v1beta", "https://h/upload/v1beta/files"),
        ("https://h/p/v1beta", "https://h/p/upload/v1beta/files"),
        ("https://h/v1beta/?key=k", "https://h/upload/v1beta/files?key=k"),
    ],
)
def test_where_a_file_is_handed_in(base: str, expected: str) -> None:
    assert upload_address(base, "/files") == expected


def test_who_has_batch_jobs(tmp_path: Path) -> None:
    kinds = ("openai", "voyage", "gemini", "mistral", "ollama", "openai-compatible")
    assert [kind for kind in kinds if has_batches(at("http://h", kind))] == ["openai", "voyage", "gemini"]
    assert not has_batches(None)


def test_half_a_key_is_not_shown_either() -> None:
    key = "sk-" + "K" * 40
    wire = wire_to(at("http://127.0.0.1:9/v1", key=key))
    said = json.dumps({"error": {"message": "x" * 380 + f" {key}"}}).encode()
    with pytest.raises(JobRefused) as caught:
        wire._check(Answer(401, {}, said))
    assert "KKKK" not in str(caught.value)
