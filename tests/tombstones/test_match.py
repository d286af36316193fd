"""Finding a phrase by its digest alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.tombstones.entries import reached
from memlane.tombstones.match import NOTHING, Tombstones, mark_of
from memlane.tombstones.values import Tombstone, digest_of, folded, id_of

KEY = bytes(range(32))


def stones(*phrases: str, key: bytes = KEY) -> Tombstones:
    made = []
    for phrase in map(folded, phrases):
        digest = digest_of(key, "phrase", phrase)
        made.append(Tombstone(id_of(digest), "phrase", digest, "", len(phrase), mark_of(key, phrase)))
    return Tombstones(key, made)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("Straße 7", "in der STRASSE\u00a07!"),
        ("서울 주소", "그의 \u1109\u1165\u110b\u116e\u11af 주소는"),
        ("ＡＢＣ", "xxabcxx"),
        ("one two", "- one\n  two"),
        ("one two", "one\r\n\r\n\r\ntwo"),
        ("🦊👩‍👩‍👧", "x🦊👩‍👩‍👧x"),
        ("密码", "我的密码是"),
    ],
)
def test_forms_that_are_alike(phrase: str, text: str) -> None:
    assert stones(phrase).holds(text)


@given(st.text(max_size=200), st.text(min_size=1, max_size=12), st.binary(min_size=32, max_size=32))
def test_it_finds_what_stands_there_and_nothing_else(text: str, phrase: str, key: bytes) -> None:
    wanted = folded(phrase)
    if not wanted:
        return
    whole = " ".join(part for line in text.split("\n") if (part := folded(line)))
    assert stones(phrase, key=key).holds(text) == (wanted in whole)


@given(st.text(alphabet="ab -#`\n", max_size=80))
def test_what_is_left_does_not_hold_it_and_lines_keep_their_numbers(text: str) -> None:
    forgotten = stones("aa", "b b")
    left = forgotten.without(text)
    assert not forgotten.holds(left) or "\n" in text
    assert left.count("\n") == text.count("\n")
    for old, new in zip(text.split("\n"), left.split("\n"), strict=True):
        assert new in {old, ""}


def test_several_phrases_of_one_length() -> None:
    assert stones("abc", "xyz", "longer one").spans(["abc", "-", "a longer", "one xyz"]) == [
        (0, 0),
        (3, 3),
        (2, 3),
    ]


def test_nothing_is_held_by_nothing() -> None:
    assert not NOTHING and not NOTHING.holds("x") and NOTHING.without("x") == "x"
    assert not NOTHING.forgets_path("a") and not NOTHING.forgets_session("a") and NOTHING.fingerprint == ""


def test_a_digest_says_which_kind_it_is_of_and_depends_on_the_key() -> None:
    digests = {digest_of(KEY, "phrase", "x"), digest_of(KEY, "path", "x"), digest_of(b"y" * 32, "path", "x")}
    assert len(digests) == 3


NOTE = """\
# Title

First paragraph
goes on.

- one
  more of one
  - nested
- two
lazy two

  after a gap
> quoted
| a | b |
| c | d |

```
code one
code two
```
1. numbered
text"""


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        (0, {0}),
        (2, {2, 3}),
        (3, {2, 3}),
        (5, {5, 6, 7}),
        (6, {5, 6, 7}),
        (7, {7}),
        (8, {8, 9, 10, 11}),
        (9, {8, 9, 10, 11}),
        (11, {8, 9, 10, 11}),
        (12, {12}),
        (14, {14}),
        (17, {17}),
        (20, {20, 21}),
    ],
)
def test_how_far_a_place_reaches(line: int, gone: set[int]) -> None:
    assert reached(NOTE.split("\n"), [(line, line)]) == gone
