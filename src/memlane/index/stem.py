"""A light stemmer: the same stem for the forms of a word, in English and between related languages. Pure.

Not a grammar: a few endings go, in a fixed order, as long as enough of the word is left. It was measured
against none, Porter and Snowball English on eight data sets: as good as Snowball on English notes and
dialogues, and better across languages, because the endings that English, Spanish and other languages form
their cognates with are folded into one (`nación`, `nation`). Words in other scripts and identifiers with
digits stay as they are.
"""

from __future__ import annotations

import re

_VOWEL = re.compile("[aeiouy]")
_INFLECTION = re.compile("(?:(?<=...)(?:ing|ed|er)|(?<=....)ly)$")
_DERIVATION = re.compile(
    "(?:ization|ation|ator|ment|ness|iti|ion|iv|abl|al|ous|ful|ical|ic|ant|ent|anc|enc|iz|is)$"
)
_DOUBLED = re.compile(r"(.)\1")
_SHORTEST = 4
"""Words below this length stay whole, and derivations leave at least this much."""


def stem(word: str) -> str:
    """The stem of a folded word."""
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    if word.endswith(("cion", "sion", "zion", "xion")):
        word = word[:-4] + "tion"
    found = _INFLECTION.search(word)
    if found and _VOWEL.search(word, 0, found.start()):
        word = word[: found.start()]
    if len(word) > 3:
        word = word.removesuffix("e")
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    found = _DERIVATION.search(word)
    if found and found.start() >= _SHORTEST:
        word = word[: found.start()]
    if len(word) > _SHORTEST and word[-1] in "aeio":
        word = word[:-1]
    return _DOUBLED.sub(r"\1", word)


def _without_plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word if word[-2] in "su" else word[:-1]
