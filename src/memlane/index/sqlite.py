"""The index as one SQLite file: chunks, full text and vectors in step, in one transaction each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
from msgspec.structs import replace

from ..embed.base import NoVector, Vector, dimensions_of
from ..values import FileFailure, Filters, Source, StoreStatistics
from . import candidates, schema, spaces
from .analyze import TOKENIZER
from .database import Database, select, select_row
from .generations import as_generation, count_chunks, current_generation, current_space, drop_generation
from .resident import ResidentIndex
from .store import (
    FileChange,
    Generation,
    IndexedFile,
    KeywordCandidate,
    Passage,
    RemoveFile,
    Space,
    UnembeddedChunk,
    VectorCandidate,
    WaitingChunk,
    may_lack_vectors,
)
from .vectors import VectorEngine, exact_cosines, load_engine
from .write import FileWriter

if TYPE_CHECKING:
    from .integrity import Defect


class SqliteStore:
    """A `Store` in a file of mode 0600.

    Thread-safe: each thread has its own connection. Raises ForeignDatabase or StoreCorrupt on opening.
    """

    def __init__(
        self, path: Path, *, vector_extension: bool = True, extension_path: Path | None = None
    ) -> None:
        self.path = path
        self._vector_extension = vector_extension
        self._extension_path = extension_path
        self._engine: VectorEngine | None = None
        self.vector_problem = ""
        """Why sqlite-vec is not in use although it is wanted."""
        self._resident = ResidentIndex()
        self._database = Database(path, self._prepare)

    @property
    def read_only(self) -> bool:
        """Whether the file could only be opened for reading."""
        return self._database.read_only

    # -- reading -----------------------------------------------------------------------------------

    @property
    def vector_engine(self) -> str:
        """Which engine compares vectors: `sqlite-vec` or `in-process`."""
        return self._engine.name if self._engine else ""

    def current_generation(self) -> Generation | None:
        """The generation that answers queries; None on a fresh store."""
        with self._database.reading() as connection:
            return current_generation(connection)

    def current_space(self) -> Space | None:
        """The vectors that answer queries; None when there are none yet."""
        with self._database.reading() as connection:
            return current_space(connection)

    def keyword_candidates(
        self, terms: Sequence[str], *, limit: int, filters: Filters
    ) -> list[KeywordCandidate]:
        """The chunks that match any of the terms, best BM25 first."""
        with self._database.reading() as connection:
            generation = current_generation(connection)
            if generation is None or not terms:
                return []
            if filters == Filters():
                known = self._resident.postings(connection, generation.id, call="keyword_candidates")
                if known is not None:
                    return known.matching(connection, terms, limit)
            return candidates.matching(connection, generation.id, terms, filters=filters, limit=limit)

    def term_frequencies(self, terms: Sequence[str]) -> tuple[list[int], int]:
        """In how many chunks each term occurs, and how many chunks there are."""
        with self._database.reading() as connection:
            generation = current_generation(connection)
            if generation is None:
                return [0] * len(terms), 0
            known = self._resident.postings(connection, generation.id, call="term_frequencies")
            if known is not None:
                return known.frequencies(connection, terms), known.count
            counts = candidates.document_frequencies(connection, generation.id, terms)
            return counts, count_chunks(connection, generation.id)

    def vector_candidates(self, query: Vector, *, limit: int, filters: Filters) -> list[VectorCandidate]:
        """The chunks of the current space nearest to the query, best first, ties by id."""
        with self._database.reading() as connection:
            space = current_space(connection)
            if space is None or self._engine is None or space.dimensions != dimensions_of(query):
                return []
            if filters == Filters():
                known = self._resident.vectors(connection, space, call="vector_candidates")
                if known is not None:
                    return known.nearest(query, limit)
            return candidates.nearest(connection, self._engine, space.id, query, filters=filters, limit=limit)

    def cosines(self, query: Vector, chunks: Sequence[int]) -> dict[int, float]:
        """The cosine of these chunks with the query, where they have a vector."""
        with self._database.reading() as connection:
            space = current_space(connection)
            if space is None or space.dimensions != dimensions_of(query) or not chunks:
                return {}
            if known := self._resident.vectors(connection, space, call="cosines"):
                return known.cosines(query, chunks)
            return exact_cosines(query, candidates.stored_vectors(connection, space.id, chunks))

    def pieces(self, chunks: Sequence[int]) -> dict[int, bytes]:
        """The packed vocabulary pieces of these chunks."""
        with self._database.reading() as connection:
            return candidates.stored_pieces(connection, chunks)

    def passages(self, chunks: Sequence[int]) -> dict[int, Passage]:
        """The stored chunks with these ids; ids that are gone are left out."""
        with self._database.reading() as connection:
            return candidates.stored_passages(connection, chunks)

    def has_source(self, source: Source) -> bool:
        """Whether there is a file of this source among what answers queries."""
        with self._database.reading() as connection:
            generation = current_generation(connection)
            return generation is not None and candidates.has_source(connection, generation.id, source)

    def chunk_count(self) -> int:
        """How many chunks answer queries: cheap, where `statistics` looks at every vector."""
        with self._database.reading() as connection:
            generation = current_generation(connection)
            return count_chunks(connection, generation.id) if generation else 0

    def statistics(self) -> StoreStatistics:
        """Counts of what answers queries."""
        with self._database.reading() as connection:
            generation = current_generation(connection)
            current = generation.id if generation else None
            by_source: dict[str, int] = dict(
                select(
                    connection,
                    "SELECT source, count(*) FROM files WHERE generation = ? AND failure IS NULL"
                    " GROUP BY source",
                    current,
                )
            )
            failed = select(
                connection,
                "SELECT path, failure FROM files WHERE generation = ? AND failure IS NOT NULL ORDER BY path",
                current,
            )
            chunks = count_chunks(connection, current)
            space = current_space(connection)
            vectors, without = (0, 0) if space is None else candidates.count_vectors(connection, space.id)
        files = (self.path, Path(f"{self.path}-wal"))
        return StoreStatistics(
            files=sum(by_source.values()),
            chunks=chunks,
            vectors=vectors,
            without_vector=without,
            failed=tuple(FileFailure(*row) for row in failed),
            by_source=by_source,
            bytes_on_disk=sum(file.stat().st_size for file in files if file.exists()),
        )

    def refused_media(self) -> list[FileFailure]:
        """The images and audio files that have no vector in the current space, and why."""
        with self._database.reading() as connection:
            space = current_space(connection)
            rows = candidates.refused_media(connection, space.id) if space else []
        return [FileFailure(*row) for row in rows]

    def find_space(self, generation: Generation, identity: str) -> Space | None:
        """The generation's vectors of this identity, complete or not."""
        with self._database.reading() as connection:
            return spaces.find_space(connection, generation, identity)

    def has_leftovers(self, *, keep: Sequence[str] = ()) -> bool:
        """Whether a build was left unfinished, or something replaced was not dropped."""
        with self._database.reading() as connection:
            return spaces.has_leftovers(connection, keep)

    def note(self, key: str) -> str | None:
        """A small fact kept beside the index."""
        with self._database.reading() as connection:
            row = select_row(connection, "SELECT value FROM notes WHERE key = ?", key)
        return row[0] if row else None

    # -- writing -----------------------------------------------------------------------------------

    def target_generation(self, layout: str, *, anew: bool = False) -> Generation:
        """The generation to write to: the current one when it has this layout, else one built beside it.

        A half-built one of this layout is gone on with; half-built ones of other layouts are dropped.
        `anew` builds one in any case. The very first generation answers queries while it is being built.
        """
        if not anew:
            with self._database.reading() as connection:
                row = select_row(
                    connection,
                    "SELECT * FROM generations WHERE layout = ? ORDER BY current DESC LIMIT 1",
                    layout,
                )
            if row:
                return as_generation(row)
        with self._database.writing() as connection:
            for (leftover,) in select(connection, "SELECT id FROM generations WHERE NOT current"):
                drop_generation(connection, leftover)
            first = current_generation(connection) is None
            (row,) = select(
                connection,
                "INSERT INTO generations (layout, current, complete) VALUES (?, ?, 0) RETURNING *",
                layout,
                first,
            )
            generation = as_generation(row)
            connection.execute(schema.create_terms(generation.id, TOKENIZER))
        return generation

    def target_space(
        self, generation: Generation, identity: str, *, keep: Sequence[str] = (), behind: bool = False
    ) -> Space:
        """The space to write to: the generation's own when it has this identity, else a new one beside it.

        The first space of the current generation answers queries while it is being filled, unless it is to
        be filled `behind` another. Half-filled ones are dropped, except those that `keep` names.
        """
        if found := self.find_space(generation, identity):
            return found
        with self._database.writing() as connection:
            return spaces.new_space(connection, generation, identity, keep=keep, behind=behind)

    def empty_space(self, space: Space) -> Space:
        """Forget the vectors of a space and their length: the model answers others now. Gives it as it is."""
        with self._database.writing() as connection:
            spaces.empty_space(connection, space)
        return replace(space, dimensions=None, complete=False)

    def indexed_files(self, generation: Generation) -> dict[tuple[Source, str], IndexedFile]:
        """What a generation knows of every file."""
        with self._database.reading() as connection:
            rows = select(
                connection,
                "SELECT path, source, digest, size, mtime_ns, inode, device, location, day, curated,"
                " evergreen, failure, media, offset, lines FROM files WHERE generation = ?",
                generation.id,
            )
        return {(row[1], row[0]): IndexedFile(*row) for row in rows}

    def digests_of(self, generation: Generation, files: Sequence[RemoveFile]) -> list[bytes]:
        """The texts, by digest, that these files hold and no other does."""
        with self._database.reading() as connection:
            return candidates.digests_of(connection, generation.id, files)

    def apply(self, generation: Generation, changes: Sequence[FileChange]) -> None:
        """Make changes to files, all or none. Vectors of chunks whose text did not change are kept."""
        with self._database.writing() as connection:
            writer = FileWriter(connection, generation.id)
            for change in changes:
                writer.apply(change)
            if any(map(may_lack_vectors, changes)):
                # Until the pass ends: a crash, or a provider that fails, must not leave this unseen.
                connection.execute("UPDATE generations SET complete = 0 WHERE id = ?", (generation.id,))
                connection.execute("UPDATE spaces SET complete = 0 WHERE generation = ?", (generation.id,))

    def unembedded(self, space: Space, *, after: int, limit: int) -> list[UnembeddedChunk]:
        """The next chunks without a vector in this space, by id."""
        with self._database.reading() as connection:
            waiting = spaces.waiting_chunks(connection, space.generation, space, after=after, limit=limit)
        return [one.chunk for one in waiting]

    def waiting(
        self, generation: Generation, space: Space | None, *, after: int, limit: int
    ) -> list[WaitingChunk]:
        """The next chunks of a generation without a vector in this space, by id; without a space, all."""
        with self._database.reading() as connection:
            return spaces.waiting_chunks(connection, generation.id, space, after=after, limit=limit)

    def unembedded_count(self, space: Space) -> int:
        """How many chunks have no vector in this space yet."""
        with self._database.reading() as connection:
            return spaces.count_waiting(connection, space)

    def known_vectors(
        self, identity: str, digests: Sequence[bytes], *, only: Space | None = None
    ) -> dict[bytes, Vector]:
        """Vectors that the spaces of this identity, or `only` one of them, hold for these texts."""
        with self._database.reading() as connection:
            rows = select(connection, "SELECT id FROM spaces WHERE identity = ?", identity)
            asked = [only.id] if only else [row[0] for row in rows]
            return candidates.vectors_by_digest(connection, asked, digests)

    def sample_vectors(self, space: Space, most: int) -> list[Vector]:
        """Vectors of a space, evenly from its oldest chunk to its newest."""
        with self._database.reading() as connection:
            return candidates.sample_vectors(connection, space.id, most)

    def digests(self) -> set[bytes]:
        """The digests of all texts that are indexed."""
        with self._database.reading() as connection:
            return {row[0] for row in select(connection, "SELECT digest FROM chunks")}

    def put_vectors(self, space: Space, vectors: Iterable[tuple[int, Vector | NoVector]]) -> None:
        """Store vectors by chunk. Chunks that have gone meanwhile are passed over."""
        with self._database.writing() as connection:
            spaces.put_vectors(connection, space, vectors)

    def promote(self, generation: Generation, space: Space | None, *, keep: Sequence[str] = ()) -> None:
        """Let these answer queries from now on, as complete, and drop all others.

        Without a space the generation's own spaces stay as they are; those that `keep` names stay to be
        filled behind. Writes nothing when all this holds.
        """
        with self._database.reading() as connection:
            promotion = spaces.Promotion(connection, generation, space, keep)
        if not promotion.is_done:
            with self._database.writing() as connection:
                promotion.write(connection)

    def put_note(self, key: str, value: str) -> None:
        """Keep a small fact beside the index."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))

    def verify(self) -> None:
        """Look for damage in the whole file, thoroughly. Raises StoreCorrupt when there is some."""
        self._database.verify()

    def defects(self, seconds: float | None = None) -> list[Defect]:
        """Everything that is wrong with the file, found thoroughly. Raises OutOfTime, or StoreError."""
        from .integrity import defects, time_limit  # hardly ever needed

        with self._database.reading() as connection, time_limit(connection, seconds):
            return list(defects(connection, thorough=True))

    @property
    def database(self) -> Database:
        """The file itself, for what is done to it as a whole."""
        return self._database

    def settle(self) -> None:
        """A pass is over: what was written is whole."""
        self._database.settle()

    def close(self) -> None:
        """Close the file in every thread."""
        self._database.close()

    def _prepare(self, connection: apsw.Connection) -> None:
        engine, problem = load_engine(
            connection, enabled=self._vector_extension, extension=self._extension_path
        )
        if self._engine is None:
            self._engine, self.vector_problem = engine, problem
        connection.create_scalar_function("matches_path", candidates.matches_path, 2, deterministic=True)
        connection.register_fts5_function("evidence", candidates.evidence)
