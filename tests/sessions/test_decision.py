from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memlane.sessions.chat import Message, ToolCall, Usage
from memlane.sessions.decision import Budget, Case, budget, decide, estimate, tokens_held
from memlane.transcripts.keys import session_from_key
from memlane.values import Session

LARGE = budget(272_000, floor=20_000, soft=4_000, own_reserve=62_500)


def of(key: str) -> Session:
    return session_from_key(key)


FULL = Case(LARGE, 205_500, of("main"))


@pytest.mark.parametrize(
    ("change", "due", "reason"),
    [
        ({}, True, "tokens"),
        ({"tokens": 205_499}, False, "below"),
        ({"tokens": 10, "transcript_bytes": 2**21, "force_bytes": 2**21}, True, "size"),
        ({"tokens": 10, "transcript_bytes": 2**21 - 1, "force_bytes": 2**21}, False, "below"),
        ({"tokens": 10, "transcript_bytes": 2**30, "force_bytes": 0}, False, "below"),
        ({"tokens": 10, "losing": True}, True, "losing"),
        # once a cycle
        ({"flushed_in": None, "compactions": 0}, True, "tokens"),
        ({"flushed_in": 0, "compactions": 0}, False, "flushed"),
        ({"flushed_in": 3, "compactions": 3, "losing": True}, False, "flushed"),
        ({"flushed_in": 3, "compactions": 4}, True, "tokens"),
        ({"failures": 2}, True, "tokens"),
        ({"failures": 3}, False, "failed"),
        # skipped
        ({"enabled": False}, False, "disabled"),
        ({"writable": False}, False, "not-writable"),
        ({"heartbeat": True}, False, "heartbeat"),
        ({"session": of("cron:nightly")}, False, "cron"),
        ({"session": of("subagent:7")}, False, "subagent"),
        ({"session": of("what")}, False, "unknown"),
        ({"session": of("slack:group:1")}, True, "tokens"),
        ({"session": of("direct:ann")}, True, "tokens"),
        ({"losing": True, "empty": True}, False, "empty"),
        ({"losing": True, "enabled": False}, False, "disabled"),
    ],
)
def test_when_memory_is_flushed(change: dict[str, object], due: bool, reason: str) -> None:
    decision = decide(replace(FULL, **change))
    assert (decision.due, decision.reason) == (due, reason)


def test_the_threshold_is_what_reserve_and_soft_threshold_leave() -> None:
    assert Budget(272_000, 62_500, 4_000) == LARGE
    assert LARGE.flush_at == 205_500
    assert decide(FULL).threshold == 205_500


@pytest.mark.parametrize(
    ("window", "floor", "soft", "own", "flush_at", "compact_at"),
    [
        (200_000, 20_000, 4_000, 0, 176_000, 180_000),
        (200_000, 20_000, 4_000, 16_384, 176_000, 180_000),
        (48_000, 20_000, 4_000, 0, 24_000, 28_000),
        (8_192, 20_000, 4_000, 0, 4_096, 4_778),
        (10_000, 0, 0, 0, 10_000, 10_000),
    ],
)
def test_small_windows_shrink_both(
    window: int, floor: int, soft: int, own: int, flush_at: int, compact_at: int
) -> None:
    shared = budget(window, floor=floor, soft=soft, own_reserve=own)
    assert (shared.flush_at, shared.compact_at) == (flush_at, compact_at)


SIZES = st.integers(0, 10**7)


@given(st.integers(1, 10**7), SIZES, SIZES, SIZES)
def test_there_is_always_a_threshold_within_the_window(window: int, floor: int, soft: int, own: int) -> None:
    shared = budget(window, floor=floor, soft=soft, own_reserve=own)
    assert window // 2 <= shared.flush_at <= shared.compact_at <= window


def test_usage_counts_and_what_came_since_is_estimated() -> None:
    told = Usage(input=1_000, output=200, cached=5_000)
    assert tokens_held(told, []) == 6_200
    assert tokens_held(told, [Message("user", "a" * 400)]) == 6_200 + 4 + 100
    assert tokens_held(None, [Message("user", "a" * 400)]) == 104


def test_the_estimate_weighs_scripts_and_counts_calls() -> None:
    assert estimate([Message("user", "안녕하세요")]) == 4 + 5
    assert estimate([Message("user", "Привет")]) == 4 + 3
    call = Message("assistant", calls=(ToolCall("1", "memory_get", {"path": "a" * 400}),))
    assert estimate([call]) > 100
