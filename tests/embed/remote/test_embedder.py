from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.loopback.embeddings_api import KEY, OpenAiService, Reply, served

from memlane.clock import SystemClock
from memlane.config.kinds import Secret
from memlane.embed.base import NoVector
from memlane.embed.endpoint import Endpoint
from memlane.embed.remote import remote_embedder
from memlane.errors import EmbeddingError


@pytest.fixture
def service():
    service = OpenAiService()
    with served(service):
        yield service


@pytest.fixture
def embedder(service):
    endpoint = Endpoint("openai", "openai", f"{service.url}/v1", service.model, key=Secret(KEY))
    embedder = remote_embedder(endpoint, clock=SystemClock())
    yield embedder
    embedder.close()


def until(condition) -> None:
    """Wait for what is about to happen in another thread."""
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


def test_closing_ends_a_call_and_a_pause(service, embedder):
    service.faults.extend(["slow", service.rate_limited(**{"retry-after": "200"})])
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(embedder.embed_documents, ["a"])
        until(lambda: service.most_in_flight == 1)
        second = pool.submit(embedder.embed_documents, ["b"])
        until(lambda: len(service.calls) == 1)
        embedder.close()
        for call in (first, second):
            assert isinstance(call.exception(20), EmbeddingError)
    with pytest.raises(EmbeddingError, match="was ended"):
        embedder.embed_query("x")


def test_several_threads_embed_at_a_time(service, embedder):
    with ThreadPoolExecutor(8) as pool:
        parts = [[f"text {n} of {part}" for n in range(40)] for part in range(16)]
        made = list(pool.map(embedder.embed_documents, parts))
    assert [len(vectors) for vectors in made] == [40] * 16
    assert set(service.embedded.values()) == {1}
    assert made[3][7] == embedder.embed_documents(["text 7 of 3"])[0]


def test_a_slow_query_is_given_up_and_the_next_one_is_answered(service):
    from msgspec.structs import replace

    from memlane.embed.remote.calls import QUERY
    from memlane.embed.remote.embedder import RemoteEmbedder

    endpoint = Endpoint("openai", "openai", f"{service.url}/v1", service.model, key=Secret(KEY))
    hasty = replace(QUERY, total_seconds=0.3)
    embedder = RemoteEmbedder(endpoint, clock=SystemClock(), query=hasty)
    service.faults.append("slow")
    with pytest.raises(EmbeddingError, match=r"did not answer within 0.3"):
        embedder.embed_query("x")
    service.release.set()
    assert not isinstance(embedder.embed_query("x"), NoVector)
    embedder.close()


def test_a_key_that_the_server_repeats_is_not_passed_on(service, embedder):
    service.faults.append(service.error(400, f"what is {KEY} to me? Authorization: Bearer {KEY}"))
    with pytest.raises(EmbeddingError, match="refused the request") as caught:
        embedder.embed_documents(["a"])
    assert KEY not in str(caught.value) + repr(caught.value) + caught.value.hint
    service.faults.append(Reply(500, KEY.encode()))
    service.faults.append(service.error(400, "no"))
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_query("a")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("text", ["\ud800", "\x00", "a" * 100_000, "한국어", "👩\u200d👩\u200d👧"])
def test_odd_texts(service, embedder, text):
    (vector,) = embedder.embed_documents([text])
    assert len(vector) == 4 * service.dimensions


def test_blank_texts_are_not_sent(service, embedder):
    blank, good, blank_too = embedder.embed_documents(["", "oak", " \n"])
    assert isinstance(blank, NoVector)
    assert isinstance(blank_too, NoVector)
    assert not isinstance(good, NoVector)
    assert embedder.embed_documents(["", ""]) == [blank, blank]
    assert isinstance(embedder.embed_query(" "), NoVector)
    assert service.embedded == {"oak": 1}


def test_making_one_loads_no_http_library():
    code = """
import sys
from memlane.clock import SystemClock
from memlane.embed.endpoint import Endpoint
from memlane.embed.remote import remote_embedder
endpoint = Endpoint("openai", "openai", "https://api.openai.com/v1", "m")
embedder = remote_embedder(endpoint, clock=SystemClock())
print(embedder.identity, embedder.max_batch_items)
embedder.close()
assert not {"httpx2", "httpcore2", "ssl", "numpy"} & set(sys.modules), sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_being_told_to_wait_does_not_count_as_a_failure(service, embedder):
    wait = service.rate_limited(**{"retry-after": "0"})
    service.faults.extend([wait, wait, Reply(500, b"{}")])
    assert not isinstance(embedder.embed_query("tea"), NoVector)
