from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.embed.bundled import packaged_model
from memlane.embed.likeness import PieceLikeness, pack_pieces, unpack_in_bulk, unpack_pieces
from memlane.embed.pieces import normal_form
from memlane.search.late import WINDOW, QueryPieces, best_window, best_windows, weigh_pieces

ALIKE: Mapping[int, Mapping[int, float]] = {
    1: {1: 1.0, 2: 0.2, 9: 0.0},
    2: {1: 0.2, 2: 1.0, 9: 0.1},
}


def score(pieces: list[int], weights: tuple[float, ...] = (0.5, 0.5)) -> float:
    return best_window(pieces, [ALIKE[1], ALIKE[2]], weights)


def test_words_that_stand_together_count_together() -> None:
    assert score([9] * 5 + [1, 2] + [9] * 5) == 1.0


def test_words_that_stand_far_apart_do_not() -> None:
    assert score([1] + [9] * 2 * WINDOW + [2]) == pytest.approx(0.6)


def test_a_window_is_not_cut_by_the_border_of_its_halves() -> None:
    half = WINDOW // 2
    assert score([9] * (half - 1) + [1, 2] + [9] * half) == 1.0


def test_heavier_pieces_count_more() -> None:
    assert score([1, 9], (0.9, 0.1)) > score([2, 9], (0.9, 0.1))


def test_nothing_scores_nothing() -> None:
    assert score([]) == 0.0
    assert best_window([1], [], ()) == 0.0
    assert best_windows([[1], []], lambda pieces: np.zeros((0, len(pieces)), np.float32), QueryPieces()) == [
        0,
        0,
    ]


pieces = st.integers(0, 11)


@given(
    passages=st.lists(st.lists(pieces, max_size=3 * WINDOW), max_size=6),
    cosines=st.lists(st.lists(st.integers(-100, 100), min_size=12, max_size=12), min_size=1, max_size=4),
    data=st.data(),
)
def test_one_by_one_and_in_bulk_give_the_same(
    passages: list[list[int]], cosines: list[list[int]], data: st.DataObject
) -> None:
    raw = [data.draw(st.integers(1, 5)) for _ in cosines]
    asked = QueryPieces(tuple(range(len(raw))), tuple(weight / sum(raw) for weight in raw))
    table = np.array(cosines) / 100
    rows = [dict(enumerate(row)) for row in table.tolist()]
    one_by_one = [best_window(passage, rows, asked.weights) for passage in passages]
    in_bulk = best_windows(passages, lambda wanted: table[:, wanted], asked)
    assert in_bulk == one_by_one


@given(st.lists(st.integers(0, 132_943), max_size=50))
def test_packed_pieces_come_back(ids: list[int]) -> None:
    expected = [piece for start in range(0, len(ids), 16) for piece in sorted(ids[start : start + 16])]
    assert unpack_pieces(pack_pieces(ids)) == expected


@given(st.lists(st.lists(st.integers(0, 132_943), max_size=40), max_size=5))
def test_packed_pieces_come_back_in_bulk(passages: list[list[int]]) -> None:
    packed = [pack_pieces(ids) for ids in passages]
    assert [one.tolist() for one in unpack_in_bulk(packed)] == [unpack_pieces(one) for one in packed]


def test_no_pieces_were_kept() -> None:
    assert list(unpack_pieces(b"")) == []


def test_the_pieces_of_a_question_weigh_what_its_terms_do() -> None:
    text = normal_form("What does Mira drink?")
    spans = [(1, 0, 4), (2, 5, 9), (3, 10, 14), (4, 15, 20)]
    asked = weigh_pieces(spans, text, {"mira": 3.0, "drink": 1.0}, [1.0, 1.0, 1.0, 1.0])
    assert asked == QueryPieces((3, 4), (0.75, 0.25))


def test_a_piece_that_is_repeated_counts_once_with_all_its_weight() -> None:
    spans = [(3, 0, 3), (4, 4, 7), (3, 8, 11)]
    asked = weigh_pieces(spans, "tea mug tea", {"tea": 1.0, "mug": 2.0}, [1.0, 1.0, 1.0])
    assert asked == QueryPieces((3, 4), (0.5, 0.5))


def test_a_question_without_terms_has_no_telling_piece() -> None:
    assert weigh_pieces([(1, 0, 3)], "who", {}, [1.0]) == QueryPieces()


@pytest.mark.parametrize("word", ["coffee", "Kaffee", "커피", "咖啡", "ZX-9001", "naïve"])
def test_a_piece_is_like_itself_by_either_way(word: str) -> None:
    likeness = PieceLikeness(packaged_model())
    ids = packaged_model().vocabulary.encode(word)
    matrix = likeness.matrix(ids, ids)
    assert np.allclose(np.diag(matrix), 1.0, atol=1e-4)
    connection = likeness._vector_database()
    assert connection is not None
    assert likeness._by_sqlite(connection, ids, ids) == matrix.tolist()


def test_both_ways_agree_to_the_last_bit_on_all_kinds_of_pieces() -> None:
    likeness = PieceLikeness(packaged_model())
    connection = likeness._vector_database()
    assert connection is not None
    many = list(range(0, 132_944, 331))
    few = many[::40]
    assert likeness._by_sqlite(connection, few, many) == likeness.matrix(few, many).tolist()


def test_related_words_are_more_alike_than_others_in_any_language() -> None:
    likeness, vocabulary = PieceLikeness(packaged_model()), packaged_model().vocabulary
    (coffee,), (espresso,), (bridge,) = map(vocabulary.encode, ("coffee", "espresso", "bridge"))
    (korean,) = vocabulary.encode("커피")
    ((alike, translated, unlike),) = likeness.matrix([coffee], [espresso, korean, bridge]).tolist()
    assert min(alike, translated) > unlike + 0.2


@given(st.text(max_size=60))
def test_pieces_know_where_they_stand(text: str) -> None:
    vocabulary = packaged_model().vocabulary
    normal, spans = normal_form(text), vocabulary.spans(text)
    assert [piece for piece, _, _ in spans] == vocabulary.encode(text)
    at = 0
    for _, start, end in spans:
        assert at <= start <= end <= len(normal)
        at = end
