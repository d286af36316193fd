from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_documents import CLUSTERS, FAMILY, documents

from memlane.errors import UsageError
from memlane.markdown import chunk_document, estimate_tokens, is_border, outline
from memlane.values import Chunk

limits = st.integers(32, 450).flatmap(lambda tokens: st.tuples(st.just(tokens), st.integers(0, tokens - 1)))


def new_parts(text: str, chunks: list[Chunk]) -> list[tuple[int, int, int, str]]:
    """Of each chunk: first line, first line not repeated, last line, text that is not repeated.

    Checks on the way that a chunk's text is that of its lines, or a part of its one line.
    """
    lines = text.split("\n")
    parts, last, taken = [], 0, ""
    for chunk in chunks:
        whole = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        if chunk.text == whole:
            first = max(chunk.start_line, last + 1)
            assert first <= chunk.end_line
            parts.append(
                (chunk.start_line, first, chunk.end_line, "\n".join(lines[first - 1 : chunk.end_line]))
            )
            taken = ""
        else:
            assert chunk.start_line == chunk.end_line >= last
            taken = taken if chunk.start_line == last else ""
            before = whole.index(chunk.text, len(taken))
            assert not whole[len(taken) : before].strip()
            taken = whole[:before] + chunk.text
            parts.append((chunk.start_line, chunk.start_line, chunk.end_line, chunk.text))
        last = chunk.end_line
    return parts


def rebuilt(text: str, chunks: list[Chunk]) -> str:
    """The document put together from what is new in each chunk, blank lines between them left empty."""
    lines = [""] * (text.count("\n") + 1)
    for _, first, last, new in new_parts(text, chunks):
        if first == last:
            lines[first - 1] += new
        else:
            lines[first - 1 : last] = new.split("\n")
    return "\n".join(lines)


def without_blanks(text: str) -> str:
    """The text with its blank lines emptied, and without white space a chunk of its own would be made of."""
    return "\n".join("".join(line.split()) for line in text.split("\n"))


@given(documents, limits)
def test_chunks_joined_without_overlap_are_the_document(text, limit):
    tokens, overlap = limit
    chunks = chunk_document(text, tokens=tokens, overlap=overlap)
    joined, lines = rebuilt(text, chunks), text.split("\n")
    assert without_blanks(joined) == without_blanks(text)
    for got, line in zip(joined.split("\n"), lines, strict=True):
        assert got in (line, "") or estimate_tokens(line) > tokens


@given(documents, limits)
def test_no_chunk_is_too_large_blank_or_out_of_order(text, limit):
    tokens, overlap = limit
    chunks = chunk_document(text, tokens=tokens, overlap=overlap)
    for chunk in chunks:
        assert 0 < estimate_tokens(chunk.text) <= tokens
        assert chunk.text.split("\n")[0].strip()
        assert chunk.text.split("\n")[-1].strip()
        assert len(chunk.heading) <= 200
    assert [chunk.end_line for chunk in chunks] == sorted(chunk.end_line for chunk in chunks)
    whole = [(c.start_line, c.end_line, c.text) for c in chunks]
    assert len(whole) == len(set(whole)) or any(
        estimate_tokens(line) > tokens for line in text.split("\n")
    )  # parts of one line may be alike


@given(documents, limits)
def test_overlap_keeps_its_budget_and_its_section(text, limit):
    tokens, overlap = limit
    lines, before = text.split("\n"), 0
    headings = {
        line
        for block in outline(text)
        if block.kind == "heading" and block.depth == 0
        if estimate_tokens("\n".join(lines[block.start - 1 : block.end])) <= tokens
        for line in range(block.start, block.end + 1)
    }
    for start, first, _, new in new_parts(text, chunk_document(text, tokens=tokens, overlap=overlap)):
        repeated = range(start, first)
        if repeated:
            size = estimate_tokens("\n".join(lines[start - 1 : first - 1]).rstrip())
            assert size <= overlap
            assert size <= estimate_tokens(new) + 1
            assert start > before, "the whole of the chunk before is repeated"
            assert not headings & {*repeated, first}
        before = start


@given(documents, limits)
def test_code_and_tables_that_fit_stay_whole(text, limit):
    tokens, overlap = limit
    chunks = chunk_document(text, tokens=tokens, overlap=overlap)
    lines = text.split("\n")
    for block in outline(text):
        source = "\n".join(lines[block.start - 1 : block.end])
        if block.kind in ("fence", "table") and estimate_tokens(source) <= tokens:
            held = [c for c in chunks if c.start_line <= block.start and block.end <= c.end_line]
            assert held or not source.strip()


@given(documents)
def test_blank_lines_before_a_document_move_its_chunks(text):
    if outline(text)[:1] and outline(text)[0].kind == "frontmatter":
        return  # which stands on the first line or is none
    assert [
        (c.start_line - 2, c.end_line - 2, c.text, c.heading) for c in chunk_document("\n \n" + text)
    ] == [(c.start_line, c.end_line, c.text, c.heading) for c in chunk_document(text)]


@given(st.lists(st.sampled_from([*CLUSTERS, "漢", "a"]), min_size=200, max_size=900).map("".join))
def test_parts_of_a_long_line_never_tear_a_character(line):
    chunks = chunk_document(line, tokens=64, overlap=16)
    assert "".join(chunk.text for chunk in chunks) == line
    position = 0
    for chunk in chunks:
        assert is_border(line, position)
        position += len(chunk.text)


@pytest.mark.parametrize("text", ["", "\n", "\n \n\t\n", "\u00a0\n\u2003"])
def test_nothing_to_index(text):
    assert chunk_document(text) == []


def test_a_small_note_is_one_chunk():
    text = "# Trip\n\nFlights are booked.\n\nHotel is not.\n"
    assert chunk_document(text) == [Chunk(1, 5, text.rstrip("\n"), "Trip")]


def person(name: str, word: str) -> str:
    return f"## Person {name}\n\n" + f"{word} " * (200 // (len(word) + 1))


def test_sections_of_some_length_do_not_share_a_chunk():
    text = f"{person('A', 'orchard')}\n\n{person('B', 'violin')}\n"
    first, second = chunk_document(text)
    assert (first.heading, second.heading) == ("Person A", "Person B")
    assert "Person B" not in first.text
    assert "violin" not in first.text
    assert "orchard" not in second.text
    assert (first.start_line, first.end_line, second.start_line, second.end_line) == (1, 3, 5, 7)


def test_one_line_entries_of_a_log_share_chunks():
    entries = [f"## {hour:02}:10\n\nCalled number {hour} about the lease." for hour in range(24)]
    chunks = chunk_document("# 2026-04-10\n\n" + "\n\n".join(entries))
    assert all(estimate_tokens(chunk.text) <= 100 for chunk in chunks)
    assert 3 <= len(chunks) <= 8
    assert chunks[0].text.startswith("# 2026-04-10\n\n## 00:10\n")
    assert [chunk.heading[:13] for chunk in chunks] == ["2026-04-10 > "] * len(chunks)
    assert all(chunk.text.startswith("## ") for chunk in chunks[1:])


def test_a_note_of_tiny_sections_is_one_chunk():
    text = "# A\n## x\none\n## y\ntwo\n# B\n## z\nthree\n### zz\nfour"
    assert chunk_document(text) == [Chunk(1, 10, text, "A > x")]


def test_a_tiny_section_stays_with_its_parent_and_apart_from_others():
    long = "word " * 40
    chunks = chunk_document(f"# A\n\n{long}\n\n## x\n\none\n\n# B\n\n{long}\n\n# C\n\ntwo")
    assert [(c.heading, c.text[-3:]) for c in chunks] == [("A", "one"), ("B", long[-3:]), ("C", "two")]


def test_a_bare_heading_goes_along_with_its_first_subsection():
    long = "word " * 40
    text = f"# Title\n\n## Part\n\n### One\n\n{long}\n\n### Two\n\n{long}"
    chunks = chunk_document(text)
    assert [(c.start_line, c.heading) for c in chunks] == [
        (1, "Title > Part > One"),
        (9, "Title > Part > Two"),
    ]


def test_a_line_of_introduction_goes_along_and_leaves_the_path_to_the_section():
    chunks = chunk_document("# People\n\nAll of them.\n\n" + person("A", "orchard"))
    assert [(c.start_line, c.heading) for c in chunks] == [(1, "People > Person A")]


def test_headings_within_code_and_html_do_not_count():
    text = "# Real\n\n```\n# comment\n```\n\n<!--\n# hidden\n-->\n\nText\n"
    assert [(c.start_line, c.end_line, c.heading) for c in chunk_document(text)] == [(1, 11, "Real")]


def test_the_heading_path_is_plain_text_of_bounded_length():
    (chunk,) = chunk_document("# **Deploy** `api` [guide](http://x/y) [[Page|alias]] a*b\nText")
    assert chunk.heading == "Deploy api guide alias a*b"
    (chunk,) = chunk_document("# " + "long " * 40 + "\n## Sub\nText")
    assert chunk.heading == "long " * 15 + "long… > Sub"
    names = "".join(f"{'#' * level} {str(level) * 70}\n" for level in range(1, 7))
    (chunk,) = chunk_document(names + "Text")
    assert chunk.heading == f"{'1' * 70} > … > {'6' * 70}"
    (chunk,) = chunk_document("# " + FAMILY * 40 + "\nText")
    assert chunk.heading == FAMILY * 15 + "…"


def test_setext_headings_divide_too():
    long = "word " * 40
    chunks = chunk_document(f"First\n=====\n{long}\n\nSecond\n------\n{long}")
    assert [(c.start_line, c.heading) for c in chunks] == [(1, "First"), (5, "First > Second")]


def test_small_frontmatter_is_part_of_the_first_chunk():
    text = "---\ntags: [a]\n---\n# Title\n\nText"
    assert chunk_document(text) == [Chunk(1, 6, text, "Title")]


def test_big_frontmatter_is_a_chunk_of_its_own():
    settings_ = "\n".join(f"setting{n}: some value or other" for n in range(20))
    chunks = chunk_document(f"---\n{settings_}\n---\n# Title\n\nText")
    assert [(c.start_line, c.end_line, c.heading) for c in chunks] == [(1, 22, ""), (23, 25, "Title")]


def test_the_title_in_frontmatter_heads_a_note_without_one():
    long = "word " * 60
    chunks = chunk_document(f"---\ntitle: 'My note'\n---\n{long}\n\n## Part\n\n{long}")
    assert [c.heading for c in chunks] == ["My note", "My note > Part"]
    (chunk,) = chunk_document("---\ntitle: My note\n---\n# Other\ntext")
    assert chunk.heading == "Other"


def test_a_letterhead_between_rules_is_text():
    text = "---\n**LETTERHEAD**\n---\n\nDear all,\n\nthe office moves in May."
    assert chunk_document(text) == [Chunk(1, 7, text, "LETTERHEAD")]


def test_lines_are_counted_by_line_feeds_only():
    text = "# A\n\none\u2028two\x0bthree\x0cfour\rfive\x85six\x00\n\nlast"
    assert chunk_document(text) == [Chunk(1, 5, text, "A")]


def test_a_huge_line_becomes_many_chunks_of_one_line_number():
    text = "# Dump\n\n" + "x" * 50_000 + "\n\nafter"
    chunks = chunk_document(text)
    parts = [chunk for chunk in chunks if (chunk.start_line, chunk.end_line) == (3, 3)]
    assert "".join(part.text for part in parts) == "x" * 50_000
    assert len(parts) == 32
    assert {chunk.heading for chunk in chunks} == {"Dump"}
    assert (chunks[0].text, chunks[-1].text) == ("# Dump", "after")


@pytest.mark.parametrize(
    "text", ["：" * 2000, "\U0001f600" * 2000, FAMILY * 400, "\ud800" * 900, "\u0301" * 3000]
)
def test_lines_without_a_space_end(text):
    chunks = chunk_document(text, tokens=400)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(estimate_tokens(chunk.text) <= 400 for chunk in chunks)


def test_long_sections_are_cut_between_paragraphs_with_overlap():
    paragraph = "\n".join("A line of thirty-nine characters, just so." for _ in range(6))
    text = "# T\n\n" + "\n\n".join([paragraph] * 12)
    chunks = chunk_document(text)
    assert len(chunks) == 3
    for before, chunk in pairwise(chunks):
        repeated = before.end_line - chunk.start_line + 1
        assert 1 <= repeated <= 8  # 80 tokens are seven lines and a blank one
        assert text.split("\n")[before.end_line] == ""  # the cut is between paragraphs
    assert {chunk.heading for chunk in chunks} == {"T"}
    apart = chunk_document(text, overlap=0)
    assert all(b.end_line < c.start_line for b, c in pairwise(apart))


def test_code_that_fits_is_not_cut_for_the_overlap():
    code = "```\n" + "\n".join(f"line_{n} = {n}" for n in range(100)) + "\n```"
    text = "Words before.\n" * 40 + "\n" + code + "\n\n" + "Words after.\n" * 40
    chunks = chunk_document(text, tokens=400)
    assert any(code in chunk.text for chunk in chunks)


def fence(rows: int) -> str:
    return "```\n" + "\n".join(f"row {n:03} of the code" for n in range(rows)) + "\n```"


def test_overlap_stops_at_a_heading():
    text = f"# T\n\n## A\n\nLine one.\n\n{fence(79)}\n\nThe last line of them all."
    first, second, _ = chunk_document(text)
    assert first.text == "# T\n\n## A\n\nLine one."
    assert second.text == "Line one.\n\n" + fence(79)
    assert (first.heading, second.heading) == ("T > A", "T > A")


def test_overlap_does_not_begin_within_code():
    text = fence(60) + "\n\n" + "Words that follow the code.\n" * 30
    first, second = chunk_document(text)
    assert first.text == fence(60)
    assert second.text.startswith("Words")
    assert second.start_line == first.end_line + 2


def test_overlap_is_no_longer_than_what_is_new():
    rows = [f"Line {n:03} of some text." for n in range(74)]
    text = "\n".join(rows) + "\n\n" + "x" * 4000
    chunks = chunk_document(text, overlap=199)
    assert [chunk.end_line for chunk in chunks[:3]] == [chunks[0].end_line, 74, 76]
    new = 74 - chunks[0].end_line
    assert 0 < new < 30
    assert 0 < chunks[0].end_line - chunks[1].start_line + 1 <= new


def test_a_heading_is_not_left_alone_at_the_end():
    text = (
        "# "
        + "A heading of many words " * 3
        + "\n\n"
        + "\n".join(["Words of the paragraph, and more of them."] * 6)
    )
    first, *_ = chunk_document(text, tokens=64, overlap=0)
    assert first.end_line > 3


def test_a_list_is_cut_before_an_item():
    text = "\n".join(f"- item {n} has some words\n  and a second line to go with them" for n in range(60))
    chunks = chunk_document(text, overlap=0)
    assert len(chunks) > 1
    assert all(chunk.text.startswith("- item") for chunk in chunks)


@pytest.mark.parametrize(
    ("tokens", "overlap", "message"),
    [
        (31, 0, "chunking.tokens must be at least 32, not 31"),
        (400, 400, "chunking.overlap must be from 0 to 399 (below chunking.tokens), not 400"),
        (400, -1, "chunking.overlap must be from 0 to 399 (below chunking.tokens), not -1"),
    ],
)
def test_sizes_out_of_range(tokens, overlap, message):
    with pytest.raises(UsageError) as error:
        chunk_document("text", tokens=tokens, overlap=overlap)
    assert str(error.value) == message
