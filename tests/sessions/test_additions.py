from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlane.sessions.additions import additions

LOG = "# 2026-02-10\n\n" + "".join(f"- 08:0{number} fact {number}\n" for number in range(8))


def written(text: str, *known: str, room: int = 10_000) -> str:
    return additions(text, known, time="12:00", room=room).written()


def test_three_lines_on_ten_make_thirteen() -> None:
    assert len(LOG.splitlines()) == 10
    after = LOG + written("- a\n- b\n- c\n", LOG)
    assert after.splitlines()[:10] == LOG.splitlines()
    assert after.splitlines()[10:] == ["- 12:00 a", "- 12:00 b", "- 12:00 c"]


def test_of_a_file_written_anew_only_what_is_new_is_left() -> None:
    anew = "# 2026-02-10\n\n- fact 0\n- 08:01 fact 1\n* fact   2\n1. fact 3\n- the new one\n"
    assert written(anew, LOG) == "- 12:00 the new one\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text\nover two lines", "- 12:00 plain text\n  over two lines\n"),
        ("- parent\n  - child\n  - other", "- 12:00 parent\n  - child\n  - other\n"),
        ("- 07:30 in the morning", "- 07:30 in the morning\n"),
        ("- one\n\n  its second paragraph", "- 12:00 one\n\n  its second paragraph\n"),
        ("# 2026-02-11\n\n- a", "- 12:00 a\n"),
        ("## Decisions\n- a\n- b", "\n## Decisions\n\n- 12:00 a\n- 12:00 b\n"),
        ("## Nothing below", ""),
        ("---\n\n***", ""),
        ("- a\r\n- b\r- c", "- 12:00 a\n- 12:00 b\n- 12:00 c\n"),
        ("\ufeff- a\u2028- b", "- 12:00 a\n- 12:00 b\n"),
        ("- 오늘 배포했다\n- 今天讨论了 🎉", "- 12:00 오늘 배포했다\n- 12:00 今天讨论了 🎉\n"),
        ("```\n# no heading\n```", "- 12:00\n  ```\n  # no heading\n  ```\n"),
        ("", ""),
    ],
)
def test_blocks_become_entries(text: str, expected: str) -> None:
    assert written(text) == expected


def test_what_stands_anywhere_is_not_repeated() -> None:
    found = additions("- a\n- b\n- b\n- c", ["- 01:00 a\n", "text\n\n- x\n  - c\n"], time="12:00", room=100)
    assert (found.written(), found.added, found.repeated) == ("- 12:00 b\n", 1, 3)


def test_what_does_not_fit_is_left_out_whole_and_counted() -> None:
    found = additions(f"- {'x' * 100}\n- short\n", [], time="12:00", room=20)
    assert (found.written(), found.left_out) == ("- 12:00 short\n", 1)


MARKDOWN = st.text(alphabet="ab \n-#*`>|1.:\t\r~=<!", max_size=80)


@given(MARKDOWN, MARKDOWN)
@example("```", "")
def test_what_was_added_once_is_not_added_again(text: str, other: str) -> None:
    first = additions(text, [other], time="12:00", room=10_000)
    again = additions(text, [other, first.written()], time="13:00", room=10_000)
    assert again.added == 0


@given(MARKDOWN, st.integers(0, 60))
def test_never_more_than_there_is_room_for(text: str, room: int) -> None:
    assert len(additions(text, [], time="12:00", room=room).written()) <= room
