"""From a transcript to changes of the index: what is new of it, or all of it, a batch of passages at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import BinaryIO

from msgspec.structs import replace

from ..events import Observer
from ..tombstones.match import NOTHING, Tombstones
from ..transcripts.chunks import TurnChunk, TurnChunker
from ..transcripts.lines import Entries, Entry
from ..transcripts.marks import fingerprint, is_of_this_version
from ..transcripts.sanitize import Sanitizer
from ..transcripts.turns import turn_of
from ..values import FileEntry, FileFailure, Source
from .plan import SyncPlan
from .reader import NoteReader, indexed_chunk
from .store import FailFile, FileChange, IndexedFile, ReplaceLines
from .sync import Chunking

_CHUNKS_A_BATCH = 256


def changes_of(
    plan: SyncPlan,
    notes: NoteReader,
    said: TranscriptReader,
    indexed: Mapping[tuple[Source, str], IndexedFile],
) -> Iterator[tuple[int, FileChange]]:
    """The changes that the files of a plan ask for, notes first, each with how many files that makes."""
    written = [entry for entry in plan.read if entry.source != "sessions"]
    transcripts = [entry for entry in plan.read if entry.source == "sessions"]
    for done, change in enumerate(notes.changes(written), start=1):
        yield done, change
    for done, entry in enumerate(transcripts, start=len(written) + 1):
        for part in said.changes(entry, indexed.get((entry.source, entry.path))):
            yield done, part


class TranscriptReader:
    """Reads transcripts and counts what came of it."""

    def __init__(
        self,
        chunking: Chunking,
        *,
        secrets: Callable[[], Sequence[str]],
        zone: tzinfo | None,
        observer: Observer,
        forgotten: Tombstones = NOTHING,
    ) -> None:
        """`secrets` gives what is masked besides shapes; `zone` says on which day something was said.

        Messages that hold what is `forgotten` are left out.
        """
        self._forgotten = forgotten
        self._chunking = chunking
        self._secrets = secrets
        self._sanitize: Sanitizer | None = None
        self._zone = zone
        self._observer = observer
        self.indexed: list[str] = []
        """Paths of the transcripts of which something was indexed."""
        self.chunks = 0
        self.failed: list[FileFailure] = []

    def changes(self, entry: FileEntry, known: IndexedFile | None) -> Iterator[ReplaceLines | FailFile]:
        """What a transcript asks for, in the order in which it is to be stored."""
        try:
            with open(entry.location, "rb") as file:  # noqa: PTH123 - a plain string
                yield from self._changes(_Reading.of(file, entry, known))
        except FileNotFoundError:
            return  # the next plan removes it
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            self.failed.append(FileFailure(entry.path, reason))
            yield FailFile(replace(entry, mtime_ns=0), reason)

    def _changes(self, reading: _Reading) -> Iterator[ReplaceLines]:
        after = reading.entries.lines
        chunker = TurnChunker(tokens=self._chunking.tokens, overlap=self._chunking.overlap)
        batch: list[TurnChunk] = []
        sanitize = self._sanitize = self._sanitize or Sanitizer(self._secrets())
        last: Entry | None = None
        for last in reading.entries:
            turn = turn_of(last, sanitize)
            if turn is None or self._forgotten.holds(turn.text):
                continue
            batch += chunker.add(turn)
            if len(batch) >= _CHUNKS_A_BATCH:
                mark = chunker.open_turn
                place = (mark.start, mark.line - 1) if mark else (last.end, last.line)
                yield self._change(reading, batch, (after, place[1]), place, whole=False)
                after, batch = place[1], []
        mark = chunker.open_turn
        ended = last is None or reading.ends_line(last.end)
        place = (reading.entries.offset, reading.entries.lines)
        if mark is not None:
            place = (mark.start, mark.line - 1)
        elif last is not None and not ended:
            place = (last.start, last.line - 1)
        batch += chunker.finish()
        yield self._change(reading, batch, (after, None), place, whole=True)
        self.indexed.append(reading.entry.path)
        self._tell_of_broken(reading)

    def _change(
        self,
        reading: _Reading,
        batch: list[TurnChunk],
        lines: tuple[int, int | None],
        place: tuple[int, int],
        *,
        whole: bool,
    ) -> ReplaceLines:
        """Until the reading is whole the time stamp counts as unknown, so that the next pass goes on."""
        self.chunks += len(batch)
        entry = reading.entry if whole else replace(reading.entry, size=place[0], mtime_ns=0)
        return ReplaceLines(
            entry,
            reading.fingerprint(place[0]),
            tuple(
                indexed_chunk(
                    (chunk.start_line, chunk.end_line),
                    chunk.text,
                    chunk.heading,
                    told=self._day(chunk.first),
                    moments=(_milliseconds(chunk.first), _milliseconds(chunk.last)),
                )
                for chunk in batch
            ),
            *lines,
            *place,
        )

    def _day(self, moment: datetime | None) -> str:
        return moment.astimezone(self._zone).date().isoformat() if moment else ""

    def _tell_of_broken(self, reading: _Reading) -> None:
        entries = reading.entries
        if entries.broken:
            many, were = (f"{entries.broken} lines", "were") if entries.broken > 1 else ("1 line", "was")
            named = ", ".join(map(str, entries.first_broken))
            more = ", …" if entries.broken > len(entries.first_broken) else ""
            self._observer.warning(
                f"{reading.entry.path}: {many} could not be read and {were} passed over (line {named}{more})"
            )


class _Reading:
    """One transcript, opened: as long as it is now, from where the last reading ended if that is still so."""

    def __init__(self, file: BinaryIO, entry: FileEntry, known: IndexedFile | None) -> None:
        self._file = file
        self.entry = entry
        start = (known.offset, known.lines) if known is not None and self._continues(known) else (0, 0)
        self.entries = Entries(file, offset=start[0], lines=start[1], stop=entry.size)

    @classmethod
    def of(cls, file: BinaryIO, entry: FileEntry, known: IndexedFile | None) -> _Reading:
        import os

        now = os.fstat(file.fileno())
        seen = replace(entry, size=now.st_size, mtime_ns=now.st_mtime_ns, inode=now.st_ino, device=now.st_dev)
        return cls(file, seen, known)

    def _continues(self, known: IndexedFile) -> bool:
        """Whether what was read of the file still stands there."""
        entry = self.entry
        grown = entry.size > known.size or (entry.size == known.size and not known.mtime_ns)
        same = (entry.device, entry.inode) == (known.device, known.inode)
        if known.failure or not (grown and same and is_of_this_version(known.digest)):
            return False
        return fingerprint(self._file, known.offset) == known.digest

    def fingerprint(self, offset: int) -> str:
        """Identifies what lies before a byte; the file is left where it was."""
        position = self._file.tell()
        mark = fingerprint(self._file, offset)
        self._file.seek(position)
        return mark

    def ends_line(self, end: int) -> bool:
        """Whether a line feed stands before a byte."""
        self._file.seek(end - 1)
        return self._file.read(1) == b"\n"


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
