"""Notes and sessions: files, documents, chunks, what is read and written."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from .base import Value

Source = Literal["memory", "sessions"]
Modality = Literal["image", "audio"]


class SessionKind(StrEnum):
    """What sort of conversation a session is. Anything not recognised is UNKNOWN and treated as shared."""

    MAIN = "main"
    DIRECT = "direct"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"
    SUBAGENT = "subagent"
    CRON = "cron"
    UNKNOWN = "unknown"


class Session(Value, frozen=True):
    """A conversation as far as memory is concerned."""

    key: str
    kind: SessionKind
    private: bool
    """Only the owner is present: MEMORY.md may be shown."""
    channel: str | None = None

    @property
    def is_direct_chat(self) -> bool:
        """One person talks with the agent; citations are shown unless configured otherwise."""
        return self.kind in {SessionKind.MAIN, SessionKind.DIRECT}


class FileEntry(Value, frozen=True):
    """One indexable file as the scan of the tree saw it, unread."""

    path: str
    """As shown in results."""
    location: str
    """Where it lies on disk, absolute."""
    source: Source
    size: int
    mtime_ns: int
    inode: int
    """0 where the system has none."""
    device: int = 0
    day: date | None = None
    """The calendar day in its name, for dated files."""
    curated: bool = False
    """The workspace's MEMORY.md (or memory.md): for private sessions only."""
    evergreen: bool = True
    """False: its age counts for temporal decay (dated by name, or an extra path with `evergreen: false`)."""
    media: Modality | None = None
    """What it is when it is no note: its bytes are embedded, not its text."""


class FileFailure(Value, frozen=True):
    """A file or folder that could not be listed, read or indexed, and why."""

    path: str
    reason: str


class TreeScan(Value, frozen=True):
    """What a walk over the workspace and the extra paths found."""

    files: tuple[FileEntry, ...]
    skipped_links: tuple[str, ...] = ()
    failed: tuple[FileFailure, ...] = ()
    """Folders and files that could not be listed or looked at."""
    missing_roots: tuple[str, ...] = ()
    """Configured extra paths that do not exist (yet)."""
    absent: tuple[str, ...] = ()
    """Where roots should be and nothing is (now), as locations: such extra paths, the `memory` folder."""
    skipped: tuple[FileFailure, ...] = ()
    """Files that would count but are passed over, and why: images and audio that are too large."""


class Document(Value, frozen=True):
    """The text of one file: decoded, without BOM, lines ended by a line feed only."""

    text: str
    digest: str
    """SHA-256 (hex) of `text`, so that CRLF, BOM and LF forms of a note are the same document."""


class Chunk(Value, frozen=True):
    """A passage of a document."""

    start_line: int
    end_line: int
    text: str
    """The very text of the lines (or of a part of one over-long line), without the heading path."""
    heading: str = ""
    """`Title > Section`: prepended to what is embedded and a field of its own in full text."""

    @property
    def embedding_text(self) -> str:
        """What is embedded for this chunk."""
        return embedding_text(self.heading, self.text)


def embedding_text(heading: str, text: str) -> str:
    """What is embedded for a chunk: its heading path, then its text."""
    return f"{heading}\n{text}" if heading else text


class Excerpt(Value, frozen=True):
    """Exact lines of a file (`memory_get`)."""

    path: str
    text: str
    start: int
    """1-based first line of `text`."""
    lines: int
    """How many lines `text` holds."""
    exists: bool
    truncated: bool = False
    next_start: int | None = None
    eof: bool = False
    """`start` lies beyond the last line."""


class Written(Value, frozen=True):
    """What `remember` did."""

    path: str
    line: int
    """1-based line at which the entry stands."""
    added: bool
    """False when the same entry stood there already."""


class ContextPart(Value, frozen=True):
    """One file of a session's opening context, cut at section borders where it was too long."""

    path: str
    text: str
    omitted_headings: tuple[str, ...] = ()
    omitted_characters: int = 0


class SessionContext(Value, frozen=True):
    """What an agent should have in its prompt when a session starts."""

    session_kind: str
    parts: tuple[ContextPart, ...]
    withheld: tuple[str, ...] = ()
    """Files that exist but must not be shown to a session of this kind."""
    text: str = ""
    """The parts, fenced as data, ready for a prompt."""
