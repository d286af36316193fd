"""What is asked to be forgotten, what goes for it, and what went. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from ..errors import UsageError
from ..tombstones.match import mark_of
from ..tombstones.values import Tombstone, TombstoneKind, digest_of, folded, id_of
from ..values import Value

SHORTEST = 2
_PREVIEW = 400
"""Characters of an entry that a dry run shows."""


class Request(Value, frozen=True):
    """What is to be forgotten: one of phrase, path and session."""

    phrase: str | None = None
    path: str | None = None
    session: str | None = None
    notes: bool = False
    """Change the Markdown too."""
    transcripts: bool = False
    """Change the transcripts too."""

    @property
    def kind(self) -> TombstoneKind:
        """Which of the three it is. Raises UsageError unless it is just one, and something."""
        given: list[TombstoneKind] = []
        if self.phrase is not None:
            given.append("phrase")
        if self.path is not None:
            given.append("path")
        if self.session is not None:
            given.append("session")
        if len(given) != 1:
            raise UsageError(
                "say one thing that is to be forgotten",
                hint="a phrase, or the path of a note, or a session",
            )
        return given[0]


class Place(Value, frozen=True):
    """Lines that hold it."""

    path: str
    start_line: int
    end_line: int
    text: str = ""
    """In a dry run: what stands there."""
    changed: bool = False
    """The file itself is changed, or was."""


class WholeFile(Value, frozen=True):
    """A note or transcript that is forgotten as a whole."""

    path: str
    deleted: bool = False
    """The file itself is deleted, or was."""


class Derived(Value, frozen=True):
    """What was derived and went. Counts."""

    files: int = 0
    """Files that are no longer indexed."""
    chunks: int = 0
    vectors: int = 0
    cached: int = 0
    """Embeddings in the cache, those of texts that are no longer indexed among them."""
    half_built: int = 0
    """Indexes that were being built."""
    swept: tuple[str, ...] = ()
    """Files of Memlane's own: damaged ones that were set aside, pieces that waited to be saved, leftovers."""


class Forgetting(Value, frozen=True):
    """What goes, or what went."""

    agent: str
    kind: TombstoneKind
    status: Literal["planned", "done", "incomplete"]
    tombstone: str | None = None
    """Its id, once there is one."""
    places: tuple[Place, ...] = ()
    files: tuple[WholeFile, ...] = ()
    sessions: tuple[str, ...] = ()
    """Keys that were taken out of sessions.json."""
    derived: Derived = Derived()
    remaining: tuple[str, ...] = ()
    """Files of Memlane's own in which the phrase still stands; empty when all is well."""
    warning: str | None = None
    """What could not be done, files that were to be changed and cannot be read among it."""


class TombstoneInfo(Value, frozen=True):
    """A tombstone as it is shown. What it stands for nobody can tell."""

    id: str
    kind: TombstoneKind
    made_at: str
    length: int
    """Of a phrase, in characters."""


def tombstone_for(
    key: bytes, kind: TombstoneKind, what: str, *, made_at: str, text: str | None = None
) -> Tombstone:
    """The tombstone for a phrase, the path of a note (and its whole text), or the name of a transcript."""
    wanted = folded(what) if kind == "phrase" else what
    digest = digest_of(key, kind, wanted)
    return Tombstone(
        id_of(digest),
        kind,
        digest,
        made_at,
        length=len(wanted) if kind == "phrase" else 0,
        mark=mark_of(key, wanted) if kind == "phrase" else 0,
        text="" if not text or not text.strip() else digest_of(key, "text", text),
    )


def with_stone(stones: Sequence[Tombstone], new: Tombstone) -> list[Tombstone]:
    """The tombstones with one more, at the end; one for the same thing goes."""
    others = [stone for stone in stones if (stone.kind, stone.digest) != (new.kind, new.digest)]
    from msgspec.structs import replace

    return [*others, replace(new, id=id_of(new.digest, others))]


def checked_phrase(phrase: str) -> str:
    """The phrase. Raises UsageError for one that would match nearly everything."""
    if len(folded(phrase)) < SHORTEST:
        raise UsageError(
            f"a phrase has at least {SHORTEST} characters", hint="a shorter one would stand nearly everywhere"
        )
    return phrase


def found_by(stones: Iterable[Tombstone], wanted: str) -> Tombstone:
    """The tombstone that an id, or the beginning of one, names. Raises UsageError."""
    found = [stone for stone in stones if wanted and stone.digest.startswith(wanted.lower())]
    if len(found) != 1:
        which = "names several tombstones" if found else "names no tombstone"
        raise UsageError(f"{wanted!r} {which}", hint="memlane forget --list shows them")
    return found[0]


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Line numbers as runs of neighbours, first and last."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def preview(lines: Sequence[str]) -> str:
    """The text of an entry for a dry run."""
    text = "\n".join(lines).strip("\n")
    return text if len(text) <= _PREVIEW else text[:_PREVIEW] + "…"
