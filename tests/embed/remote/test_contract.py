"""One suite over all remote providers, against loopback servers that are as strict as the real ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.embed.embedder_contract import check_contract
from tests.loopback.embeddings_api import KEY, Reply
from tests.loopback.sites import KINDS

from memlane.config.kinds import Secret
from memlane.embed.base import CheckedEmbedder, NoVector, dimensions_of
from memlane.embed.remote.client import CallFailed
from memlane.errors import EmbeddingError, QuotaExhausted

ALL = pytest.mark.parametrize("name", KINDS)
KEYED = pytest.mark.parametrize("name", [name for name in KINDS if not name.startswith("ollama")])
BATCHING = pytest.mark.parametrize("name", [name for name in KINDS if name != "ollama-old"])


@ALL
def test_every_provider_keeps_the_contract(site, name):
    check_contract(site(name).embedder)


@BATCHING
def test_a_batch_is_one_request(site, name):
    at = site(name)
    at.embedder.embed_documents([f"text {n}" for n in range(50)])
    assert len(at.service.calls) == 1
    assert set(at.service.embedded.values()) == {1}


@BATCHING
def test_more_items_than_documented_are_sent_in_pieces(site, name):
    at = site(name)
    vectors = at.embedder.embed_documents([f"text {n}" for n in range(600)])
    assert not any(isinstance(vector, NoVector) for vector in vectors)
    assert set(at.service.embedded.values()) == {1}
    assert sum(at.service.embedded.values()) == 600


@KEYED
def test_a_wrong_key_is_named_and_never_shown(site, name):
    at = site(name, key=Secret("sk-wrong-9876543210"))
    with pytest.raises(EmbeddingError, match=r"refuses the key \(status 40[01]\)") as caught:
        at.embedder.verify()
    assert "check the key" in caught.value.hint
    assert len(at.service.calls) == 1  # a wrong key must start neither halving nor retries
    with pytest.raises(EmbeddingError, match="refuses the key"):
        at.embedder.embed_documents(["a", "b"])
    assert "sk-wrong" not in repr(caught.value) + str(caught.value) + str(caught.value.__context__)


@ALL
def test_a_wrong_model_is_named(site, name):
    at = site(name, model="gemini-embedding-2-wrong" if name == "gemini-2" else "no-such-model")
    with pytest.raises(EmbeddingError, match=r"\(.*\) at 127.0.0.1:\d+ does not have this model") as caught:
        at.embedder.verify()
    assert caught.value.hint == "check memorySearch.model"
    assert len(at.service.calls) == (2 if name == "ollama-old" else 1)


@pytest.mark.parametrize("name", [name for name in KINDS if not name.startswith(("ollama", "gemini"))])
def test_a_wrong_address_is_named(site, name):
    at = site(name)
    wrong = site(name, at.service, base_url=f"{at.service.url}/nowhere")
    with pytest.raises(EmbeddingError, match="has no embeddings at this address") as caught:
        wrong.embedder.verify()
    assert "baseUrl" in caught.value.hint


@ALL
def test_a_host_that_does_not_answer_is_named(site, name):
    at = site(name, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(CallFailed, match=r"127.0.0.1:9 cannot be reached: .*refused"):
        at.embedder.verify()
    assert len(at.time.pauses) == 2  # a query is tried three times


@pytest.mark.parametrize("name", ["openai", "gemini", "gemini-2", "mistral", "voyage", "ollama"])
def test_dimensions_are_asked_for_and_checked(site, name):
    at = site(name, dimensions=128)
    at.embedder.verify()
    assert dimensions_of(at.embedder.embed_query("x")) == 128
    at.service.dimensions_for = lambda body: 64
    embed = at.embedder
    for ask in (embed.verify, lambda: embed.embed_query("x"), lambda: embed.embed_documents(["x", "y"])):
        with pytest.raises(EmbeddingError, match="gives vectors of 64 dimensions, not the 128"):
            ask()


@ALL
@pytest.mark.parametrize("pause", [None, "7", "date"])
def test_a_refusal_for_now_is_waited_for(site, name, pause):
    at = site(name)
    if pause == "date" and name.startswith("gemini"):
        pause = "7"  # it says so in the body, in seconds
    said = {None: None, "7": "7", "date": "Tue, 01 Dec 2026 12:00:07 GMT"}[pause]
    at.service.faults.append(at.service.rate_limited(**({"retry-after": said} if said else {})))
    assert len(at.embedder.embed_documents(["a"])) == 1
    assert at.time.pauses == [7.0 if pause else 1.0]
    assert at.service.embedded == {at.service.texts_of(c.path, c.body)[0]: 1 for c in at.service.calls[-1:]}


@ALL
@pytest.mark.parametrize("fault", [Reply(500, b"oops"), Reply(503, b"{}"), "lost", "truncated"])
def test_what_passes_is_tried_again(site, name, fault):
    at = site(name)
    at.embedder.embed_query("find out which interface it has")
    at.service.faults.extend([fault, fault])
    assert len(at.embedder.embed_documents(["a"])) == 1
    assert at.time.pauses == [1.0, 2.0]


@ALL
def test_a_server_that_keeps_failing_is_given_up(site, name):
    at = site(name)
    at.service.faults.extend([Reply(500, b'{"error": "out of memory"}')] * 20)
    with pytest.raises(EmbeddingError, match=r"failed \(status 500\): out of memory"):
        at.embedder.embed_documents(["a"])
    assert at.time.pauses == [1.0, 2.0, 4.0, 8.0, 16.0]


@pytest.mark.parametrize("name", ["openai", "openai-compatible", "voyage", "gemini", "gemini-2"])
def test_a_used_up_quota_stops_the_work(site, name):
    at = site(name)
    at.service.faults.append(at.service.quota_used_up())
    with pytest.raises(QuotaExhausted) as caught:
        at.embedder.embed_documents(["a"])
    assert at.time.pauses == []
    midnight = datetime(2026, 12, 2, 8, tzinfo=UTC)  # the end of the day where Gemini counts it
    assert caught.value.retry_at == (midnight if name.startswith("gemini") else None)


@ALL
def test_a_long_pause_stops_the_work_and_says_until_when(site, name):
    at = site(name)
    at.service.faults.append(at.service.rate_limited(**{"retry-after": "3600"}))
    with pytest.raises(QuotaExhausted, match="until 2026-12-01 13:00") as caught:
        at.embedder.embed_documents(["a"])
    assert caught.value.retry_at == at.time.now() + timedelta(hours=1)


@ALL
@pytest.mark.parametrize("fault", ["nan", "null", "zero"])
def test_a_bad_vector_spoils_itself_alone(site, name, fault):
    at = site(name)
    embedder = CheckedEmbedder(at.embedder)
    embedder.embed_documents(["first"])
    at.service.faults.append(fault)
    bad, good = embedder.embed_documents(["a", "b"])
    assert isinstance(bad, NoVector)
    assert not isinstance(good, NoVector)


@BATCHING
def test_a_short_vector_spoils_itself_alone(site, name):
    at = site(name)
    embedder = CheckedEmbedder(at.embedder)
    embedder.embed_documents(["first"])
    at.service.faults.append("short")
    bad, good = embedder.embed_documents(["a", "b"])
    assert isinstance(bad, NoVector)
    assert not isinstance(good, NoVector)


@BATCHING
@pytest.mark.parametrize("fault", ["missing", "extra"])
def test_a_wrong_count_fails_the_batch(site, name, fault):
    at = site(name)
    at.service.faults.append(fault)
    given = 1 if fault == "missing" else 3
    with pytest.raises(EmbeddingError, match=f"answered {given} vectors for 2 texts"):
        at.embedder.embed_documents(["a", "b"])


@ALL
@pytest.mark.parametrize(
    "body", [b"<html>not today</html>", b'{"data": 1}', b"[1", b"\xff\xfe", b"", b"[" * 9999]
)
def test_a_good_status_with_a_bad_body_fails_the_batch(site, name, body):
    at = site(name)
    at.service.faults.append(Reply(200, body))
    with pytest.raises(EmbeddingError, match="answered something that is not its documented form"):
        at.embedder.embed_documents(["a"])
    assert at.time.pauses == []


@pytest.mark.parametrize("name", ["openai", "openai-compatible", "mistral", "voyage"])
def test_rows_are_joined_by_their_index(site, name):
    at = site(name)
    texts = ["oak", "ash", "elm", "yew"]
    expected = at.embedder.embed_documents(texts)
    at.service.faults.append("shuffled")
    assert at.embedder.embed_documents(texts) == expected


@BATCHING
def test_one_text_that_is_too_long_is_cut_and_the_others_are_not_touched(site, name):
    at = site(name)
    long = "x" * (at.service.max_input_tokens * 4 + 400)
    vectors = at.embedder.embed_documents(["a", "b", long, "c"])
    assert not any(isinstance(vector, NoVector) for vector in vectors)
    assert vectors[0] == at.embedder.embed_documents(["a"])[0]
    assert len(at.service.calls) < 10


@ALL
def test_a_text_that_stays_too_long_goes_without_a_vector(site, name):
    at = site(name)
    at.service.max_input_tokens = 8
    good, bad = at.embedder.embed_documents(["oak", "ash " * 500])
    assert not isinstance(good, NoVector)
    assert isinstance(bad, NoVector)
    assert "finds the text too long" in bad.reason


@BATCHING
def test_a_lower_limit_of_items_is_learned(site, name):
    at = site(name)
    at.service.max_items = 16
    if name.startswith("ollama"):
        at.service.too_many_items = lambda count: at.service.error(400, "batch size is too large: 16 at most")
    at.embedder.embed_documents([f"text {n}" for n in range(100)])
    assert at.embedder.max_batch_items <= 16
    assert sum(at.service.embedded.values()) == 100
    calls = len(at.service.calls)
    at.embedder.embed_documents([f"more {n}" for n in range(32)])
    sizes = [len(at.service.texts_of(call.path, call.body)) for call in at.service.calls[calls:]]
    assert max(sizes) <= 16  # not tried again


@pytest.mark.parametrize("name", ["openai", "openai-compatible", "mistral", "voyage", "gemini", "gemini-2"])
def test_a_lower_limit_of_tokens_is_learned(site, name):
    at = site(name)
    before = at.embedder.max_batch_tokens
    at.service.max_request_tokens = 500
    at.embedder.embed_documents(["x" * 400] * 20)
    assert sum(at.service.embedded.values()) == 20
    assert at.embedder.max_batch_tokens < before


@ALL
def test_an_unknown_refusal_starts_nothing(site, name):
    at = site(name)
    at.embedder.embed_query("find out which interface it has")
    calls = len(at.service.calls)
    at.service.faults.append(at.service.error(400, "the stars are not right"))
    with pytest.raises(EmbeddingError, match=r"refused the request \(status 400\): the stars are not right"):
        at.embedder.embed_documents([f"text {n}" for n in range(64)])
    assert len(at.service.calls) == calls + 1


@BATCHING
def test_what_was_made_before_a_failure_is_handed_over(site, name):
    at = site(name)
    at.service.max_items = 2
    at.embedder._items = 2
    at.service.faults.extend(["", "", at.service.error(400, "the stars are not right")])
    with pytest.raises(EmbeddingError) as caught:
        at.embedder.embed_documents(["a", "b", "c", "d", "e", "f"])
    assert sorted(caught.value.made) == [0, 1, 2, 3]


@ALL
def test_a_redirection_is_not_followed_with_the_key(site, name):
    at, other = site(name), site(name)
    at.service.faults.append(Reply(307, b"", {"location": f"{other.service.url}/v1/embeddings"}))
    with pytest.raises(EmbeddingError, match="status 307"):
        at.embedder.embed_query("x")
    assert other.service.calls == []


@ALL
def test_a_query_does_not_wait_longer_than_its_time(site, name):
    at = site(name)
    at.service.faults.extend([at.service.rate_limited(**{"retry-after": "30"})] * 2)
    with pytest.raises(EmbeddingError, match="wants a pause of 30 s"):
        at.embedder.embed_query("x")
    assert at.time.passed == 0


@ALL
def test_the_identity_stays_when_the_key_changes(site, name):
    at = site(name)
    mine, other = at.endpoint, at.service
    again = site(name, other, key=Secret("sk-another"), base_url=mine.base_url).embedder.identity
    assert again == at.embedder.identity
    assert KEY not in repr(again)
    elsewhere = site(name, other, base_url="http://127.0.0.1:9/v1").embedder.identity
    sized = site(name, other, base_url=mine.base_url, dimensions=512).embedder.identity
    assert len({repr(each) for each in (again, elsewhere, sized)}) == 3
