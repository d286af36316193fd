"""A query as the words that phrases of time are made of. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Mapping

Word = tuple[str, int, int]
"""A folded word (or number), and where it starts and ends in the text. A border is the word `""`."""

BORDER = ""
DATE = "\ue000"
"""Stands for every character of a date in numbers, which is read before anything else."""

_ALIKE = str.maketrans("ёı週個兩號後來禮這幾過間ｹヵ" + DATE, "еi周个两号后来礼这几过间ケカ ")
# Patterns are left for `re` to compile and keep when a query first needs them.
_PIECE = rf"{DATE}+|\d+|[^\W\d_]+"
_HAN_NUMBER = "[〇零一二三四五六七八九十百两]*"
_HAN_DIGITS = dict(zip("〇零一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_UNSPACED_FROM = "\u2e80"
"""The scripts without spaces, and Hangul, begin here."""
_HANGUL = "[\uac00-\ud7a3]*"
_KOREAN_TAIL = (
    "(?:쯤|경|께|간|초|말|중|도|자)?(?:에게?|에는?|엔|에도|에서는?|의|은|는|이|가|을|를|부터|까지|도|만|로|와|과|랑|"
    "이나|이라|라는|인가요?|인데|였던?|이었던?|한테|보다|처럼|마다|이후|이전)?"
)
"""Particles behind a word of time. What has any other ending is another word: `오늘날`, `전체`."""
_ORDINALS = frozenset({"st", "nd", "rd", "th", "er", "o", "го", "е"})
ORDINAL_LETTERS = "".join(_ORDINALS)
_GLUE = frozenset("._/\\@#:=+~$%&|<>")
"""Signs that hold identifiers, paths, addresses and times together."""
_OPENING = frozenset("_/\\@#$~")
"""Signs that make what follows a name: `#today`, `/march`, `@august`."""


class _Folded(dict[int, str]):
    """One character for one: lower case, without accent or width, traditional Han as simplified."""

    def __missing__(self, code: int) -> str:
        sign = unicodedata.normalize("NFKC", chr(code)).lower()
        if len(sign) != 1:
            sign = chr(code)
        if sign < "\u0400" or "\u1e00" <= sign < "\u2000":
            sign = unicodedata.normalize("NFD", sign)[0]
        self[code] = folded = sign.translate(_ALIKE)
        return folded


_FOLDED = _Folded()


def folded(text: str) -> str:
    """The text as words are compared, in as many characters."""
    return text.lower() if text.isascii() else text.translate(_FOLDED)


def words(text: str, known: Mapping[str, object], longest: int) -> list[Word]:
    """The words of a folded text.

    Args:
        text: folded, with dates in numbers written over by `DATE`.
        known: the pieces to cut from scripts without spaces.
        longest: the length of the longest of them; 0 leaves such scripts uncut.
    """
    found: list[Word] = []
    end = 0
    for match in re.finditer(_PIECE, text):
        start = match.start()
        gap = text[end:start]
        piece = match[0]
        held = _is_glue(gap, piece) or (gap == "," and text[end - 1 : end].isdecimal() and piece.isdecimal())
        if held and found and found[-1][0][:1] != DATE:
            found[-1] = (BORDER, end, end)
        if (held or gap[-1:] in _OPENING) and piece[0] != DATE:
            piece = BORDER
        elif gap and not _joins(gap, found, piece):
            found.append((BORDER, end, end))
        end = match.end()
        if longest and piece and piece[0] != DATE and max(piece) >= _UNSPACED_FROM:
            found += _cut(piece, start, known, longest)
        elif piece in _ORDINALS and found and found[-1][2] == start and found[-1][0].isdecimal():
            found[-1] = (found[-1][0] + piece, found[-1][1], end)
        elif _is_one_name(found, start, piece):
            found[-1] = (BORDER, start, end)
        else:
            found.append((piece, start, end))
    return found


def _is_glue(gap: str, piece: str) -> bool:
    """Whether a gap between two pieces is one inside an identifier, a path, an address or a time."""
    return bool(gap) and _GLUE.issuperset(gap) and piece[0] < _UNSPACED_FROM


def _joins(gap: str, found: list[Word], following: str) -> bool:
    """Whether a phrase may go on over a gap: spaces, hyphens, and stops that belong to dates."""
    sign = gap.strip()
    if not sign:
        return "\n\n" not in gap
    last = found[-1][0].rstrip(ORDINAL_LETTERS) if found else ""
    if sign in {"'", "’"}:
        return True
    if sign == "-":
        return last.isdecimal() or not following.isdecimal() or len(following) == 4
    if sign in {",", "."}:
        return last.isdecimal() or (following.isdecimal() and len(last) <= (9 if sign == "," else 4))
    return False


def _is_one_name(found: list[Word], start: int, piece: str) -> bool:
    """Whether digits and letters that touch make an identifier: `3D`, `h2o`, `may2`."""
    if not found or found[-1][2] != start or found[-1][1] == start:
        return False
    last = found[-1][0]
    if not (last and piece):
        return True
    if DATE in {last[0], piece[0]}:
        return False
    return max(last[0], piece[0]) < _UNSPACED_FROM


def _cut(run: str, start: int, known: Mapping[str, object], longest: int) -> Iterator[Word]:
    """The known pieces of a run, the longest at each place; what lies between as single characters.

    Korean is cut from the beginning of a word only, and only where particles alone follow.
    """
    index = len(_beginning(_HANGUL, run))
    yield from _cut_korean(run[:index], start, known, longest)
    while index < len(run):
        number = _beginning(_HAN_NUMBER, run[index:])
        piece = longest_known(run, index, known, longest)
        length = max(len(piece), len(number), 1)
        word = piece if len(piece) == length else str(han_number(number)) if number else run[index]
        yield word, start + index, start + index + length
        index += length


def _beginning(pattern: str, text: str) -> str:
    match = re.match(pattern, text)
    return match[0] if match else ""


def _cut_korean(run: str, start: int, known: Container[str], longest: int) -> Iterator[Word]:
    index = 0
    pieces: list[Word] = []
    while piece := longest_known(run, index, known, longest):
        pieces.append((piece, start + index, start + index + len(piece)))
        index += len(piece)
    while pieces and not re.fullmatch(_KOREAN_TAIL, run[index:]):
        _, first, _ = pieces.pop()
        index = first - start
        if not pieces:
            break
    yield from pieces
    if index < len(run):
        yield run[index:], start + index, start + len(run)


def longest_known(run: str, index: int, known: Container[str], longest: int) -> str:
    """The longest known piece at a place of a run, or nothing."""
    for length in range(min(longest, len(run) - index), 0, -1):
        if run[index : index + length] in known:
            return run[index : index + length]
    return ""


def han_number(signs: str) -> int:
    """The number Han numerals stand for: 三, 十二, 二十三, 二〇二三."""
    if not set(signs) & set("十百"):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in signs))
    total = digit = 0
    for sign in signs:
        if sign in "十百":
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
        else:
            digit = _HAN_DIGITS[sign]
    return total + digit
