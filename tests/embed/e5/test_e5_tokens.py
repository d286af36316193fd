from __future__ import annotations

import unicodedata

import pytest

from memlane.embed.e5.tokens import Tokenizer
from memlane.embed.e5.weights import Weights

PIECES = ["<unk>", "\u2581", "\u2581tea", "te", "a", "t", "e", "\u2581é", "x"]
SCORES = [0.0, -3.0, -4.0, -5.0, -5.0, -7.0, -7.0, -6.0, -5.0]


@pytest.fixture
def small() -> Tokenizer:
    return Tokenizer(PIECES, SCORES, {0x0D: "", 0x0A: " ", 0xFF58: "x"}, 0)


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    return [PIECES[token] for token in tokenizer.encode(text)]


def test_the_likeliest_pieces_are_taken(small: Tokenizer) -> None:
    assert pieces(small, "tea teate") == ["\u2581tea", "\u2581tea", "te"]
    assert pieces(small, "x") == ["\u2581", "x"]


def test_blanks_around_and_between_do_not_count(small: Tokenizer) -> None:
    assert pieces(small, "  tea \r\n\n tea\t") == ["\u2581tea", "\u2581tea"]
    assert small.encode("") == small.encode(" \n ") == []


def test_a_run_of_unknown_characters_is_one_token(small: Tokenizer) -> None:
    assert pieces(small, "☃☃☃te☃ a") == ["\u2581", "<unk>", "te", "<unk>", "\u2581", "a"]


def test_forms_are_replaced_and_accents_composed(small: Tokenizer) -> None:
    assert small.encode("\uff58") == small.encode("x")
    assert pieces(small, "e\u0301") == ["\u2581é"]


def test_korean_in_either_form_gives_the_same(weights: Weights) -> None:
    tokenizer = Tokenizer(weights.pieces, weights.scores, weights.replacements, weights.unknown)
    text = "서버를 배포한다. Ｄｅｐｌｏｙ café №5"
    tokens = tokenizer.encode(text)
    assert tokenizer.encode(unicodedata.normalize("NFD", text)) == tokens
    assert weights.unknown not in tokens
    words = "".join(weights.pieces[token] for token in tokens).replace("\u2581", " ")
    assert words == " 서버를 배포한다. Deploy café No5"


def test_a_long_line_without_blanks_ends(weights: Weights) -> None:
    tokenizer = Tokenizer(weights.pieces, weights.scores, weights.replacements, weights.unknown)
    assert 1000 < len(tokenizer.encode("배포" * 2000)) < 5000
