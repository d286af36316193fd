"""What each provider is asked, field by field, as its documents have it (read on 2026-12-01)."""

from __future__ import annotations

from base64 import b64encode

import pytest
from tests.loopback.embeddings_api import KEY, LlamaCppService

from memlane.config.kinds import Secret
from memlane.embed.base import Media, NoVector, pack, texts_of
from memlane.embed.remote.limits import limits_of
from memlane.embed.remote.wire import Malformed, in_order

PICTURE = Media("Image file: cat.png", "image/png", b"\x89PNG")


def asked(at) -> list[dict]:
    at.embedder.embed_query("q")
    at.embedder.embed_documents(["d", "e"])
    return [call.body for call in at.service.calls]


def test_openai(site):
    at = site("openai", dimensions=256)
    model = "text-embedding-3-small"
    assert asked(at) == [
        {"model": model, "input": ["q"], "dimensions": 256},
        {"model": model, "input": ["d", "e"], "dimensions": 256},
    ]
    assert at.service.calls[0].path == "/v1/embeddings"
    assert at.service.calls[0].headers["authorization"] == f"Bearer {KEY}"


def test_openai_compatible_keeps_its_query_and_sends_its_input_types(site):
    at = site("openai-compatible", query_input_type="search_query", document_input_type="passage")
    assert [each["input_type"] for each in asked(at)] == ["search_query", "passage"]
    assert at.service.calls[0].path == "/openai/embeddings?api-version=2026-01"
    assert "input_type" not in asked(site("openai-compatible"))[0]


def test_a_configured_header_takes_the_place_of_the_key(site):
    at = site("openai", key=None, headers={"Authorization": Secret(f"Bearer {KEY}"), "X-Team": "a"})
    at.embedder.embed_query("q")
    assert at.service.calls[0].headers["x-team"] == "a"
    assert at.service.calls[0].headers["authorization"] == f"Bearer {KEY}"


def test_voyage_is_told_what_a_text_is(site):
    assert [each["input_type"] for each in asked(site("voyage"))] == ["query", "document"]


def test_mistral_and_voyage_have_their_own_word_for_dimensions(site):
    assert asked(site("mistral", dimensions=256))[0]["output_dimension"] == 256
    assert asked(site("voyage", dimensions=256))[0]["output_dimension"] == 256


def test_the_first_gemini_gets_task_types(site):
    at = site("gemini", dimensions=768)
    query, documents = asked(at)
    assert query == {
        "content": {"parts": [{"text": "q"}]},
        "taskType": "RETRIEVAL_QUERY",
        "outputDimensionality": 768,
    }
    assert documents["requests"][1] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "e"}]},
        "taskType": "RETRIEVAL_DOCUMENT",
        "outputDimensionality": 768,
    }
    assert at.service.calls[0].headers["x-goog-api-key"] == KEY
    assert "authorization" not in at.service.calls[0].headers
    assert KEY not in at.service.calls[0].path


def test_the_second_gemini_gets_words_before_texts(site):
    query, documents = asked(site("gemini-2"))
    assert query == {"content": {"parts": [{"text": "task: search result | query: q"}]}}
    assert documents["requests"][0]["content"] == {"parts": [{"text": "title: none | text: d"}]}


@pytest.mark.parametrize("model", ["gemini-embedding-2", "gemini-embedding-2-preview"])
def test_the_second_gemini_takes_pictures_beside_texts(site, model):
    from tests.loopback.gemini_api import Gemini2Service

    service = Gemini2Service()
    service.model = model
    at = site("gemini-2", service)
    assert at.embedder.takes_media
    vectors = at.embedder.embed_documents(["a", PICTURE])
    assert not any(isinstance(vector, NoVector) for vector in vectors)
    assert at.service.calls[0].body["requests"][1]["content"]["parts"] == [
        {"text": "Image file: cat.png"},
        {"inlineData": {"mimeType": "image/png", "data": b64encode(b"\x89PNG").decode()}},
    ]


def test_a_picture_that_is_refused_spoils_itself_alone(site):
    at = site("gemini-2")
    at.service.refuses_media = True
    vectors = at.embedder.embed_documents(["a", PICTURE, "b", "c"])
    assert [isinstance(vector, NoVector) for vector in vectors] == [False, True, False, False]
    assert "Unable to process input image" in vectors[1].reason
    assert set(at.service.embedded.values()) == {1}


@pytest.mark.parametrize("name", ["openai", "gemini", "ollama"])
def test_others_take_no_media(site, name):
    assert not site(name).embedder.takes_media
    with pytest.raises(ValueError, match="pictures and sounds"):
        texts_of([PICTURE])


def test_ollama_of_today_and_of_before(site):
    today, before = site("ollama"), site("ollama-old")
    assert asked(today)[1]["input"] == ["search_document: d", "search_document: e"]
    assert asked(before)[-1] == {"model": "nomic-embed-text", "prompt": "search_document: e"}
    paths = [call.path for call in before.service.calls]
    assert paths == ["/api/embed", *["/api/embeddings"] * 3]  # asked once which interface it has
    assert before.embedder.max_batch_items == 1


def test_ollama_first_asked_for_many_texts_by_the_old_interface(site):
    at = site("ollama-old")
    vectors = at.embedder.embed_documents([f"text {n}" for n in range(5)])
    assert len(vectors) == 5
    assert sum(at.service.embedded.values()) == 5


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: q", "search_document: d"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: q", "d"),
        ("bge-m3", "q", "d"),
    ],
)
def test_ollama_models_get_the_words_that_they_want(site, model, query, document):
    from tests.loopback.ollama_api import OllamaService

    service = OllamaService()
    service.model = model
    bodies = asked(site("ollama", service))
    assert bodies[0]["input"] == [query]
    assert bodies[1]["input"][0] == document


def test_ollama_behind_a_key(site):
    at = site("ollama")
    at.service.wants_key = True
    at.embedder.verify()
    keyless = site("ollama", at.service, key=None)
    with pytest.raises(Exception, match="refuses the key"):
        keyless.embedder.verify()


def test_llama_cpp_says_too_long_with_a_500(site):
    service = LlamaCppService()
    at = site("openai", service)
    good, cut = at.embedder.embed_documents(["oak", "x" * 3000])
    assert not isinstance(good, NoVector)
    assert not isinstance(cut, NoVector)
    assert at.time.pauses == []


@pytest.mark.parametrize(
    ("kind", "model", "expected"),
    [
        ("openai", "text-embedding-3-large", (8192, 256, 300_000)),
        ("mistral", "mistral-embed", (8192, 256, 16_000)),
        ("voyage", "voyage-4-large", (32_000, 256, 120_000)),
        ("voyage", "voyage-4", (32_000, 256, 320_000)),
        ("voyage", "voyage-4-lite", (32_000, 256, 1_000_000)),
        ("gemini", "gemini-embedding-001", (2048, 100, 100_000)),
        ("gemini", "gemini-embedding-2-preview", (8192, 100, 100_000)),
        ("ollama", "all-minilm", (512, 128, 16_000)),
    ],
)
def test_limits_of_models(kind, model, expected):
    assert tuple(limits_of(kind, model)) == expected


def test_rows_without_numbers_are_taken_in_their_order():
    assert in_order([(None, [1.0]), (None, [2.0])], 2) == [pack([1.0]), pack([2.0])]


@pytest.mark.parametrize("numbers", [[0, 0], [1, 2], [0, None]])
def test_rows_with_doubtful_numbers_are_not_guessed_at(numbers):
    with pytest.raises(Malformed, match="do not fit the texts"):
        in_order([(index, [1.0]) for index in numbers], 2)
