"""What an index is made of: the notes of a workspace, the transcripts of an agent, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..tombstones.ledger import Ledger
from ..tombstones.match import NOTHING, Tombstones
from ..transcripts.marks import messages_between
from ..transcripts.names import transcript_name
from ..transcripts.tree import scan_transcripts
from ..values import FileEntry, Source, TreeScan, Value
from ..workspace import Workspace, scan_tree
from .growth import Growth
from .plan import SyncPlan
from .store import IndexedFile, Store

CARRIED_OUT = "forgotten"
"""The note that identifies the tombstones which an index has carried out."""


class SessionSource(Value, frozen=True):
    """The transcripts of an agent as a source of memory."""

    folder: Path
    delta_bytes: int = 0
    delta_messages: int = 0
    """Growth that is worth a pass: either amount suffices, 0 is any growth."""
    secrets: Callable[[], Sequence[str]] = tuple
    """Gives the values in force that are masked in what was said; asked when something is read."""

    def growth(self, stem: str | None) -> Growth:
        """Tells whether enough was added to a transcript; of the one named `stem`, anything is enough."""

        def has_grown(entry: FileEntry, known: IndexedFile) -> bool:
            if not (self.delta_bytes and self.delta_messages):
                return True
            named = transcript_name(entry.path.rpartition("/")[2])
            if entry.size - known.size >= self.delta_bytes or (named and named.stem == stem):
                return True
            added = messages_between(entry.location, known.size, entry.size, enough=self.delta_messages)
            return added >= self.delta_messages

        return has_grown


class Sources(Value, frozen=True):
    """Where the files of an index come from."""

    workspace: Workspace
    notes: bool = True
    sessions: SessionSource | None = None
    ledger: Ledger | None = None
    """What is forgotten, and is left out."""

    def tombstones(self) -> Tombstones:
        """What is forgotten now. Raises StoreError when that cannot be told."""
        return self.ledger.read() if self.ledger else NOTHING

    def scan(self) -> TreeScan:
        """Every file that counts, forgotten ones too. Raises WorkspaceError when the workspace is missing."""
        scan = scan_tree(self.workspace) if self.notes else TreeScan(())
        if self.sessions is None:
            return scan
        said = scan_transcripts(self.sessions.folder)
        return replace(
            scan,
            files=(*scan.files, *said.files),
            failed=(*scan.failed, *said.failed),
            skipped_links=(*scan.skipped_links, *said.skipped_links),
        )


def remembered(
    scan: TreeScan, forgotten: Tombstones, indexed: Mapping[tuple[Source, str], IndexedFile]
) -> TreeScan:
    """A scan without what is forgotten. What is indexed is not: an index carries out tombstones first."""
    if not forgotten:
        return scan
    kept = (
        entry
        for entry in scan.files
        if (entry.source, entry.path) in indexed or not forgets_file(forgotten, entry.source, entry.path)
    )
    return replace(scan, files=tuple(kept))


def forgetting_is_due(store: Store, sources: Sources) -> bool:
    """Whether an index has yet to carry out what is forgotten now."""
    forgotten = sources.tombstones()
    return bool(forgotten) and store.note(CARRIED_OUT) != forgotten.fingerprint


def forgets_file(forgotten: Tombstones, source: Source, path: str) -> bool:
    """Whether a note or a transcript is forgotten as a whole, by its path as results show it."""
    if source != "sessions":
        return forgotten.forgets_path(path)
    named = transcript_name(path.rpartition("/")[2])
    return forgotten.forgets_session(named.stem if named else path) or forgotten.forgets_path(path)


def within_bytes(
    plan: SyncPlan, indexed: Mapping[tuple[Source, str], IndexedFile], most: int
) -> tuple[SyncPlan, int]:
    """The plan with so many new bytes of transcripts at most, and how many transcripts it leaves for later.

    The newest go first: what was just said is what is asked for.
    """
    chosen: set[str] = set()
    room = most
    transcripts = [entry for entry in plan.read if entry.source == "sessions"]
    for entry in sorted(transcripts, key=lambda entry: -entry.mtime_ns):
        known = indexed.get((entry.source, entry.path))
        added = entry.size - known.size if known is not None and entry.size > known.size else entry.size
        if added <= room:
            room -= added
            chosen.add(entry.path)
    kept = tuple(entry for entry in plan.read if entry.source != "sessions" or entry.path in chosen)
    return replace(plan, read=kept), len(plan.read) - len(kept)
