r"""Silent replies: an answer that says `NO_REPLY` and nothing else is delivered to nobody. Pure.

In any letter case, with spaces, punctuation or Markdown round it, its underscore escaped or not. An answer
that says anything besides is delivered as it stands, the token included.
"""

from __future__ import annotations

from unicodedata import category

TOKEN = "NO_REPLY"  # noqa: S105 - what a model answers

_MARKUP = frozenset("~*_<>^=+|$`")
_LETTERS = TOKEN.lower()
_ESCAPED = _LETTERS.index("_")


def is_silent(text: str) -> bool:
    """Whether an answer is silent: the token alone, or nothing but white space."""
    return not delivered(text).strip()


def delivered(text: str) -> str:
    """What of a whole answer is delivered: all of it, or nothing."""
    silence = SilenceFilter()
    return silence.feed(text) + silence.finish()


class SilenceFilter:
    """The same for an answer that comes in pieces: held back as long as it may still turn out silent.

    Give each piece to `feed` and deliver what it gives; at the end, deliver what `finish` gives.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._matched = 0
        """How many letters of the token have been seen."""
        self._escaping = False
        self._open = False
        """The answer has turned out to be a real one."""

    def feed(self, piece: str) -> str:
        """Take the next piece and give what may be delivered now."""
        if self._open:
            return piece
        self._held.append(piece)
        if all(map(self._goes_on, piece)):
            return ""
        self._open = True
        return self._let_go()

    def finish(self) -> str:
        """The answer is over: what is left to deliver."""
        return self._let_go() if self._matched < len(_LETTERS) else ""

    def _goes_on(self, sign: str) -> bool:
        """Whether the answer may still be silent after this sign."""
        if 0 < self._matched < len(_LETTERS):
            if sign == "\\" and self._matched == _ESCAPED and not self._escaping:
                self._escaping = True
                return True
            if sign.lower() != _LETTERS[self._matched]:
                return False
            self._matched += 1
            return True
        if self._matched == 0 and sign.lower() == _LETTERS[0]:
            self._matched = 1
            return True
        return _is_decoration(sign)

    def _let_go(self) -> str:
        held = "".join(self._held)
        self._held.clear()
        return held


def _is_decoration(sign: str) -> bool:
    return sign.isspace() or sign in _MARKUP or category(sign)[0] in "PZ" or category(sign) in {"Cc", "Cf"}
