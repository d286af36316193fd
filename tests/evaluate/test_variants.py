from __future__ import annotations

import pytest

from memlane import UsageError
from memlane.evaluate.variants import is_change, section_from, share_index


def test_changes_make_a_section() -> None:
    assert section_from(
        [
            "provider=none",
            "memorySearch.query.minScore = 0.2",
            "query.hybrid.mmr.enabled=true",
            "model=a=b",
            'remote.headers={"X": "y"}',
        ]
    ) == {
        "provider": "none",
        "query": {"minScore": 0.2, "hybrid": {"mmr": {"enabled": True}}},
        "model": "a=b",
        "remote": {"headers": {"X": "y"}},
    }


def test_changes_that_cannot_be_meant() -> None:
    for changes, message in (
        (["query=1", "query.minScore=2"], "query.minScore contradicts another change"),
        (["provider=none", "provider=auto"], "provider is given twice"),
        (["nonsense"], "'nonsense' is no change of a setting"),
    ):
        with pytest.raises(UsageError, match=message):
            section_from(changes)


def test_what_is_a_change_and_what_a_file() -> None:
    assert is_change("provider=none")
    assert not is_change("other.json5")
    assert not is_change("./a=b/other.json5")


def test_an_index_is_shared_where_only_asking_differs(open_memory) -> None:
    first = open_memory(provider="none").settings
    assert share_index(first, open_memory(provider="none", query={"minScore": 0.1}).settings)
    assert not share_index(first, open_memory(provider="auto").settings)
    assert not share_index(first, open_memory(provider="none", chunking={"tokens": 99}).settings)
    assert not share_index(first, open_memory(provider="none", store={"path": "/tmp/x.sqlite"}).settings)
