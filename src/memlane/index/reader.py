"""From files to changes of the index: read, compare by digest, chunk, analyse."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from time import sleep

from msgspec.structs import replace

from ..disk import wait_past
from ..embed.bundled import packaged_model
from ..embed.likeness import pack_pieces
from ..errors import ProviderUnavailable
from ..markdown import chunk_document
from ..tombstones.match import NOTHING, Tombstones
from ..values import FileEntry, FileFailure, Modality, Source, embedding_text
from ..workspace import UnreadableNote, inspect_media, media_text, read_document
from .analyze import analyze
from .identity import media_digest, text_digest
from .store import FailFile, IndexedChunk, IndexedFile, RefreshFile, ReplaceFile
from .sync import Chunking

_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each new attempt at a file that keeps changing while it is read."""

FILES_NAMED = 20
"""How many of the files that changed a report names."""

_Change = ReplaceFile | RefreshFile | FailFile


class NoteReader:
    """Reads files and counts what came of it. One bad file is recorded and never stops the others."""

    def __init__(
        self,
        chunking: Chunking,
        indexed: Mapping[tuple[Source, str], IndexedFile],
        forgotten: Tombstones = NOTHING,
    ) -> None:
        """What is `forgotten` of a note is read as empty lines."""
        self._chunking = chunking
        self._known = indexed
        self._forgotten = forgotten
        self.files_read = 0
        self.indexed = 0
        self.refreshed = 0
        self.chunks = 0
        self.failed: list[FileFailure] = []
        self.named: list[str] = []
        """Paths of the first files that were indexed."""

    def changes(self, entries: Iterable[FileEntry]) -> Iterator[_Change]:
        """The change each file asks for; files that changed while they were read come last."""
        restless: list[FileEntry] = []
        for entry in entries:
            change = self._change(entry)
            if change is not None and (isinstance(change, FailFile) or _restat(entry) == entry):
                yield self._counted(change)
            else:
                restless.append(entry)
        for entry in restless:
            change = self._settled_change(entry)
            if change is not None:
                yield self._counted(change)

    def _settled_change(self, entry: FileEntry) -> _Change | None:
        """The change of a file that keeps changing, once it rests; None when it is gone.

        If it never rests it is taken as it is at last, with its time stamp stored as unknown, so that the
        next pass reads it again.
        """
        change = None
        for pause in _PAUSES:
            sleep(pause)
            fresh = _restat(entry)
            if fresh is None:
                return None  # the next plan removes it
            change = self._change(fresh)
            if change is not None and _restat(fresh) == fresh:
                return change
        return change and replace(change, entry=replace(change.entry, mtime_ns=0))

    def _change(self, entry: FileEntry) -> _Change | None:
        """What a file's text asks for now; None when the file is no longer there."""
        wait_past(entry.mtime_ns)
        self.files_read += 1
        try:
            digest, chunks = self._read(entry)
        except UnreadableNote as error:
            if _restat(entry) is None:
                return None
            # Permissions may change without a time stamp: such a file is tried again in every pass.
            retried = isinstance(error.__cause__, OSError)
            return FailFile(replace(entry, mtime_ns=0) if retried else entry, error.reason)
        known = self._known.get((entry.source, entry.path))
        if known and known.digest == digest:
            return RefreshFile(entry, digest)
        return ReplaceFile(entry, digest, tuple(chunks))

    def _read(self, entry: FileEntry) -> tuple[str, Iterable[IndexedChunk]]:
        """The digest of what stands in a file, and its chunks. Raises UnreadableNote."""
        name = entry.path.rpartition("/")[2].rpartition(".")[0]
        if entry.media is not None:
            media = inspect_media(entry.location, entry.media)
            return media.digest, (_media_chunk(entry.media, entry.path, name, media.digest),)
        document = read_document(entry.location)
        return document.digest, _chunks(self._forgotten.without(document.text), self._chunking, name)

    def _counted(self, change: _Change) -> _Change:
        match change:
            case ReplaceFile():
                self.indexed += 1
                self.chunks += len(change.chunks)
                if len(self.named) < FILES_NAMED:
                    self.named.append(change.entry.path)
            case RefreshFile():
                self.refreshed += 1
            case FailFile():
                self.failed.append(FileFailure(change.entry.path, change.reason))
        return change


def _restat(entry: FileEntry) -> FileEntry | None:
    """The entry as the file is on disk now; None when it is gone."""
    try:
        found = os.lstat(entry.location)
    except OSError:
        return None
    return replace(
        entry, size=found.st_size, mtime_ns=found.st_mtime_ns, inode=found.st_ino, device=found.st_dev
    )


def _chunks(text: str, chunking: Chunking, name: str) -> Iterator[IndexedChunk]:
    """The chunks of a note. Its name is searched with the headings: it often is the day, or the topic."""
    for chunk in chunk_document(text, tokens=chunking.tokens, overlap=chunking.overlap):
        yield indexed_chunk((chunk.start_line, chunk.end_line), chunk.text, chunk.heading, told=name)


def indexed_chunk(
    lines: tuple[int, int],
    text: str,
    heading: str,
    *,
    told: str,
    moments: tuple[int | None, int | None] = (None, None),
) -> IndexedChunk:
    """A passage of these lines ready to be stored. `told` is searched with the heading and not shown."""
    return IndexedChunk(
        start_line=lines[0],
        end_line=lines[1],
        text=text,
        heading=heading,
        digest=text_digest(embedding_text(heading, text)),
        heading_terms=" ".join(analyze(f"{told}\n{heading}")),
        body_terms=" ".join(analyze(text)),
        pieces=_pieces(text),
        first_at=moments[0],
        last_at=moments[1],
    )


def _media_chunk(modality: Modality, path: str, name: str, digest: str) -> IndexedChunk:
    """What stands for a picture or a sound with these bytes: a line that names it."""
    text = media_text(modality, path)
    return IndexedChunk(
        start_line=1,
        end_line=1,
        text=text,
        heading="",
        digest=media_digest(text.encode(), digest.encode()),
        heading_terms=" ".join(analyze(name)),
        body_terms=" ".join(analyze(text)),
        pieces=_pieces(text),
    )


def _pieces(text: str) -> bytes:
    """The packed pieces of a text; none where the embedded model is damaged, of which the provider tells."""
    try:
        return pack_pieces(packaged_model().vocabulary.encode(text))
    except ProviderUnavailable:
        return b""
