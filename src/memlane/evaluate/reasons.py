"""Why an expected place is not among the first results.

First the note itself: is it one, is it there, could it be indexed. Then the search, asked again by its
ordinary way, only deeper: for everything down to a score of 0, for this one note, without the question's
limits. What the answers say is judged by pure functions.
"""

# Plain strings: paths of notes are text, compared as it stands.
# ruff: noqa: PTH117, PTH118

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from functools import cached_property

from ..errors import PathRefused
from ..values import Explanation, FileEntry, Hit, SearchResult, Status, TreeScan, Value
from ..workspace import Workspace, resolve_readable
from ..workspace.read import read_text, split_lines
from .questions import Question, Target

_DEEPEST = 1000
"""How many results a deeper look asks for; most answers end before, at their limit of characters."""
_DEEPEST_DIVERSE = 100
"""The same where results are made diverse, which takes time in the square."""
_KINDS = "notes are MEMORY.md, the .md files under memory/ and what the extra paths hold"


_TOO_WEAK = "too weak in both legs: "
_TOO_DEEP = "too far down in both legs: "


class Reason(Value, frozen=True):
    """Why a place was missed; `Miss` lists the codes."""

    code: str
    message: str
    rank: int | None = None


class Notes:
    """What is known of the notes: found by the scan, passed over, failed."""

    def __init__(self, workspace: Workspace, scan: TreeScan, status: Callable[[], Status]) -> None:
        """`status` is asked only once a place is missed."""
        self._workspace = workspace
        self._scan = scan
        self._status = status
        self._files: dict[str, FileEntry] = {_composed(entry.path): entry for entry in scan.files}

    def located(self, target: Target) -> Target:
        """The target with its path as results show it: relative, and composed as on disk."""
        path = target.path
        if os.path.isabs(path):
            path = self._workspace.shown(os.path.normpath(path))
        entry = self._files.get(_composed(path))
        return Target(entry.path if entry else path, target.start_line, target.end_line)

    def fault(self, target: Target) -> Reason | None:
        """What is wrong with the note itself; None when it is indexed and has the lines."""
        if (reason := self._failures.get(target.path)) is not None:
            return Reason("failed", f"it could not be indexed: {reason}")
        if _composed(target.path) not in self._files:
            return self._absence(target.path)
        count = self._line_count(target.path)
        if not count:
            return Reason("no_such_lines", "it is empty")
        if target.start_line and target.start_line > count:
            return Reason("no_such_lines", f"it ends at line {count}")
        return None

    @cached_property
    def _failures(self) -> dict[str, str]:
        failed = (*self._scan.failed, *self._status().statistics.failed)
        return {failure.path: failure.reason for failure in failed}

    def _line_count(self, path: str) -> int:
        text = read_text(self._workspace, resolve_readable(self._workspace, path))
        return len(split_lines(text or ""))

    def _absence(self, path: str) -> Reason:
        """Why a path is not among the notes."""
        if any(path == link or path.startswith(f"{link}/") for link in self._scan.skipped_links):
            return Reason("ignored", "it is, or lies behind, a symbolic link, and links are not followed")
        try:
            resolve_readable(self._workspace, path)
        except PathRefused:
            return Reason("not_a_note", _KINDS)
        if os.path.lexists(os.path.join(self._workspace.location, path)):
            return Reason("ignored", "it is there, but passed over when notes are listed")
        from difflib import get_close_matches

        near = get_close_matches(path, [entry.path for entry in self._scan.files], 1, cutoff=0.85)
        return Reason(
            "no_such_file", "nothing is at this path" + (f"; did you mean {near[0]}?" if near else "")
        )


class Deeper:
    """One question, asked again and deeper, as far as the missed places need it."""

    def __init__(self, question: Question, first: SearchResult, ask: Callable[..., SearchResult]) -> None:
        """`first` is the ordinary answer. `ask` searches for the question with further options."""
        self._question = question
        self._first = first
        self._ask = ask
        explained = [hit.explanation for hit in first.hits if hit.explanation]
        diverse = any(one.mmr_penalty is not None for one in explained)
        self._depth = _DEEPEST_DIVERSE if diverse else _DEEPEST

    def reason(self, target: Target) -> Reason:
        """Why the target, a place in an indexed note, is not among the first results."""
        if (rank := reaching(self._kept, target)) is not None:
            return judged(self._first, self._kept.hits[rank - 1], rank)
        if (rank := reaching(self._all, target)) is not None:
            return judged(self._first, self._all.hits[rank - 1], None)
        alone = self._note(target, min_score=0.0)
        if (rank := reaching(alone, target)) is None:
            return self._unseen(target)
        if len(self._all) < self._depth and not self._all.totals.dropped_by_size:
            legs = _legs_text(alone.hits[rank - 1].explanation, ranked=False)
            return Reason("not_a_candidate", _TOO_DEEP + legs)
        if reaching(self._note(target), target) is None:
            legs = _legs_text(alone.hits[rank - 1].explanation, ranked=False)
            return Reason("below_threshold", _TOO_WEAK + legs)
        return Reason("ranked_low", f"it ranks below the first {len(self._kept)} results")

    @cached_property
    def _kept(self) -> SearchResult:
        """Everything over the threshold."""
        return self._ask(self._question, max_results=self._depth)

    @cached_property
    def _all(self) -> SearchResult:
        """Everything that either leg knows of."""
        return self._ask(self._question, max_results=self._depth, min_score=0.0)

    def _note(self, target: Target, **options: float) -> SearchResult:
        return self._ask(self._question, max_results=self._depth, note=target.path, **options)

    def _unseen(self, target: Target) -> Reason:
        """The note gives nothing for this question: its limits leave it out, or nothing in it is alike."""
        limits = [name for name in ("since", "until", "source", "glob") if getattr(self._question, name)]
        if limits:
            free = Question(self._question.text, self._question.targets)
            found = self._ask(free, max_results=self._depth, min_score=0.0, note=target.path)
            if reaching(found, target) is not None:
                return Reason("filtered", f"the question's {' and '.join(limits)} leave it out")
        return Reason("not_a_candidate", _nothing_alike(self._first))


def reaching(result: SearchResult, target: Target) -> int | None:
    """The 1-based rank of the first result on a target. Pure."""
    for rank, hit in enumerate(result.hits, start=1):
        if target.reached_by(hit.path, hit.start_line, hit.end_line):
            return rank
    return None


def judged(first: SearchResult, hit: Hit, rank: int | None) -> Reason:
    """Why a passage is not among the first results, by how it was found in a deeper look. Pure.

    `first` is the ordinary answer; `rank` is the passage's rank over the threshold, None when it is below.
    """
    explanation = hit.explanation or Explanation()
    legs = _legs_text(hit.explanation)
    ranks = (
        (explanation.keyword_rank, first.totals.keyword_candidates),
        (explanation.vector_rank, first.totals.vector_candidates),
    )
    known = [(place, depth) for place, depth in ranks if place is not None]
    if known and all(place > depth for place, depth in known):
        return Reason("not_a_candidate", _TOO_DEEP + legs, rank)
    if rank is None:
        return Reason("below_threshold", _TOO_WEAK + legs)
    return Reason("ranked_low", f"it ranks {rank}, with a score of {hit.score:.2f}: {legs}", rank)


def _legs_text(explanation: Explanation | None, *, ranked: bool = True) -> str:
    """The scores of a passage in the legs. Ranks are left out where they come from a narrower search."""
    parts = []
    explanation = explanation or Explanation()
    for name, rank, score in (
        ("keyword", explanation.keyword_rank, explanation.keyword_score),
        ("vector", explanation.vector_rank, explanation.vector_score),
    ):
        if score is None:
            parts.append(f"{name} none")
        else:
            place = f" (rank {rank})" if rank and ranked else ""
            parts.append(f"{name} {score:.2f}{place}")
    terms = f", words {', '.join(explanation.matched_terms)}" if explanation.matched_terms else ""
    return ", ".join(parts) + terms


def _nothing_alike(first: SearchResult) -> str:
    if first.mode == "keyword":
        return "it has no word in common with the question, and words alone are searched"
    return "neither its words nor its meaning come near the question"


def _composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)
