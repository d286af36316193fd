"""The index as one SQLite file: chunks, full text and vectors in step, in one transaction each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

import apsw

from ..embed.base import NoVector, Vector, dimensions_of
from ..values import FileFailure, Filters, Source, StoreStatistics
from . import schema
from .analyze import BM25_WEIGHTS, TOKENIZER, match_expression
from .database import Database
from .store import (
    FileChange,
    Generation,
    IndexedFile,
    KeywordCandidate,
    Passage,
    Space,
    UnembeddedChunk,
    VectorCandidate,
)
from .vectors import SLACK, VectorEngine, exact_cosines, load_engine
from .write import FileWriter

_PASSAGE_COLUMNS = (
    "c.id, f.path, f.location, f.source, c.start_line, c.end_line, c.heading, c.text, f.day, f.evergreen,"
    " f.mtime_ns"
)


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
        self._database = Database(path, self._prepare)

    # -- reading -----------------------------------------------------------------------------------

    @property
    def vector_engine(self) -> str:
        """Which engine compares vectors: `sqlite-vec` or `in-process`."""
        with self._database.reading():
            return self._engine.name if self._engine else ""

    def current_generation(self) -> Generation | None:
        """The generation that answers queries; None on a fresh store."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT * FROM generations WHERE current").fetchone()
        return _generation(row) if row else None

    def current_space(self) -> Space | None:
        """The vectors that answer queries; None when there are none yet."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT * FROM spaces WHERE current").fetchone()
        return _space(row) if row else None

    def keyword_candidates(
        self, terms: Sequence[str], *, limit: int, filters: Filters
    ) -> list[KeywordCandidate]:
        """The chunks that match any of the terms, best BM25 first, ties by id."""
        generation = self.current_generation()
        if generation is None or not terms:
            return []
        table = schema.terms_table(generation.id)
        condition, bindings = _filter_condition(filters)
        if condition:
            joined = f"JOIN chunks c ON c.id = t.rowid JOIN files f ON f.id = c.file AND {condition}"
        else:
            joined = ""
        weights = ", ".join(map(str, BM25_WEIGHTS))
        statement = (
            f"SELECT t.rowid, -t.rank, evidence({table}) FROM {table} t {joined}"  # noqa: S608 - own names
            f" WHERE {table} MATCH ? AND t.rank MATCH 'bm25({weights})' ORDER BY t.rank LIMIT ?"
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement, [*bindings, match_expression(terms), limit]).fetchall()
        return [
            KeywordCandidate(chunk, bm25, tuple(map(int, matched.split()))) for chunk, bm25, matched in rows
        ]

    def term_frequencies(self, terms: Sequence[str]) -> tuple[list[int], int]:
        """In how many chunks each term occurs, and how many chunks there are."""
        generation = self.current_generation()
        if generation is None:
            return [0] * len(terms), 0
        words = f"{schema.terms_table(generation.id)}_words"
        with self._database.reading() as connection:
            counts = []
            for term in terms:
                row = connection.execute(f"SELECT doc FROM {words} WHERE term = ?", (term,)).fetchone()  # noqa: S608
                counts.append(int(row[0]) if row else 0)
            total = connection.execute(
                "SELECT count(*) FROM chunks c JOIN files f ON f.id = c.file WHERE f.generation = ?",
                (generation.id,),
            ).get
        return counts, int(total)

    def vector_candidates(self, query: Vector, *, limit: int, filters: Filters) -> list[VectorCandidate]:
        """The chunks of the current space nearest to the query, best first, ties by id."""
        space = self.current_space()
        if space is None or space.dimensions != dimensions_of(query):
            return []
        table = schema.vectors_table(space.id)
        condition, bindings = _filter_condition(filters)
        if condition:
            relation = (
                f"FROM {table} v JOIN chunks c ON c.id = v.chunk JOIN files f ON f.id = c.file"
                f" WHERE v.vector IS NOT NULL AND {condition}"
            )
        else:
            relation = f"FROM {table} WHERE vector IS NOT NULL"
        with self._database.reading() as connection:
            assert self._engine is not None
            nearest = self._engine.nearest(connection, query, (relation, bindings), limit + SLACK)
            cosines = exact_cosines(query, _vectors(connection, table, nearest))
        ranked = sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
        return [VectorCandidate(chunk, cosine) for chunk, cosine in ranked[:limit]]

    def cosines(self, query: Vector, chunks: Sequence[int]) -> dict[int, float]:
        """The cosine of these chunks with the query, where they have a vector."""
        space = self.current_space()
        if space is None or space.dimensions != dimensions_of(query) or not chunks:
            return {}
        with self._database.reading() as connection:
            return exact_cosines(query, _vectors(connection, schema.vectors_table(space.id), chunks))

    def passages(self, chunks: Sequence[int]) -> dict[int, Passage]:
        """The stored chunks with these ids; ids that are gone are left out."""
        marks = ", ".join("?" * len(chunks))
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_PASSAGE_COLUMNS} FROM chunks c JOIN files f ON f.id = c.file WHERE c.id IN ({marks})",  # noqa: S608
                tuple(chunks),
            ).fetchall()
        return {row[0]: _passage(row) for row in rows}

    def statistics(self) -> StoreStatistics:
        """Counts of what answers queries."""
        with self._database.reading() as connection:
            generation = connection.execute("SELECT id FROM generations WHERE current").get
            by_source = dict(
                connection.execute(
                    "SELECT source, count(*) FROM files WHERE generation = ? AND failure IS NULL GROUP BY source",
                    (generation,),
                )
            )
            failed = connection.execute(
                "SELECT path, failure FROM files WHERE generation = ? AND failure IS NOT NULL ORDER BY path",
                (generation,),
            ).fetchall()
            chunks = connection.execute(
                "SELECT count(*) FROM chunks c JOIN files f ON f.id = c.file WHERE f.generation = ?",
                (generation,),
            ).get
            space = connection.execute("SELECT id FROM spaces WHERE current").get
            vectors = without = 0
            if space is not None:
                vectors, without = connection.execute(
                    f"SELECT count(vector), count(problem) FROM {schema.vectors_table(space)}"  # noqa: S608
                ).fetchall()[0]
        return StoreStatistics(
            files=sum(by_source.values()),
            chunks=int(chunks),
            vectors=vectors,
            without_vector=without,
            failed=tuple(FileFailure(path, reason) for path, reason in failed),
            by_source=by_source,
            bytes_on_disk=sum(
                path.stat().st_size for path in (self.path, Path(f"{self.path}-wal")) if path.exists()
            ),
        )

    def note(self, key: str) -> str | None:
        """A small fact kept beside the index."""
        with self._database.reading() as connection:
            value = connection.execute("SELECT value FROM notes WHERE key = ?", (key,)).get
        return None if value is None else str(value)

    # -- writing -----------------------------------------------------------------------------------

    def target_generation(self, layout: str) -> Generation:
        """The generation to write to: the current one when it has this layout, else one built beside it.

        A half-built one of this layout is gone on with; half-built ones of other layouts are dropped. The
        very first generation answers queries while it is being built.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT * FROM generations WHERE layout = ? ORDER BY current DESC LIMIT 1", (layout,)
            ).fetchone()
        if row:
            return _generation(row)
        with self._database.writing() as connection:
            for (leftover,) in connection.execute("SELECT id FROM generations WHERE NOT current").fetchall():
                self._drop_generation(connection, leftover)
            first = connection.execute("SELECT count(*) FROM generations").get == 0
            row = connection.execute(
                "INSERT INTO generations (layout, current, complete) VALUES (?, ?, 0) RETURNING *",
                (layout, first),
            ).fetchone()
            generation = _generation(row)
            connection.execute(schema.create_terms(generation.id, TOKENIZER))
        return generation

    def target_space(self, generation: Generation, identity: str) -> Space:
        """The space to write to: the generation's own when it has this identity, else a new one beside it.

        The first space of the current generation answers queries while it is being filled.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT * FROM spaces WHERE generation = ? AND identity = ?", (generation.id, identity)
            ).fetchone()
        if row:
            return _space(row)
        with self._database.writing() as connection:
            for (leftover,) in connection.execute(
                "SELECT id FROM spaces WHERE generation = ? AND NOT current", (generation.id,)
            ).fetchall():
                connection.execute(schema.drop_space(leftover))
            first = (
                generation.current
                and connection.execute("SELECT count(*) FROM spaces WHERE current").get == 0
            )
            row = connection.execute(
                "INSERT INTO spaces (generation, identity, current, complete) VALUES (?, ?, ?, 0) RETURNING *",
                (generation.id, identity, first),
            ).fetchone()
            space = _space(row)
            connection.execute(schema.create_vectors(space.id))
        return space

    def indexed_files(self, generation: Generation) -> dict[tuple[Source, str], IndexedFile]:
        """What a generation knows of every file."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT path, source, digest, size, mtime_ns, inode, device, evergreen, failure FROM files"
                " WHERE generation = ?",
                (generation.id,),
            )
            return {(row[1], row[0]): IndexedFile(*row[:7], bool(row[7]), row[8]) for row in rows}

    def apply(self, generation: Generation, changes: Sequence[FileChange]) -> None:
        """Make changes to files, all or none. Vectors of chunks whose text did not change are kept."""
        with self._database.writing() as connection:
            writer = FileWriter(connection, generation.id)
            for change in changes:
                writer.apply(change)

    def unembedded(self, space: Space, *, after: int, limit: int) -> list[UnembeddedChunk]:
        """The next chunks without a vector in this space, by id."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT c.id, c.digest, c.heading, c.text FROM chunks c JOIN files f ON f.id = c.file"  # noqa: S608
                f" WHERE f.generation = ? AND c.id > ? AND c.id NOT IN"
                f" (SELECT chunk FROM {schema.vectors_table(space.id)}) ORDER BY c.id LIMIT ?",
                (space.generation, after, limit),
            ).fetchall()
        return [
            UnembeddedChunk(chunk, digest, f"{heading}\n{text}" if heading else text)
            for chunk, digest, heading, text in rows
        ]

    def unembedded_count(self, space: Space) -> int:
        """How many chunks have no vector in this space yet."""
        with self._database.reading() as connection:
            return int(
                connection.execute(
                    "SELECT count(*) FROM chunks c JOIN files f ON f.id = c.file"  # noqa: S608
                    f" WHERE f.generation = ? AND c.id NOT IN (SELECT chunk FROM {schema.vectors_table(space.id)})",
                    (space.generation,),
                ).get
            )

    def known_vectors(self, space: Space, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Vectors that any space of the same identity holds for these texts."""
        found: dict[bytes, Vector] = {}
        with self._database.reading() as connection:
            spaces = connection.execute(
                "SELECT id FROM spaces WHERE identity = ?", (space.identity,)
            ).fetchall()
            for (other,) in spaces:
                statement = (
                    f"SELECT v.vector FROM chunks c JOIN {schema.vectors_table(other)} v ON v.chunk = c.id"  # noqa: S608
                    " WHERE c.digest = ? AND v.vector IS NOT NULL LIMIT 1"
                )
                for digest in digests:
                    vector = connection.execute(statement, (digest,)).get
                    if vector is not None:
                        found[digest] = vector
        return found

    def put_vectors(self, space: Space, vectors: Iterable[tuple[int, Vector | NoVector]]) -> None:
        """Store vectors by chunk. Chunks that have gone meanwhile are passed over."""
        table = schema.vectors_table(space.id)
        statement = (
            f"INSERT OR REPLACE INTO {table} SELECT ?1, ?2, ?3 WHERE EXISTS"  # noqa: S608
            " (SELECT 1 FROM chunks WHERE id = ?1)"
        )
        dimensions = space.dimensions
        with self._database.writing() as connection:
            for chunk, vector in vectors:
                if isinstance(vector, NoVector):
                    connection.execute(statement, (chunk, None, vector.reason))
                    continue
                dimensions = dimensions or dimensions_of(vector)
                connection.execute(statement, (chunk, vector, None))
            if dimensions != space.dimensions:
                connection.execute("UPDATE spaces SET dimensions = ? WHERE id = ?", (dimensions, space.id))

    def promote(self, generation: Generation, space: Space | None) -> None:
        """Let these answer queries from now on, as complete, and drop all others.

        Without a space the generation's own spaces stay as they are. Writes nothing when all this holds.
        """
        with self._database.reading() as connection:
            old_generations = connection.execute(
                "SELECT id FROM generations WHERE id <> ?", (generation.id,)
            ).fetchall()
            old_spaces = (
                space
                and connection.execute(
                    "SELECT id FROM spaces WHERE generation = ? AND id <> ?", (generation.id, space.id)
                ).fetchall()
            )
            settled = connection.execute(
                "SELECT current AND complete FROM generations WHERE id = ?", (generation.id,)
            ).get and (
                space is None
                or connection.execute("SELECT current AND complete FROM spaces WHERE id = ?", (space.id,)).get
            )
        if settled and not old_generations and not old_spaces:
            return
        with self._database.writing() as connection:
            for (other,) in old_generations:
                self._drop_generation(connection, other)
            connection.execute(
                "UPDATE generations SET current = 1, complete = 1 WHERE id = ?", (generation.id,)
            )
            if space is not None:
                for (other,) in old_spaces or ():
                    connection.execute(schema.drop_space(other))
                connection.execute("UPDATE spaces SET current = 1, complete = 1 WHERE id = ?", (space.id,))

    def put_note(self, key: str, value: str) -> None:
        """Keep a small fact beside the index."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))

    def settle(self) -> None:
        """A pass is over: what was written is whole."""
        self._database.settle()

    def close(self) -> None:
        """Close the file in every thread."""
        self._database.close()

    def _prepare(self, connection: apsw.Connection) -> None:
        engine = load_engine(connection, enabled=self._vector_extension, extension=self._extension_path)
        self._engine = self._engine or engine
        connection.register_fts5_function("evidence", _evidence)

    @staticmethod
    def _drop_generation(connection: apsw.Connection, generation: int) -> None:
        for (space,) in connection.execute(
            "SELECT id FROM spaces WHERE generation = ?", (generation,)
        ).fetchall():
            connection.execute(schema.drop_space(space))
        connection.execute(schema.drop_generation(generation))


def _evidence(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Which of the query's phrases the row at hand holds, as indexes joined by spaces."""
    return " ".join(str(phrase) for phrase in range(api.phrase_count) if api.phrase_columns(phrase))


def _filter_condition(filters: Filters) -> tuple[str, list[object]]:
    """The SQL condition over `files f` for the filters, with its bindings; empty when nothing is filtered."""
    conditions: list[str] = []
    bindings: list[object] = []
    if filters.source:
        conditions.append("f.source = ?")
        bindings.append(filters.source)
    if filters.path:
        conditions.append("f.path GLOB ?")
        bindings.append(filters.path)
    if filters.since:
        conditions.append("f.day >= ?")
        bindings.append(filters.since.isoformat())
    if filters.until:
        conditions.append("f.day <= ?")
        bindings.append(filters.until.isoformat())
    if not filters.curated:
        conditions.append("NOT f.curated")
    return " AND ".join(conditions), bindings


def _vectors(connection: apsw.Connection, table: str, chunks: Sequence[int]) -> list[tuple[int, Vector]]:
    marks = ", ".join("?" * len(chunks))
    return connection.execute(
        f"SELECT chunk, vector FROM {table} WHERE vector IS NOT NULL AND chunk IN ({marks})",  # noqa: S608
        tuple(chunks),
    ).fetchall()


def _generation(row: tuple[int, str, int, int]) -> Generation:
    return Generation(row[0], row[1], bool(row[2]), bool(row[3]))


def _space(row: tuple[int, int, str, int | None, int, int]) -> Space:
    return Space(row[0], row[1], row[2], row[3], bool(row[4]), bool(row[5]))


def _passage(row: tuple[int, str, str, Source, int, int, str, str, str | None, int, int]) -> Passage:
    *fields, day, evergreen, mtime_ns = row
    return Passage(*fields, date.fromisoformat(day) if day else None, bool(evergreen), mtime_ns)
