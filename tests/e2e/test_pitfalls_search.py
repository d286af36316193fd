"""What users of such systems report most about searching: each case with the right answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlane import EmbeddingError, Memory, UsageError
from memlane.embed.base import NoVector, Vector, pack
from memlane.search.calibrate import chance
from memlane.testing import HashEmbedder, RecordingObserver

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


class Fixed(HashEmbedder):
    """Embeds texts as told, by a word they hold; orthogonal to the query unless told otherwise."""

    worth_caching = False

    def __init__(self, **directions: Sequence[float]) -> None:
        super().__init__(3)
        self.directions = directions

    def embed_query(self, text: str) -> Vector | NoVector:
        self.queries.append(text)
        return pack([1.0, 0.0, 0.0])

    def _embed(self, text: str) -> Vector | NoVector:
        for word, direction in self.directions.items():
            if word in text:
                return pack(list(direction))
        return pack([0.0, 1.0, 0.0])


def paths(memory: Memory, query: str, **options: object) -> list[str]:
    return [hit.path for hit in memory.search(query, **options)]  # type: ignore[arg-type]


# ---- an empty answer says why --------------------------------------------------------------------------


def test_a_threshold_that_hides_everything_is_named(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "We rent machines for browserless rendering.\n")
    memory = open_memory()
    assert paths(memory, "browserless") == ["memory/a.md"]
    result = memory.search("browserless", min_score=0.99)
    assert not result.hits
    assert result.why is not None
    assert (result.why.code, result.why.details) == ("below_threshold", {"dropped": 1})


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_a_blank_query_asks_no_provider(write: Write, open_memory: Open, query: str) -> None:
    embedder = HashEmbedder()
    write("memory/a.md", "tea\n")
    memory = open_memory(embedder=embedder)
    result = memory.search(query)
    assert not result.hits
    assert result.why is not None
    assert result.why.code == "blank_query"
    assert embedder.queries == []
    assert embedder.documents == []


def test_a_fresh_store_says_that_nothing_is_indexed(open_memory: Open) -> None:
    result = open_memory().search("anything")
    assert not result.hits
    assert result.why is not None
    assert result.why.code == "nothing_indexed"


@pytest.mark.parametrize("query", ["!!!", "???", "…", "—"])
def test_signs_alone_are_no_search_for_the_latest_notes(write: Write, open_memory: Open, query: str) -> None:
    write("memory/a.md", "tea!!!\n")
    for provider in ("none", "bundled"):
        result = open_memory(provider=provider).search(query)
        assert not result.hits
        assert result.why is not None
        assert result.why.code == "no_searchable_terms"


def test_no_match_is_told_apart_from_a_failure(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    result = open_memory(provider="none").search("zeppelin")
    assert result.why is not None
    assert result.why.code == "no_match"
    assert result.warning is None


# ---- every language, any string -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("部署", "memory/zh.md"),
        ("끝말", "memory/ko.md"),
        ("게임", "memory/ko.md"),
        ("しりとり", "memory/ja.md"),
        ("itgc", "memory/mixed.md"),
        ("muller", "memory/latin.md"),
        ("MÜLLER", "memory/latin.md"),
        ("Сергей", "memory/cyrillic.md"),
        ("secrets", "memory/code.md"),
        ("apply_secrets", "memory/code.md"),
        ("hybrid", "memory/code.md"),
        ("memorySearch.query.hybrid", "memory/code.md"),
        ("a828e60", "memory/code.md"),
        ("DEC-0054", "memory/code.md"),
        ("2026.4.10", "memory/code.md"),
        ("@scope/ui-kit", "memory/code.md"),
        ("2026-03-31", "memory/signs.md"),
        ("multi-agent", "memory/signs.md"),
        ("don't", "memory/signs.md"),
        ("C++", "memory/signs.md"),
        ("foo/bar", "memory/signs.md"),
        ("x:y", "memory/signs.md"),
    ],
)
def test_keyword_search_finds_words_of_every_script_and_identifiers(
    write: Write, open_memory: Open, query: str, path: str
) -> None:
    write("memory/zh.md", "今天讨论了部署方案\n")
    write("memory/ko.md", "오늘 끝말잇기 게임을 했다\n")
    write("memory/ja.md", "今日は成語しりとりをした\n")
    write("memory/mixed.md", "重跑gen-itgc后50条\n")
    write("memory/latin.md", "Frau Müller called about the lease\n")
    write("memory/cyrillic.md", "Сергей прислал договор\n")
    write(
        "memory/code.md",
        "Set memorySearch.query.hybrid, commit a828e60; apply_secrets failed in 2026.4.10."
        " DEC-0054: @scope/ui-kit\n",
    )
    write("memory/signs.md", "On 2026-03-31 the multi-agent run: don't use C++ in foo/bar, map x:y\n")
    write("memory/other.md", "Nothing of the kind stands here\n")
    assert paths(open_memory(provider="none"), query)[:1] == [path]


@pytest.mark.parametrize(
    "query",
    ["what did we discuss?", '"', "*", "NEAR(", "a AND", "(", "NOT", "a OR", "^b", "{body}:x", "-", "col:*"],
)
def test_no_string_is_syntax(write: Write, open_memory: Open, query: str) -> None:
    write("memory/a.md", "we discussed tea, a near thing and more\n")
    assert open_memory(provider="none").search(query).warning is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_string_is_a_query(write: Write, open_memory: Open, query: str) -> None:
    write("memory/a.md", "tea and 茶 and чай\n")
    result = open_memory(provider="none").search(query)
    assert result.warning is None
    assert result.hits or result.why


def test_a_pasted_page_is_a_query_too(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "the lighthouse keeper\n")
    page = "lighthouse " + " ".join(f"word{number}" for number in range(30_000))
    assert paths(open_memory(provider="none"), page, min_score=0.0) == ["memory/a.md"]


def test_not_every_word_must_stand_in_the_note(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "budget for the garden\n")
    write("memory/b.md", "the cat sleeps\n")
    assert paths(open_memory(provider="none"), "meeting budget review") == ["memory/a.md"]


# ---- scores ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 50])
def test_the_only_note_that_matches_is_found_in_an_index_of_any_size(
    write: Write, open_memory: Open, count: int
) -> None:
    write("memory/needle.md", "the lighthouse keeper\n")
    for number in range(count - 1):
        write(f"memory/{number}.md", f"plain note number {number}\n")
    (hit,) = open_memory(provider="none").search("lighthouse")
    assert hit.path == "memory/needle.md"
    assert 0.5 < hit.score < 1


def test_scores_fall_with_the_keyword_rank(write: Write, open_memory: Open) -> None:
    write("memory/1.md", "harbour harbour light\n")
    write("memory/2.md", "harbour in the evening when the ships come home from the sea\n")
    write("memory/3.md", "light of the evening\n")
    for number in range(20):
        write(f"memory/other-{number}.md", "something else entirely\n")
    scores = [hit.score for hit in open_memory(provider="none").search("harbour light", min_score=0.0)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores) == 3


def test_an_exact_token_is_found_whatever_the_vectors_say(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "The spare part is ZX-9001, ordered twice.\n")
    write("memory/b.md", "Something else altogether.\n")
    memory = open_memory(embedder=Fixed())
    assert paths(memory, "ZX-9001") == ["memory/a.md"]


def test_strong_semantic_hits_are_not_pushed_out_by_a_weak_keyword_hit(
    write: Write, open_memory: Open
) -> None:
    near = {"cat": (0.95, 0.3, 0.0), "dog": (0.93, 0.35, 0.0), "fox": (0.9, 0.4, 0.0)}
    for name in near:
        write(f"memory/{name}.md", f"{name}\n")
    write("memory/weak.md", "a pet among many other words of a long note about something else\n")
    memory = open_memory(embedder=Fixed(**near))
    assert set(paths(memory, "which pet animals live here", max_results=3)) == {
        f"memory/{name}.md" for name in near
    }


def test_no_score_is_one_but_for_the_same_text(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "Green tea at four\n")
    write("memory/b.md", "Green tea at four, and black tea at five\n")
    memory = open_memory()
    scores = {hit.path: hit.score for hit in memory.search("Green tea at four")}
    assert scores["memory/a.md"] == 1.0
    assert scores["memory/b.md"] < 1.0


def test_asking_for_fewer_gives_the_first_of_the_same(write: Write, open_memory: Open) -> None:
    for number in range(40):
        write(f"memory/{number}.md", f"tea {'cup ' * (number % 7)} number {number} {'pot ' * (number % 3)}\n")
    memory = open_memory()
    twenty = paths(memory, "tea cup pot", max_results=20, min_score=0.0)
    assert len(twenty) == 20
    assert paths(memory, "tea cup pot", max_results=3, min_score=0.0) == twenty[:3]


# ---- one leg missing ------------------------------------------------------------------------------------


class Refusing(HashEmbedder):
    """Embeds documents; refuses queries."""

    def embed_query(self, text: str) -> Vector | NoVector:
        raise EmbeddingError("401 Unauthorized")


def test_a_provider_that_refuses_the_query_leaves_the_keyword_hits(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    result = open_memory(embedder=Refusing()).search("tea")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert result.mode == "keyword"
    assert result.warning is not None
    assert "401 Unauthorized" in result.warning


def test_without_a_provider_all_is_searchable_and_one_added_later_only_adds_vectors(
    write: Write, open_memory: Open, observer: RecordingObserver
) -> None:
    for number in range(3):
        write(f"memory/{number}.md", f"note about topic{number}\n")
    without = open_memory(provider="none")
    assert without.sync().indexed == 3
    assert paths(without, "topic1")[0] == "memory/1.md"
    assert without.search("topic1").mode == "keyword"
    without.close()
    embedder = HashEmbedder()
    report = open_memory(embedder=embedder).sync()
    assert (report.indexed, report.embedded, report.files_read) == (0, 3, 0)


def test_another_model_answers_by_keyword_until_its_vectors_are_there(
    write: Write, open_memory: Open
) -> None:
    write("memory/a.md", "green tea\n")
    open_memory(embedder=HashEmbedder(4)).sync()
    for other in (HashEmbedder(6), HashEmbedder(4, model="other")):
        memory = open_memory(embedder=other)
        result = memory.search("tea", sync=False)
        assert result.mode == "keyword"
        assert result.warning is not None
        assert "another model" in result.warning
        assert [hit.path for hit in result] == ["memory/a.md"]
        assert memory.sync().embedded == 1
        assert memory.search("tea").mode == "hybrid"
        assert memory.status().dimensions == other.dimensions


class Damaged(HashEmbedder):
    """Gives zeros for one text and NaN for another."""

    worth_caching = False

    def _embed(self, text: str) -> Vector | NoVector:
        if "zero" in text:
            return pack([0.0] * self.dimensions)
        if "nan" in text:
            return pack([math.nan] * self.dimensions)
        return super()._embed(text)


def test_damaged_vectors_leave_their_chunks_searchable_by_keyword(write: Write, open_memory: Open) -> None:
    write("memory/zero.md", "zero tea\n")
    write("memory/nan.md", "nan tea\n")
    write("memory/fine.md", "fine tea\n")
    memory = open_memory(embedder=Damaged())
    report = memory.sync()
    assert report.without_vector == 2
    result = memory.search("tea", min_score=0.0, explain=True)
    assert {hit.path for hit in result} == {"memory/zero.md", "memory/nan.md", "memory/fine.md"}
    by_path = {hit.path: hit.explanation for hit in result}
    assert by_path["memory/zero.md"] is not None
    assert by_path["memory/zero.md"].vector_raw is None
    assert memory.status().statistics.without_vector == 2
    assert memory.sync().embedded == 0


# ---- snippets, dates, size ---------------------------------------------------------------------------------


def test_the_snippet_shows_the_match_and_its_range_covers_it(write: Write, open_memory: Open) -> None:
    lines = [f"Line {number} speaks of ordinary things and of the weather." for number in range(1, 61)]
    lines[49] = "The safe opens with the periwinkle key."
    write("memory/long.md", "\n".join(lines) + "\n")
    hit = next(iter(open_memory().search("periwinkle")))
    assert "periwinkle" in hit.snippet
    assert len(hit.snippet) <= 700
    assert hit.start_line <= 50 <= hit.end_line


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        ("memory/2026-01-11.md", 0.5),
        ("memory/daily/2026-01-11.md", 0.5),
        ("memory/2026-01-11-vendor-pitch.md", 0.5),
        ("MEMORY.md", None),
        ("memory/network.md", None),
        ("memory/2026-13-40.md", None),
        ("memory/2026-03-01.md", 1.0),
    ],
)
def test_age_counts_for_dated_names_alone(
    write: Write, open_memory: Open, path: str, factor: float | None
) -> None:
    write(path, "the lighthouse keeper\n")
    query = {"hybrid": {"temporalDecay": {"enabled": True, "halfLifeDays": 30}}}
    (hit,) = open_memory(query=query).search("lighthouse keeper", explain=True, min_score=0.0)
    assert hit.explanation is not None
    assert hit.explanation.decay == (None if factor is None else pytest.approx(factor))
    undecayed = chance(hit.explanation.strength, hit.explanation.lead)
    assert hit.score == pytest.approx(undecayed * (factor or 1.0))


def test_a_partial_setting_leaves_the_others_at_their_defaults(open_memory: Open) -> None:
    memory = open_memory(query={"hybrid": {"temporalDecay": {"enabled": True}}})
    hybrid = memory.settings.memory_search.query.hybrid
    assert hybrid.temporal_decay.enabled
    assert hybrid.temporal_decay.half_life_days == 30
    assert (hybrid.enabled, hybrid.candidate_multiplier, hybrid.mmr.enabled) == (True, 4, False)
    assert memory.settings.memory_search.query.max_results == 6


def test_dates_limit_what_is_searched(write: Write, open_memory: Open) -> None:
    for day in ("2026-01-05", "2026-01-20", "2026-02-03"):
        write(f"memory/{day}.md", "the keeper wrote\n")
    write("memory/undated.md", "the keeper wrote\n")
    memory = open_memory()
    found = paths(memory, "keeper", since=date(2026, 1, 10), until=date(2026, 1, 31))
    assert found == ["memory/2026-01-20.md"]
    with pytest.raises(UsageError, match="later than until"):
        memory.search("keeper", since=date(2026, 2, 1), until=date(2026, 1, 1))


def test_the_top_chunk_for_a_person_holds_that_persons_section_alone(write: Write, open_memory: Open) -> None:
    one = "Likes long walks, keeps bees, works on the harbour project and prefers calls in the morning. " * 2
    two = "Plays the cello, keeps goats, works on the bridge project and prefers mail in the evening. " * 2
    write("memory/people.md", f"# People\n\n## Person A\n\n{one.strip()}\n\n## Person B\n\n{two.strip()}\n")
    hit = next(iter(open_memory().search("Person A")))
    assert "bees" in hit.snippet
    assert "goats" not in hit.snippet
    assert "Person B" not in hit.snippet


def test_too_much_text_is_limited_and_what_was_left_out_is_counted(write: Write, open_memory: Open) -> None:
    section = "tea " * 170
    write("memory/a.md", "".join(f"## Part {number}\n\n{section}\n\n" for number in range(150)))
    result = open_memory(provider="none").search("tea", max_results=150, min_score=0.0)
    assert sum(len(hit.snippet) for hit in result) <= 40_000
    assert result.totals.dropped_by_size == 150 - len(result.hits) > 0


def test_near_duplicates_give_way_when_asked(write: Write, open_memory: Open) -> None:
    write("memory/2026-02-10.md", "Configured Omada router, set VLAN 10 for IoT devices\n")
    write("memory/2026-02-08.md", "Configured Omada router, moved IoT to VLAN 10\n")
    write("memory/2026-02-05.md", "Set up AdGuard DNS on 192.168.10.2, the router points to it\n")
    write("memory/network.md", "Router: Omada ER605, AdGuard: 192.168.10.2, VLAN 10: IoT\n")
    plain = open_memory()
    diverse = open_memory(query={"hybrid": {"mmr": {"enabled": True, "lambda": 0.3}}})
    query = "Omada router VLAN 10 IoT configured"
    first = paths(plain, query, max_results=2, min_score=0.0)
    assert set(first) == {"memory/2026-02-10.md", "memory/2026-02-08.md"}
    assert paths(diverse, query, max_results=2, min_score=0.0)[1] not in first


def test_citations_follow_the_kind_of_chat(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "the lighthouse\nkeeper\n")
    memory = open_memory()
    (own,) = memory.search("lighthouse keeper")
    (group,) = memory.search("lighthouse keeper", session="agent:main:discord:group:5")
    assert own.citation == "memory/a.md#L1-L2"
    assert group.citation is None
