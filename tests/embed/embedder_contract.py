"""What every provider of embeddings must do, whichever it is: run by the tests of each."""

from __future__ import annotations

import math

from memlane.embed.base import CheckedEmbedder, Embedder, NoVector, cosine, unpack

TEXTS = [
    "an oak in the garden",
    "오늘 끝말잇기 게임을 했다",
    "今天讨论了部署方案",
    "👩‍👩‍👧 family",
    'a\nb\tc "quoted" \\ \x7f',
]


def check_contract(embedder: Embedder) -> None:
    """All of it, for an embedder that works."""
    checked = CheckedEmbedder(embedder)
    vectors = checked.embed_documents(TEXTS)
    assert len(vectors) == len(TEXTS)
    for vector in vectors:
        assert not isinstance(vector, NoVector)
        assert math.isclose(math.hypot(*unpack(vector)), 1.0, abs_tol=1e-4)
    assert len({len(vector) for vector in vectors}) == 1
    assert len(set(vectors)) > 1
    for one, other in zip(checked.embed_documents(TEXTS[::-1]), vectors[::-1], strict=True):
        assert not isinstance(one, NoVector)
        assert not isinstance(other, NoVector)
        assert math.isclose(cosine(unpack(one), unpack(other)), 1.0, abs_tol=1e-4)  # to the last bits
    assert checked.embed_documents([]) == []
    query = checked.embed_query(TEXTS[1])
    assert len(query) == len(vectors[0])
    assert embedder.max_batch_items >= 1
    assert embedder.max_input_tokens >= 256
    assert embedder.max_batch_tokens >= embedder.max_input_tokens
    assert embedder.max_in_flight >= 1
    assert embedder.id
    assert embedder.model
    assert all(isinstance(value, str | int) for value in embedder.identity.values())
    assert embedder.identity == embedder.identity
    embedder.verify()
