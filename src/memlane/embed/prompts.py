"""What embedding models want before a text: many were trained with words that say what it is.

Left out, or swapped, they cost such a model quality, and nothing else shows it. A model is known by the names
it goes by; one that none of the rows fits gets texts as they are.
"""

from __future__ import annotations

import re

from ..values import Value

VERSION = 1
"""Raised when a row changes: vectors that were made with other words cannot be compared."""


class Prompts(Value, frozen=True):
    """What goes before the texts of one model."""

    query: str = ""
    document: str = ""


_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_SENTENCE = Prompts("Represent this sentence for searching relevant passages: ")

_ROWS = (
    (r"embedding.?gemma|gemma.?embedding", Prompts("task: search result | query: ", "title: none | text: ")),
    (r"arctic.?embed.*v2", Prompts("query: ")),
    (r"arctic.?embed|mxbai.?embed|bge.(small|base|large).en", _SENTENCE),
    (r"qwen3.?embed", Prompts(_TASK)),
    (r"\be5\b.*(instruct|mistral)", Prompts(f"{_TASK} ")),
    (r"\be5\b", Prompts("query: ", "passage: ")),
    (r"nomic.?embed.?text|modernbert.?embed|nomic.?bert", Prompts("search_query: ", "search_document: ")),
)
"""As the models' cards say; the first row that fits counts."""


def prompts_for(*names: str) -> Prompts:
    """The prompts of a model that goes by these names: its own, its file's, its architecture's."""
    known_as = re.sub(r"[_/]", "-", " ".join(names)).lower()  # an underscore would hide the border of a word
    return next((prompts for row, prompts in _ROWS if re.search(row, known_as)), Prompts())
