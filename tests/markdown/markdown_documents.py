"""Documents of every shape for the property tests of the Markdown room."""

from __future__ import annotations

from hypothesis import strategies as st

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WAVE = "\U0001f44b\U0001f3fd"
FLAG = "\U0001f1f0\U0001f1f7"
JAMO = "\u1112\u1161\u11ab"
ACCENTED = "e\u0301\u0323"
CLUSTERS = (FAMILY, WAVE, FLAG, JAMO, ACCENTED, "❤\ufe0f", "1\ufe0f\u20e3", "क्षि")

words = st.sampled_from(
    [
        *("note", "budget", "naïve", "Привет", "部署方案", "しりとり", "게임을", "：", "a828e60"),
        *("x\u2028y", "p\x0bq", "f\x0cg", "r\rs", "n\x85m", "\x00", "\ud800", "\u00a0"),
        *("**bold**", "[[link]]", "$", "|"),
        *CLUSTERS,
    ]
)
sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)
solid = st.lists(words, min_size=1, max_size=60).map("".join)
repeated = st.sampled_from(["x", "：", " ", "word ", "終わり。", *CLUSTERS])
huge = st.builds(lambda text, times: text * times, repeated, st.integers(1, 900))
lines = st.one_of(sentences, sentences, sentences, solid, huge)

blanks = st.sampled_from(["", "\n", "   ", "\t\n\n", "\u00a0"])
paragraphs = st.lists(lines, min_size=1, max_size=6).map("\n".join)
headings = st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 6), sentences)
setext = st.builds(lambda text, mark: text + "\n" + mark, paragraphs, st.sampled_from(["===", "---"]))
fences = st.builds(
    lambda mark, body, end: "\n".join([mark + "py", *body, *([mark] if end else [])]),
    st.sampled_from(["```", "~~~~"]),
    st.lists(st.one_of(lines, st.sampled_from(["# no heading", "", "| a | b |", "--- | ---"])), max_size=30),
    st.booleans(),
)
tables = st.lists(st.tuples(sentences, words), max_size=30).map(
    lambda rows: "\n".join(
        ["| a | b |", "|---|---|", *(f"| {a} | {b} |".replace("\n", " ") for a, b in rows)]
    )
)
lists = st.lists(
    st.builds(lambda indent, mark, text: " " * indent + mark + " " + text,
              st.sampled_from([0, 0, 2, 4]), st.sampled_from(["-", "*", "1.", "2)", "- [ ]"]), sentences),
    min_size=1, max_size=30,
).map("\n".join)  # fmt: skip
quotes = paragraphs.map(lambda text: "> " + text.replace("\n", "\n> "))
html = st.sampled_from(
    ["<div>\n# no heading\n</div>", "<!--\n\n# no heading\n\n-->", "<pre>\n\n\nx\n</pre>", "<!-- open"]
)
blocks = st.one_of(paragraphs, headings, headings, setext, fences, tables, lists, quotes, html, blanks)
frontmatters = st.sampled_from(
    [
        *("", "", "---\n", "---\n**LETTERHEAD**\n---\n"),
        *("---\ntitle: A note\ntags: [a, b]\n---\n", "+++\nx = 1\n+++\n"),
        "---\n" + "\n".join(f"key{n}: some value or other" for n in range(200)) + "\n---\n",
    ]
)

structured = st.builds(
    lambda front, parts, gap: front + gap.join(parts),
    frontmatters,
    st.lists(blocks, max_size=14),
    st.sampled_from(["\n\n", "\n", "\n\n\n\n"]),
)
scrambled = st.text(
    alphabet=st.sampled_from([*"#-=`~>|* \t\n\n\nab1.<!漢한", "\ud83d", "\U0001f468", "\u200d"]), max_size=400
)
documents = st.one_of(structured, structured, structured, scrambled, st.text(max_size=200)).map(
    lambda text: text.replace("\r\n", "\n")
)
