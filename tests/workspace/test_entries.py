from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memlane.errors import UsageError
from memlane.workspace.entries import entry_of, heading_of, insertion, standing_line
from memlane.workspace.sections import headings


def added(old: str, text: str = "new", *, time: str = "", heading: str | None = None) -> str:
    place = insertion(old, entry_of(text, time=time), opening="# Opening\n\n", heading=heading)
    return old[: place.at] + place.text + old[place.at :]


class TestForm:
    def test_one_line(self):
        assert entry_of("  tea, not coffee\n").written() == "- tea, not coffee\n"
        assert entry_of("tea", time="09:05").written() == "- 09:05 tea\n"

    def test_further_lines_stay_in_the_entry(self):
        assert entry_of("\n\nfirst\r\nsecond\r\r  deep\n\n", time="09:05").written() == (
            "- 09:05 first\n  second\n\n    deep\n"
        )

    def test_code_is_kept_and_closed(self):
        assert entry_of("see:\n```py\n# comment\n\tx = 1", time="09:05").written() == (
            "- 09:05 see:\n  ```py\n  # comment\n  \tx = 1\n  ```\n"
        )
        assert entry_of("```\na\n```", time="09:05").written() == "- 09:05\n  ```\n  a\n  ```\n"
        assert entry_of("```\na\n```").written() == "- ```\n  a\n  ```\n"

    def test_what_would_be_structure_of_the_note_is_escaped(self):
        text = "a\n# h\n   ## h\n===\n-\n<!--\n#hashtag\n- item"
        assert entry_of(text).written() == (
            "- a\n  \\# h\n     \\## h\n  \\===\n  \\-\n  \\<!--\n  #hashtag\n  - item\n"
        )
        assert entry_of("# h").written() == "- \\# h\n"
        assert entry_of("# h", time="09:05").written() == "- 09:05 # h\n"
        assert entry_of("- -").written() == "- \\- -\n"

    def test_what_would_make_the_note_unreadable_is_replaced(self):
        assert entry_of("\ufeffa\0b\ud800c\ud83d\ude00").lines == ("\ufeffa\ufffdb\ufffdc😀",)

    @pytest.mark.parametrize("text", ["", "  ", "\n\t\r\n", "\u2028"])
    def test_nothing_to_remember(self, text):
        with pytest.raises(UsageError, match="there is nothing to remember"):
            entry_of(text)

    @pytest.mark.parametrize(
        ("text", "title"),
        [("People", "People"), ("## People ##", "People"), (" a\n b ", "a b"), ("C#", "C#")],
    )
    def test_a_title_for_a_heading(self, text, title):
        assert heading_of(text) == title

    @pytest.mark.parametrize("text", ["", " ", "#", "## ##", "\n"])
    def test_a_heading_of_nothing(self, text):
        with pytest.raises(UsageError, match="the heading is empty"):
            heading_of(text)


class TestPlace:
    def test_an_empty_note_is_opened(self):
        assert added("") == "# Opening\n\n- new\n"
        assert added("\ufeff") == "\ufeff# Opening\n\n- new\n"
        assert added("", heading="H") == "# Opening\n\n## H\n\n- new\n"

    def test_at_the_end_after_a_newline(self):
        assert added("a\n") == "a\n- new\n"
        assert added("a") == "a\n- new\n"
        assert added("a\r\nb") == "a\r\nb\r\n- new\r\n"
        assert added("\ufeffa") == "\ufeffa\n- new\n"

    def test_a_missing_section_is_made_at_the_end(self):
        assert added("# T\n\n- a\n", heading="H") == "# T\n\n- a\n\n## H\n\n- new\n"
        assert added("# T\n\n- a", heading="H") == "# T\n\n- a\n\n## H\n\n- new\n"
        assert added("# T\n\n", heading="H") == "# T\n\n## H\n\n- new\n"

    def test_at_the_end_of_the_sections_own_text(self):
        old = "# T\n\n## H\n\n- a\n\n### Sub\n\n- b\n\n## Z\n\n- c\n"
        assert added(old, heading="h") == old.replace("- a\n", "- a\n- new\n")
        assert added(old, heading="Sub") == old.replace("- b\n", "- b\n- new\n")
        assert added(old, heading="Z") == f"{old}- new\n"

    def test_in_a_section_without_text(self):
        assert added("## H\n\n## Z\n", heading="H") == "## H\n\n- new\n\n## Z\n"
        assert added("## H\n## Z\n", heading="H") == "## H\n\n- new\n## Z\n"
        assert added("## H\n", heading="H") == added("## H\n\n", heading="H") == "## H\n\n- new\n"
        assert added("## H", heading="H") == "## H\n\n- new\n"
        assert added("\ufeff## H\r\n## Z", heading="H") == "\ufeff## H\r\n\r\n- new\r\n## Z"

    def test_a_heading_in_code_is_none(self):
        old = "```\n## H\n```\n## Z\n"
        assert added(old, heading="H") == f"{old}\n## H\n\n- new\n"

    @pytest.mark.parametrize("heading", [None, "H", "Z", "Sub"])
    @pytest.mark.parametrize(
        "old", ["", "a", "# T\n\n## H\n\n- a\n### Sub\n## Z\n", "## H\r\n", "\ufeff## Z\n\n\n"]
    )
    def test_the_line_is_where_the_entry_stands(self, old, heading):
        place = insertion(old, entry_of("new"), opening="# Opening\n\n", heading=heading)
        assert added(old, heading=heading).split("\n")[place.line - 1].rstrip("\r") == "- new"


class TestStandingAlready:
    @pytest.mark.parametrize(
        "old",
        [
            "- tea",
            "x\n- tea\n",
            "* tea\r\n",
            "+ tea",
            "tea\n",
            "- 09:05 tea\n",
            "- 09:05 tea\n  more\n",
            "\ufefftea",
        ],
    )
    def test_at_whatever_time_and_mark(self, old):
        assert standing_line(old, entry_of("tea", time="10:00")) == old.count("\n", 0, old.index("tea")) + 1

    @pytest.mark.parametrize(
        "old", ["", "- tea time", "- Tea", "  - tea", "# tea", "- 9:05 tea", "green tea"]
    )
    def test_only_the_same_line(self, old):
        assert standing_line(old, entry_of("tea", time="10:00")) is None

    def test_a_time_is_part_of_a_durable_entry(self):
        assert standing_line("- 09:05 tea\n", entry_of("tea")) is None
        assert standing_line("- 09:05 tea\n", entry_of("09:05 tea")) == 1
        assert standing_line("- 10:00 09:05 tea\n", entry_of("09:05 tea", time="11:00")) == 1

    def test_all_lines_must_stand_there(self):
        old = "- 09:05 a\n  b\n- 09:06 a\n  c\n"
        assert standing_line(old, entry_of("a\nc", time="10:00")) == 3
        assert standing_line(old, entry_of("a\nd", time="10:00")) is None


LINES = st.lists(
    st.text(st.sampled_from("#-=`~<!> \tab0:*+_\\|\ufeff\u2028"), max_size=8)
    | st.sampled_from(
        ["```", "~~~", "---", "# h", "<!--", "-->", "- a", "| a |", "> # q", "\t# t", "10:00 a"]
    ),
    max_size=6,
)
OLD = LINES.map("\n".join) | st.text(max_size=30)
TIME = st.sampled_from(["", "09:05"])


@example(old="\n\ufeff", text="a", time="", heading=None)
@given(old=OLD, text=st.text(max_size=20) | LINES.map("\n".join), time=TIME, heading=st.none() | st.just("H"))
def test_nothing_old_is_lost_and_the_entry_is_found_again(old, text, time, heading):
    try:
        entry = entry_of(text, time=time)
    except UsageError:
        return
    place = insertion(old, entry, opening="# Opening\n\n", heading=heading)
    new = old[: place.at] + place.text + old[place.at :]
    assert standing_line(new, entry) is not None
    assert place.text.endswith("\n")
    lines = [line.removesuffix("\r") for line in new.split("\n")]
    assert lines[place.line - 1].startswith("-")
    assert "\0" not in place.text
    place.text.encode()


@given(text=LINES.map("\n".join) | st.text(max_size=30), time=TIME)
def test_an_entry_is_one_bullet_and_no_heading_of_the_note(text, time):
    try:
        written = entry_of(text, time=time).written()
    except UsageError:
        return
    note = f"# Title\n\n- before\n{written}- after\n\n## End\n"
    assert [heading.title for heading in headings(note.split("\n"))] == ["Title", "End"]
    tokens = MarkdownIt().parse(note)
    assert [token.type for token in tokens if token.level == 0 and token.nesting == 1] == [
        "heading_open",
        "bullet_list_open",
        "heading_open",
    ]
    items = [token for token in tokens if token.type == "list_item_open" and token.level == 1]
    assert len(items) == 3
