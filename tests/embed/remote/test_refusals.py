"""Refusals as the services word them, each read for what it means."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loopback.embeddings_api import LlamaCppService, MistralService, OpenAiService, Reply, VoyageService
from tests.loopback.gemini_api import GeminiService
from tests.loopback.ollama_api import OllamaService

from memlane.embed.remote.client import Answer
from memlane.embed.remote.refusals import read_refusal

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
SERVICES = (OpenAiService, MistralService, VoyageService, GeminiService, OllamaService)


def kind_of(reply: Reply) -> str:
    return read_refusal(Answer(reply.status, reply.headers, reply.body), NOW).kind


def said(status: int, message: str) -> str:
    return kind_of(Reply(status, json.dumps({"error": {"message": message}}).encode()))


@pytest.mark.parametrize("cls", SERVICES)
def test_every_service_is_understood(cls):
    service = cls()
    assert kind_of(service.wrong_key("x")) == "key"
    assert kind_of(service.wrong_model("x")) == "model"
    assert kind_of(service.too_long(9999)) == "input_length"
    assert kind_of(service.rate_limited()) == "rate"
    assert kind_of(service.error(500, "internal")) == "server"
    if cls is not OllamaService:  # it has no such limits
        assert kind_of(service.too_many_items(9999)) == "item_count"
        assert kind_of(service.too_many_tokens(9_999_999)) == "request_size"


@pytest.mark.parametrize("cls", [OpenAiService, VoyageService, GeminiService])
def test_a_quota_is_not_a_rate(cls):
    assert kind_of(cls().quota_used_up()) == "quota"


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "batch size is invalid, it should not be larger than 10.: input.contents", "item_count"),
        (413, "Payload Too Large", "request_size"),
        (400, "This model does not support specifying dimensions.", "dimensions"),
        (400, "User location is not supported for the API use.", "other"),
        (400, "the stars are not right", "other"),
        (
            422,
            "Input validation error: `inputs` must have less than 512 tokens. max 512 tokens",
            "input_length",
        ),
        (403, "Your project does not have access to model", "key"),
        (404, "Not Found", "address"),
        (405, "Method Not Allowed", "other"),
        (301, "", "other"),
        (529, "overloaded", "server"),
    ],
)
def test_others(status, message, kind):
    assert said(status, message) == kind


def test_llama_cpp():
    assert kind_of(LlamaCppService().too_long(992)) == "input_length"


@pytest.mark.parametrize(
    ("service", "limit"), [(OpenAiService(), 2048), (VoyageService(), 1000), (GeminiService(), 100)]
)
def test_the_limit_of_items_is_read(service, limit):
    reply = service.too_many_items(5000)
    assert read_refusal(Answer(reply.status, {}, reply.body), NOW).limit == limit


@pytest.mark.parametrize(
    ("headers", "body", "pause"),
    [
        ({"retry-after": "12"}, b"", 12.0),
        ({"retry-after": "1.5"}, b"", 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, b"", 0.25),
        ({"retry-after": "Tue, 01 Dec 2026 12:00:30 GMT"}, b"", 30.0),
        ({"retry-after": "Tue, 01 Dec 2026 11:00:00 GMT"}, b"", 0.0),
        ({"retry-after": "soon"}, b"", None),
        ({"retry-after": "-5"}, b"", None),
        ({"retry-after": "nan"}, b"", None),
        ({}, b'{"error": {"message": "Please try again in 1.2s."}}', 1.2),
        ({}, b'{"error": {"message": "Please try again in 20ms."}}', 0.02),
        ({}, GeminiService().rate_limited(**{"retry-after": "47.4"}).body, 47.4),
        ({}, b"", None),
    ],
)
def test_pauses(headers, body, pause):
    assert read_refusal(Answer(429, headers, body), NOW).pause == pause


PAGE = b"""<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title><style>p { color: red }</style></head>
<body><!-- <p>no</p> --><h1>502&nbsp;Bad Gateway</h1><script>if (1 < 2) go()</script><p>nginx</body></html>"""


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (PAGE, "a web page: 502 Bad Gateway 502 Bad Gateway nginx"),
        (b"<html><script>" + b"x" * 100_000, "a web page:"),
        (b"upstream < 3 servers", "upstream < 3 servers"),
    ],
)
def test_of_a_web_page_its_words_are_told(body, detail):
    assert read_refusal(Answer(502, {}, body), NOW).detail == detail


NAMES = ["error", "message", "detail", "details", "code", "type", "violations", "@type"]
LEAVES = st.none() | st.integers() | st.floats() | st.text(max_size=9)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), LEAVES | st.lists(LEAVES, max_size=2), max_size=3)
DOCUMENTS = OBJECTS | st.dictionaries(st.sampled_from(NAMES), OBJECTS | st.lists(OBJECTS, max_size=2))


@settings(max_examples=50)
@given(st.integers(300, 599), st.binary(max_size=60) | DOCUMENTS.map(lambda each: json.dumps(each).encode()))
def test_any_body_is_read(status, body):
    refusal = read_refusal(Answer(status, {"retry-after": "1"}, body), NOW)
    assert refusal.status == status
    assert "\n" not in refusal.detail
