from __future__ import annotations

import logging
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.loopback.embeddings_api import Call, OpenAiService, Reply, Service, served

from memlane.embed.remote.client import CallFailed, Client

SECRET = "s3cret-key-42"


class Echo(Service):
    """Answers what it got, after the faults."""

    def _reply(self, path, headers, raw, fault):
        self.calls.append(Call(path, headers, raw))
        return (fault, "") if isinstance(fault, Reply) else (Reply(200, raw), fault)


@pytest.fixture
def echo():
    service = Echo()
    with served(service):
        yield service


@pytest.fixture
def client(echo):
    client = Client(f"{echo.url}/v1/?api-key={SECRET}", headers={"x-key": SECRET}, secrets=(SECRET,))
    yield client
    client.close()


@pytest.mark.parametrize("name", ["x team", "x-größe", "", "x:"])
def test_a_header_that_cannot_be_sent_is_named(echo, name):
    bad = Client(echo.url, headers={"x-good": "a b", name: "v"})
    with pytest.raises(CallFailed, match=f"headers cannot hold: '{name}'$"):
        bad.request("POST", "x")
    bad.close()


@pytest.mark.parametrize("value", ["ü", "한국어", "a\nb", " a", "a\x00"])
def test_the_header_whose_content_cannot_be_sent_is_named(echo, value):
    bad = Client(echo.url, headers={"x-good": "a b", "x-team": value})
    with pytest.raises(CallFailed, match=r"headers cannot hold: 'x-team'$"):
        bad.request("POST", "x")
    bad.close()


def test_addresses_are_joined_and_the_query_is_kept(client, echo):
    client.request("POST", "files", query={"a": "b c"}, content=b"x")
    assert echo.calls[0].path == f"/v1/files?api-key={SECRET}&a=b+c"
    client.request("POST", f"{echo.url}/upload/v1/files?alt=media", query={"a": "b"}, content=b"x")
    assert echo.calls[1].path == "/upload/v1/files?alt=media&a=b"
    with pytest.raises(ValueError, match=r"https://example.org/x is not an address of 127.0.0.1") as caught:
        client.request("GET", "https://example.org/x")
    assert SECRET not in str(caught.value)


def test_connections_are_used_again(echo, monkeypatch):
    accepted = []
    original = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda *a, **k: accepted.append(1) or original(*a, **k))
    client = Client(echo.url)
    for _ in range(5):
        assert client.request("POST", "x", content=b"hello").body == b"hello"
    client.close()
    assert len(accepted) == 1


def test_closing_ends_calls_that_are_under_way(echo):
    echo.faults.extend(["slow"] * 3)
    client = Client(echo.url)
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(client.request, "POST", "x", content=b"x") for _ in range(3)]
        while echo.most_in_flight < 3:
            threading.Event().wait(0.01)
        client.close()
        for call in calls:
            assert call.exception(10).trouble == "closed"
    assert not echo.release.is_set()  # nobody waited for the server
    with pytest.raises(CallFailed, match="was ended"):
        client.request("POST", "x")
    client.close()


def test_the_whole_time_is_limited(echo):
    echo.faults.append("slow")
    client = Client(echo.url)
    with pytest.raises(CallFailed, match=r"127.0.0.1:\d+ did not answer") as caught:
        client.request("POST", "x", content=b"x", total_seconds=0.05)
    assert caught.value.trouble == "timeout"
    assert caught.value.passing
    client.close()


def test_each_silence_is_limited(echo):
    echo.faults.append("slow")
    client = Client(echo.url)
    with pytest.raises(CallFailed, match="did not answer in time") as caught:
        client.request("POST", "x", content=b"x", read_seconds=0.05)
    assert caught.value.trouble == "timeout"
    client.close()


def test_an_answer_that_is_too_large_is_not_read_to_its_end(client):
    with pytest.raises(CallFailed, match="larger than 1,000 bytes") as caught:
        client.request("POST", "x", content=b"x" * 5000, max_bytes=1000)
    assert not caught.value.passing


def test_a_good_body_goes_to_the_sink_and_a_bad_one_does_not(client, echo):
    pieces: list[bytes] = []
    answer = client.request("POST", "x", content=b"y" * 200_000, sink=pieces.append)
    assert b"".join(pieces) == b"y" * 200_000
    assert answer.body == b""
    echo.faults.append(Reply(404, b"gone"))
    answer = client.request("POST", "x", content=b"z", sink=pieces.append)
    assert (answer.status, answer.body) == (404, b"gone")
    assert b"gone" not in pieces


@pytest.mark.parametrize("fault", ["lost", "truncated"])
def test_a_connection_that_breaks_is_told(client, echo, fault):
    echo.faults.append(fault)
    with pytest.raises(CallFailed, match=r"the connection to .* broke") as caught:
        client.request("POST", "x", content=b"hello")
    assert caught.value.trouble == "broken"
    assert client.request("POST", "x", content=b"hello").body == b"hello"


def test_no_key_in_errors_and_logs(client, echo, caplog):
    caplog.set_level(logging.DEBUG)
    client.request("POST", "x", content=b"x")
    echo.faults.append("lost")
    with pytest.raises(CallFailed) as caught:
        client.request("POST", "x", content=b"x")
    bad = Client(echo.url, headers={"authorization": f"Bearer {SECRET}\n{SECRET}é"}, secrets=(SECRET,))
    with pytest.raises(CallFailed, match=r"header or the key holds .* hold: 'authorization'$") as worse:
        bad.request("POST", "x")
    bad.close()
    assert caplog.records
    told = [record.getMessage() + repr(record.args) for record in caplog.records]
    told += [str(caught.value), repr(caught.value), str(worse.value), repr(worse.value.__context__)]
    assert not [text for text in told if SECRET in text]


@pytest.mark.parametrize(
    ("url", "secrets", "said"),
    [
        ("http://h/v1", (f"Bearer {SECRET}",), SECRET),
        (f"http://h/v1?api-key={SECRET}&api-version=2026-01-01", (), SECRET),
        ("http://h/v1?sig=a%2Fbcdefgh", (), "a/bcdefgh"),
        ("http://user:pass-word-1@h/v1", (), "pass-word-1"),
        ("http://h/v1", (), f"http://user:{SECRET}@h/"),
    ],
)
def test_what_a_server_repeats_is_hidden(url, secrets, said):
    client = Client(url, secrets=secrets)
    assert said not in client.hide(f"you sent {said}, Bearer, 2026-01-01")
    assert "Bearer, 2026-01-01" in client.hide(f"you sent {said}, Bearer, 2026-01-01")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9", r"127.0.0.1:9 cannot be reached: .*refused"),
        ("http://no-such-host.invalid", r"no-such-host.invalid cannot be reached"),
    ],
)
def test_a_server_that_is_not_there(url, message):
    client = Client(url)
    with pytest.raises(CallFailed, match=message) as caught:
        client.request("GET", "x")
    assert caught.value.trouble == "unreachable"
    client.close()


def test_a_server_without_tls_at_an_https_address():
    with served(OpenAiService()) as url:
        client = Client(url.replace("http:", "https:"))
        with pytest.raises(CallFailed, match="cannot be reached"):
            client.request("GET", "x")
        client.close()
