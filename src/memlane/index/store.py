"""What the rest of Memlane asks of an index store, and the values that cross that border.

A *generation* is one complete set of files, chunks and full text, made under one layout (how texts are
cut and analysed). A *space* is the set of vectors of one generation made by one embedding model. A new
generation or space is built beside the current one, which goes on answering until the new one is promoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Protocol

from ..embed.base import NoVector, Vector
from ..markdown import estimate_tokens
from ..values import (
    FileEntry,
    FileFailure,
    Filters,
    Modality,
    Source,
    StoreStatistics,
    Value,
    embedding_text,
)


class Generation(Value, frozen=True):
    """A set of files, chunks and full text under one layout."""

    id: int
    layout: str
    current: bool
    complete: bool
    """A whole pass over the tree has gone into it."""


class Space(Value, frozen=True):
    """The vectors of a generation made by one model."""

    id: int
    generation: int
    identity: str
    dimensions: int | None
    """None until the first vector is stored."""
    current: bool
    complete: bool


class IndexedFile(Value, frozen=True):
    """What the index knows of a file: enough to see whether it changed without reading it."""

    path: str
    source: Source
    digest: str
    """Empty when the file failed."""
    size: int
    mtime_ns: int
    inode: int
    device: int
    location: str
    day: str | None
    """ISO date."""
    curated: bool
    evergreen: bool
    failure: str | None = None
    media: Modality | None = None
    offset: int = 0
    """Of a transcript: the byte from which reading goes on; what lies before is settled."""
    lines: int = 0
    """How many lines lie before `offset`."""


class IndexedChunk(Value, frozen=True):
    """A chunk ready to be stored: lines, text, and its analysed terms."""

    start_line: int
    end_line: int
    text: str
    heading: str
    digest: bytes
    """Of what is embedded (16 bytes)."""
    heading_terms: str
    """Terms joined by spaces."""
    body_terms: str
    pieces: bytes = b""
    """The pieces of the text in the embedded model's vocabulary, packed; for late interaction."""
    first_at: int | None = None
    """When its first turn was said, in milliseconds since 1970; for transcripts."""
    last_at: int | None = None


class ReplaceFile(Value, frozen=True):
    """Store a file's chunks in place of what was there."""

    entry: FileEntry
    digest: str
    chunks: tuple[IndexedChunk, ...]


class ReplaceLines(Value, frozen=True):
    """Store chunks in place of those that begin between two lines of a transcript; the others stay."""

    entry: FileEntry
    digest: str
    """Of what lies before `offset` (`transcripts.marks`)."""
    chunks: tuple[IndexedChunk, ...]
    after: int
    """Chunks that begin after this line go …"""
    until: int | None
    """… up to this one; None: to the end."""
    offset: int
    lines: int
    """As of `IndexedFile`, from now on."""


class MoveFile(Value, frozen=True):
    """The file has another name, and is the same."""

    path: str
    """The one it had."""
    entry: FileEntry


class RefreshFile(Value, frozen=True):
    """The file was touched or moved on disk but its text is the same.

    Of images and audio, what the provider refused is asked for again.
    """

    entry: FileEntry
    digest: str


class FailFile(Value, frozen=True):
    """The file cannot be indexed; whatever was indexed of it goes."""

    entry: FileEntry
    reason: str


class RemoveFile(Value, frozen=True):
    """The file is gone."""

    path: str
    source: Source


FileChange = ReplaceFile | ReplaceLines | RefreshFile | MoveFile | FailFile | RemoveFile


def may_lack_vectors(change: FileChange) -> bool:
    """Whether there may be chunks without a vector after a change."""
    match change:
        case ReplaceFile() | ReplaceLines():
            return True
        case RefreshFile(entry):
            return entry.media is not None
    return False


class UnembeddedChunk(Value, frozen=True):
    """A chunk that has no vector in a space yet."""

    chunk: int
    digest: bytes
    heading: str
    text: str
    location: str = ""
    """Of its file."""
    media: Modality | None = None
    """What its file is when it is no note: then the bytes of the file are embedded."""
    size: int = 0
    """Bytes of its file, as it was when it was read."""

    def within(self, tokens: int) -> str:
        """What is to be embedded: heading path and text, or the text alone where both would be too long."""
        whole = embedding_text(self.heading, self.text)
        return whole if estimate_tokens(whole) <= tokens else self.text


class WaitingChunk(Value, frozen=True):
    """A chunk without a vector, and the file it stands in."""

    source: Source
    path: str
    chunk: UnembeddedChunk


class KeywordCandidate(Value, frozen=True):
    """A chunk found by the keyword leg."""

    chunk: int
    bm25: float
    """Positive; bigger is better."""
    matched: tuple[int, ...]
    """Which of the query's terms it holds, as indexes."""


class VectorCandidate(Value, frozen=True):
    """A chunk found by the vector leg."""

    chunk: int
    cosine: float


class Passage(Value, frozen=True):
    """A stored chunk with all that ranking and showing need."""

    chunk: int
    path: str
    location: str
    source: Source
    start_line: int
    end_line: int
    heading: str
    text: str
    day: date | None
    evergreen: bool
    mtime_ns: int
    media: Modality | None = None
    first_at: int | None = None
    """When the first turn was said, in milliseconds since 1970; None for notes."""
    last_at: int | None = None


class Store(Protocol):
    """An index. Every method is one short transaction; none waits for a network.

    All methods raise StoreError (StoreBusy, StoreCorrupt) and nothing else.
    """

    @property
    def path(self) -> Path:
        """The file it is kept in; its writer's lock lies beside it."""
        ...

    # -- reading -----------------------------------------------------------------------------------

    def current_generation(self) -> Generation | None:
        """The generation that answers queries; None on a fresh store."""
        ...

    def current_space(self) -> Space | None:
        """The vectors that answer queries; None when there are none yet."""
        ...

    def keyword_candidates(
        self, terms: Sequence[str], *, limit: int, filters: Filters
    ) -> list[KeywordCandidate]:
        """The chunks that match any of the terms, best BM25 first."""
        ...

    def term_frequencies(self, terms: Sequence[str]) -> tuple[list[int], int]:
        """In how many chunks each term occurs, and how many chunks there are."""
        ...

    def vector_candidates(self, query: Vector, *, limit: int, filters: Filters) -> list[VectorCandidate]:
        """The chunks of the current space nearest to the query, best first."""
        ...

    def cosines(self, query: Vector, chunks: Sequence[int]) -> dict[int, float]:
        """The cosine of these chunks with the query, where they have a vector."""
        ...

    def pieces(self, chunks: Sequence[int]) -> dict[int, bytes]:
        """The packed vocabulary pieces of these chunks."""
        ...

    def passages(self, chunks: Sequence[int]) -> dict[int, Passage]:
        """The stored chunks with these ids; ids that are gone are left out."""
        ...

    def has_source(self, source: Source) -> bool:
        """Whether there is a file of this source among what answers queries."""
        ...

    def chunk_count(self) -> int:
        """How many chunks answer queries: cheap, where `statistics` looks at every vector."""
        ...

    def statistics(self) -> StoreStatistics:
        """Counts of what answers queries."""
        ...

    def refused_media(self) -> list[FileFailure]:
        """The images and audio files that have no vector in the current space, and why."""
        ...

    def find_space(self, generation: Generation, identity: str) -> Space | None:
        """The generation's vectors of this identity, complete or not."""
        ...

    def has_leftovers(self, *, keep: Sequence[str] = ()) -> bool:
        """Whether a build was left unfinished, or something replaced was not dropped.

        Spaces of the current generation whose identities are in `keep` are no leftovers.
        """
        ...

    def note(self, key: str) -> str | None:
        """A small fact kept beside the index, such as the time of the last pass."""
        ...

    # -- writing -----------------------------------------------------------------------------------

    def target_generation(self, layout: str, *, anew: bool = False) -> Generation:
        """The generation to write to: the current one when it has this layout, else one built beside it.

        `anew` builds one beside it in any case.
        """
        ...

    def target_space(
        self, generation: Generation, identity: str, *, keep: Sequence[str] = (), behind: bool = False
    ) -> Space:
        """The space to write to: the generation's own when it has this identity, else a new one.

        A new one takes the place of half-filled ones, except of those whose identities are in `keep`. The
        first one answers queries while it is being filled, unless it is to be filled `behind` another.
        """
        ...

    def empty_space(self, space: Space) -> Space:
        """Forget the vectors of a space and their length: the model answers others now. Gives it as it is."""
        ...

    def indexed_files(self, generation: Generation) -> dict[tuple[Source, str], IndexedFile]:
        """What a generation knows of every file."""
        ...

    def digests_of(self, generation: Generation, files: Sequence[RemoveFile]) -> list[bytes]:
        """The texts, by digest, that these files hold and no other does."""
        ...

    def apply(self, generation: Generation, changes: Sequence[FileChange]) -> None:
        """Make changes to files, all or none. Vectors of chunks whose text did not change are kept."""
        ...

    def unembedded(self, space: Space, *, after: int, limit: int) -> list[UnembeddedChunk]:
        """The next chunks without a vector in this space, by id."""
        ...

    def unembedded_count(self, space: Space) -> int:
        """How many chunks have no vector in this space yet."""
        ...

    def waiting(
        self, generation: Generation, space: Space | None, *, after: int, limit: int
    ) -> list[WaitingChunk]:
        """The next chunks of a generation without a vector in this space, by id; without a space, all."""
        ...

    def known_vectors(
        self, identity: str, digests: Sequence[bytes], *, only: Space | None = None
    ) -> dict[bytes, Vector]:
        """Vectors that the spaces of this identity, or `only` one of them, hold for these texts."""
        ...

    def digests(self) -> set[bytes]:
        """The digests of all texts that are indexed."""
        ...

    def put_vectors(self, space: Space, vectors: Iterable[tuple[int, Vector | NoVector]]) -> None:
        """Store vectors by chunk. Chunks that have gone meanwhile are passed over."""
        ...

    def promote(self, generation: Generation, space: Space | None, *, keep: Sequence[str] = ()) -> None:
        """Let these answer queries from now on, as complete, and drop all others.

        Without a space the generation's own spaces stay as they are. Spaces of the generation whose
        identities are in `keep` stay to be filled behind this one.
        """
        ...

    def put_note(self, key: str, value: str) -> None:
        """Keep a small fact beside the index."""
        ...

    def settle(self) -> None:
        """A pass is over: what was written is whole."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
