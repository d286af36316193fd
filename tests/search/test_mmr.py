from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlane.search.mmr import distinct_words, diversify, jaccard

NOTES = {
    "memory/2026-02-10.md": (0.92, "Configured Omada router, set VLAN 10 for IoT devices"),
    "memory/2026-02-08.md": (0.89, "Configured Omada router, moved IoT to VLAN 10"),
    "memory/network.md": (0.85, "Router: Omada ER605, AdGuard: 192.168.10.2, VLAN 10: IoT"),
    "memory/2026-02-05.md": (0.78, "Set up AdGuard DNS on 192.168.10.2"),
}


def top_three(trade_off: float) -> list[str]:
    paths = list(NOTES)
    picks = diversify(
        [score for score, _ in NOTES.values()],
        [distinct_words(text) for _, text in NOTES.values()],
        trade_off=trade_off,
        limit=3,
    )
    return [paths[pick.index] for pick in picks]


def test_the_near_duplicate_drops_out_for_the_other_note() -> None:
    first, *others = top_three(0.7)
    assert first == "memory/2026-02-10.md"
    assert set(others) == {"memory/network.md", "memory/2026-02-05.md"}


def test_trade_off_one_is_the_plain_order() -> None:
    assert top_three(1.0) == ["memory/2026-02-10.md", "memory/2026-02-08.md", "memory/network.md"]


def test_likeness_sees_chinese_and_korean_words() -> None:
    same = jaccard(distinct_words("今天讨论了部署方案"), distinct_words("今天讨论了部署方案和预算"))
    other = jaccard(distinct_words("今天讨论了部署方案"), distinct_words("明天去看电影"))
    assert same > 0.5 > other


def test_texts_without_terms_are_alike_only_when_they_are_the_same() -> None:
    assert jaccard(distinct_words("!!!"), distinct_words("!!!")) == 1.0
    assert jaccard(distinct_words("!!!"), distinct_words("???")) == 0.0
    assert jaccard(frozenset(), frozenset()) == 0.0


_CANDIDATES = st.lists(st.tuples(st.floats(0, 1), st.frozensets(st.sampled_from("abcdef"))), max_size=12)


@given(_CANDIDATES, st.floats(0, 1), st.integers(0, 15))
def test_picks_are_distinct_and_as_many_as_asked(
    candidates: list[tuple[float, frozenset[str]]], trade_off: float, limit: int
) -> None:
    picks = diversify(
        [score for score, _ in candidates],
        [terms for _, terms in candidates],
        trade_off=trade_off,
        limit=limit,
    )
    indexes = [pick.index for pick in picks]
    assert len(indexes) == len(set(indexes)) == min(limit, len(candidates))
    assert all(pick.penalty >= 0 for pick in picks)


@given(_CANDIDATES)
def test_trade_off_one_keeps_any_sorted_order(candidates: list[tuple[float, frozenset[str]]]) -> None:
    ranked = sorted(candidates, key=lambda one: -one[0])
    picks = diversify([s for s, _ in ranked], [t for _, t in ranked], trade_off=1.0, limit=len(ranked))
    assert [pick.index for pick in picks] == list(range(len(ranked)))
