"""What models want before a text, as the cards of the models say it."""

from __future__ import annotations

import pytest

from memlane.embed.prompts import Prompts, prompts_for


@pytest.mark.parametrize(
    ("names", "query", "document"),
    [
        (("embeddinggemma-300m-qat-Q8_0.gguf",), "task: search result | query: ", "title: none | text: "),
        (("Embeddinggemma 300M", "gemma-embedding"), "task: search result | query: ", "title: none | text: "),
        (("nomic-embed-text-v1.5", "nomic-bert"), "search_query: ", "search_document: "),
        (("unnamed", "nomic-bert-moe"), "search_query: ", "search_document: "),
        (("multilingual_e5_small_q4_0.gguf", "bert"), "query: ", "passage: "),
        (("snowflake-arctic-embed-l-v2.0",), "query: ", ""),
    ],
)
def test_known_models_get_their_words(names: tuple[str, ...], query: str, document: str) -> None:
    assert prompts_for(*names) == Prompts(query, document)


@pytest.mark.parametrize("name", ["Qwen3-Embedding-0.6B", "multilingual-e5-large-instruct"])
def test_models_that_follow_instructions_get_one_for_queries_alone(name: str) -> None:
    prompts = prompts_for(name)
    assert prompts.query.startswith("Instruct: ")
    assert prompts.query.rstrip().endswith("\nQuery:")
    assert prompts.document == ""


@pytest.mark.parametrize(
    "name", ["snowflake-arctic-embed-m-long", "mxbai-embed-large-v1", "bge-small-en-v1.5"]
)
def test_models_that_represent_sentences(name: str) -> None:
    prompts = prompts_for(name, "nomic-bert" if "long" in name else "bert")
    assert prompts == Prompts("Represent this sentence for searching relevant passages: ")


@pytest.mark.parametrize("name", ["bge-m3", "all-MiniLM-L6-v2", "jina-embeddings-v2", "core5", ""])
def test_other_models_get_texts_as_they_are(name: str) -> None:
    assert prompts_for(name, "bert") == Prompts()
