from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_documents import documents
from markdown_it import MarkdownIt

from memlane.markdown import Block, outline

KINDS = {
    "heading_open": "heading",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "table_open": "table",
    "paragraph_open": "paragraph",
    "hr": "rule",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
}

# Lines that open, close, continue and interrupt every kind of block. Left out is what markdown-it-py reads
# otherwise than CommonMark does, or than this scanner means to: link definitions (blocks of text here), an
# item as a table's header, an empty item before blank lines, lazy continuation four columns deep.
LINES = [
    "", "", "", "text", "more text", "  cont", "x  ",
    "# H1", "## H2 ##", "   ### H3", "#no", "#", "===", "---", "- - -", "***", "* * *",
    "- item", "* star", "+ plus", "1. one", "2) two", "10. ten", "  - nested", "   - n3", "- a\tb", "-\ttab",
    "    code", "      deep", "\ttab", "-     code", "- # lh", "- ```", "  ```",
    "> quote", ">", "> # qh", "> - ql", "> ```", "> deep", ">     qcode", ">\t\tx", "- > lq",
    "```", "````py", "~~~", "``` a`b", "   ```",
    "<div>", "</div>", "<!-- c", "-->", "<!-- x -->", "<pre>", "</pre>", "<b>", "</b>", "<b> x",
    "<?php", "?>",    "<script>", "</script>", "<![CDATA[", "]]>", "<!D",
    "| a | b |", "|---|---|", "| 1 | 2 |", "a | b", "--- | ---", "-|-", ":-: | :-", "|-", "\\| x", "|",
]  # fmt: skip


def _shape(text, blocks):
    """Kind, lines, depth and level of blocks; trailing lines with nothing but quote marks left out."""
    lines = text.split("\n")
    shape = set()
    for kind, start, end, depth, level in blocks:
        while end > start and not lines[end - 1].strip(" \t>"):
            end -= 1  # noqa: PLW2901
        shape.add((kind, start, end, depth, level))
    return shape


def _ours(text):
    return _shape(text, [(b.kind, b.start, b.end, b.depth, b.level) for b in outline(text)])


def _reference(text):
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
    tokens = []
    parser.block.parse(text, parser, {}, tokens)
    return _shape(
        text,
        [
            (KINDS[t.type], t.map[0] + 1, t.map[1], t.level, int(t.tag[1]) if t.type == "heading_open" else 0)
            for t in tokens
            if t.type in KINDS and t.map
        ],
    )


@given(st.lists(st.sampled_from(LINES), max_size=9).map("\n".join))
def test_blocks_have_the_lines_that_markdown_it_gives_them(text):
    assert _ours(text) == _reference(text)


@given(documents)
def test_blocks_lie_within_the_document_and_within_each_other(text):
    lines = text.split("\n")
    open_blocks: list[Block] = []
    for block in outline(text):
        assert 1 <= block.start <= block.end <= len(lines)
        assert lines[block.start - 1].strip(" \t")
        del open_blocks[block.depth :]
        assert len(open_blocks) == block.depth
        if open_blocks:
            assert open_blocks[-1].start <= block.start
            assert block.end <= open_blocks[-1].end
        open_blocks.append(block)


@given(documents)
def test_every_line_with_text_belongs_to_a_block(text):
    covered = {line for block in outline(text) for line in range(block.start, block.end + 1)}
    missing = [n for n, line in enumerate(text.split("\n"), 1) if line.strip(" \t") and n not in covered]
    assert missing == []


def _headings(text):
    return [(b.start, b.end, b.level, b.title) for b in outline(text) if b.kind == "heading" and b.depth == 0]


def test_headings_have_level_title_and_lines():
    text = "# One #\n\nTwo\nlines\n===\n\n## *Three* ##b\n####### no\n#no\nFour\n---"
    assert _headings(text) == [
        (1, 1, 1, "One"),
        (3, 5, 1, "Two lines"),
        (7, 7, 2, "*Three* ##b"),
        (8, 11, 2, "####### no #no Four"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```",
        "````\n```\n# no\n````",
        "~~~\n# no\n```\n# no",
        "<!--\n# no\n\n# no\n-->",
        "<div>\n# no\n</div>",
        "    # no",
        "> # no",
        "- # no",
        "1. ```\n   # no\n   ```",
        "---\ntitle: x\n# no\n---",
    ],
)
def test_what_is_not_a_heading_of_the_document(text):
    assert _headings(text) == []


def test_headings_go_on_after_what_hides_them():
    assert [h[0] for h in _headings("```\n```\n# a\n<div>\n\n# b\n- x\n  ```\n# c\n> ```\n# d")] == [
        3,
        6,
        9,
        11,
    ]


def test_definitions_of_links_are_no_part_of_a_heading():
    assert _headings('[a]: /u\n[b]: <x y> "t"\nTitle\n===') == [(3, 4, 1, "Title")]
    assert [b.kind for b in outline("[a]: /u\n---")] == ["paragraph", "rule"]


def test_lines_end_at_line_feeds_only():
    text = "a\u2028b\x0bc\x0cd\re\x85f\x00\n# Title\r\n\n```\n\u2029\n```"
    assert [(b.kind, b.start, b.end) for b in outline(text)] == [
        ("paragraph", 1, 1),
        ("heading", 2, 2),
        ("fence", 4, 6),
    ]


def test_a_list_item_that_begins_empty_ends_at_a_blank_line():
    assert [(b.kind, b.start, b.end) for b in outline("-\n\n  text")] == [
        ("list", 1, 1),
        ("item", 1, 1),
        ("paragraph", 3, 3),
    ]


def test_nesting_without_end_stays_shallow():
    for mark in (">", "> ", "- ", "1. "):
        blocks = outline((mark * 20_000 + "x\n") * 3)
        assert max(block.depth for block in blocks) <= 40


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("---\ntitle: A\ntags:\n  - x\n- y\n# comment\n\nkey: [a,\nb]\n---\ntext", 10),
        ("---\na: 1\n...\ntext", 3),
        ("---   \n한국어 키: 값\n---", 3),
        ("+++\ntitle = 'x'\n[table]\n+++\n", 4),
    ],
)
def test_frontmatter(text, end):
    assert outline(text)[0] == Block("frontmatter", 1, end)


@pytest.mark.parametrize(
    "text",
    [
        "---\n**LETTERHEAD**\n---\n\nDear all",
        "---\n---\n",
        "---\n\n---",
        "---\na: 1\n",
        "---\nNote: kept.\n\nText that is no setting\n---",
        "---\nhttp://example.org\n---",
        "\n---\na: 1\n---",
        "----\na: 1\n----",
        "+++\nplain\n+++",
        "",
    ],
)
def test_what_is_not_frontmatter(text):
    assert [block for block in outline(text) if block.kind == "frontmatter"] == []
