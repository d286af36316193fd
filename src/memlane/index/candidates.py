"""The questions a search asks of the tables: who matches these terms, who lies near this vector."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any

import apsw

from ..embed.base import Vector
from ..values import Filters, Source
from ..workspace import glob_expression
from . import schema
from .analyze import BM25_WEIGHTS, is_prefix, match_expression
from .database import Row, select, select_value
from .store import KeywordCandidate, Passage, RemoveFile, VectorCandidate
from .vectors import SLACK, VectorEngine, exact_cosines

_PASSAGE_COLUMNS = (
    "c.id, f.path, f.location, f.source, c.start_line, c.end_line, c.heading, c.text, f.day, f.evergreen,"
    " f.mtime_ns, f.media, c.first_at, c.last_at"
)


def matching(
    connection: apsw.Connection, generation: int, terms: Sequence[str], *, filters: Filters, limit: int
) -> list[KeywordCandidate]:
    """The chunks of a generation that match any of the terms, best BM25 first.

    Walks the full-text table in rank order, so that filters are applied inside and `evidence` is asked of
    the returned rows alone.
    """
    table = schema.terms_table(generation)
    condition, bindings = filter_condition(filters)
    joined = "JOIN chunks c ON c.id = t.rowid JOIN files f ON f.id = c.file AND " if condition else ""
    weights = ", ".join(map(str, BM25_WEIGHTS))
    rows = select(
        connection,
        f"SELECT t.rowid, -t.rank, evidence({table}) FROM {table} t {joined}{condition}"  # noqa: S608
        f" WHERE {table} MATCH ? AND t.rank MATCH 'bm25({weights})' ORDER BY t.rank LIMIT ?",
        *bindings,
        match_expression(terms),
        limit,
    )
    return [KeywordCandidate(chunk, bm25, tuple(map(int, matched.split()))) for chunk, bm25, matched in rows]


def document_frequencies(connection: apsw.Connection, generation: int, terms: Sequence[str]) -> list[int]:
    """In how many chunks of a generation each term occurs."""
    table = schema.terms_table(generation)
    whole = f"SELECT doc FROM {table}_words WHERE term = ?"  # noqa: S608
    begun = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"  # noqa: S608
    return [
        select_value(connection, begun, match_expression([term]))
        if is_prefix(term)
        else select_value(connection, whole, term) or 0
        for term in terms
    ]


def nearest(
    connection: apsw.Connection,
    engine: VectorEngine,
    space: int,
    query: Vector,
    *,
    filters: Filters,
    limit: int,
) -> list[VectorCandidate]:
    """The chunks of a space nearest to the query, best first, ties by id."""
    table = schema.vectors_table(space)
    condition, bindings = filter_condition(filters)
    relation = f"FROM {table} WHERE vector IS NOT NULL"
    if condition:
        relation = (
            f"FROM {table} v JOIN chunks c ON c.id = v.chunk JOIN files f ON f.id = c.file"
            f" WHERE v.vector IS NOT NULL AND {condition}"
        )
    proposed = engine.nearest(connection, query, (relation, bindings), limit + SLACK)
    cosines = exact_cosines(query, stored_vectors(connection, space, proposed))
    ranked = sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
    return [VectorCandidate(chunk, cosine) for chunk, cosine in ranked[:limit]]


def stored_vectors(
    connection: apsw.Connection, space: int, chunks: Sequence[int]
) -> list[tuple[int, Vector]]:
    """The vectors of these chunks, where they have one."""
    rows = select(
        connection,
        f"SELECT chunk, vector FROM {schema.vectors_table(space)}"  # noqa: S608
        f" WHERE vector IS NOT NULL AND chunk IN ({_marks(chunks)})",
        *chunks,
    )
    return [(chunk, vector) for chunk, vector in rows]


def vectors_by_digest(
    connection: apsw.Connection, spaces: Sequence[int], digests: Sequence[bytes]
) -> dict[bytes, Vector]:
    """The vectors that these spaces hold for the texts with these digests."""
    found: dict[bytes, Vector] = {}
    for space in spaces:
        statement = (
            f"SELECT v.vector FROM chunks c JOIN {schema.vectors_table(space)} v ON v.chunk = c.id"  # noqa: S608
            " WHERE c.digest = ? AND v.vector IS NOT NULL LIMIT 1"
        )
        for digest in digests:
            vector = select_value(connection, statement, digest)
            if vector is not None:
                found[digest] = vector
    return found


def count_vectors(connection: apsw.Connection, space: int) -> tuple[int, int]:
    """How many chunks have a vector in a space, and how many were refused one."""
    ((vectors, refused),) = select(
        connection,
        f"SELECT count(vector), count(problem) FROM {schema.vectors_table(space)}",  # noqa: S608
    )
    return vectors, refused


def refused_media(connection: apsw.Connection, space: int) -> list[tuple[str, str]]:
    """The paths of images and audio files that were refused a vector in a space, and why."""
    return select(
        connection,
        f"SELECT f.path, v.problem FROM {schema.vectors_table(space)} v JOIN chunks c ON c.id = v.chunk"  # noqa: S608
        " JOIN files f ON f.id = c.file WHERE v.problem IS NOT NULL AND f.media IS NOT NULL ORDER BY f.path",
    )


def has_source(connection: apsw.Connection, generation: int, source: Source) -> bool:
    """Whether a generation has a file of this source."""
    statement = "SELECT EXISTS (SELECT 1 FROM files WHERE generation = ? AND source = ?)"
    return bool(select_value(connection, statement, generation, source))


def digests_of(connection: apsw.Connection, generation: int, files: Sequence[RemoveFile]) -> list[bytes]:
    """The texts, by digest, that these files of a generation hold and no other file of any does."""
    chosen = "SELECT id FROM files WHERE generation = ? AND source = ? AND path = ?"
    ids = [row[0] for file in files for row in select(connection, chosen, generation, file.source, file.path)]
    marks = _marks(ids)
    statement = (
        f"SELECT DISTINCT digest FROM chunks c WHERE file IN ({marks}) AND NOT EXISTS"  # noqa: S608
        f" (SELECT 1 FROM chunks o WHERE o.digest = c.digest AND o.file NOT IN ({marks}))"
    )
    return [row[0] for row in select(connection, statement, *ids, *ids)]


def stored_passages(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, Passage]:
    """The chunks with these ids, by id."""
    rows = select(
        connection,
        f"SELECT {_PASSAGE_COLUMNS} FROM chunks c JOIN files f ON f.id = c.file"  # noqa: S608
        f" WHERE c.id IN ({_marks(chunks)})",
        *chunks,
    )
    return {row[0]: _passage(row) for row in rows}


def stored_pieces(connection: apsw.Connection, chunks: Sequence[int]) -> dict[int, bytes]:
    """The packed vocabulary pieces of these chunks."""
    return dict(select(connection, f"SELECT id, pieces FROM chunks WHERE id IN ({_marks(chunks)})", *chunks))  # noqa: S608


def _passage(row: Row) -> Passage:
    chunk, path, location, source, start_line, end_line, heading, text, day, evergreen, mtime_ns, *more = row
    return Passage(
        chunk=chunk,
        path=path,
        location=location,
        source=source,
        start_line=start_line,
        end_line=end_line,
        heading=heading,
        text=text,
        day=date.fromisoformat(day) if day else None,
        evergreen=bool(evergreen),
        mtime_ns=mtime_ns,
        media=more[0],
        first_at=more[1],
        last_at=more[2],
    )


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def evidence(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Which of the query's phrases the row at hand holds, as indexes joined by spaces.

    An auxiliary function of FTS5.
    """
    return " ".join(str(phrase) for phrase in range(api.phrase_count) if api.phrase_columns(phrase))


def matches_path(*arguments: Any) -> bool:  # noqa: ANN401 - whatever SQL passes
    """Whether a path (second) fits a glob (first), in the dialect of extra paths. A function for SQL."""
    pattern, path = arguments
    return _path_expression(pattern).fullmatch(path) is not None


@lru_cache(maxsize=16)
def _path_expression(pattern: str) -> re.Pattern[str]:
    return re.compile(glob_expression(pattern), re.IGNORECASE)


def filter_condition(filters: Filters) -> tuple[str, list[object]]:
    """The SQL condition over `files f` and `chunks c` for the filters, with its bindings; empty for none."""
    conditions: list[str] = []
    bindings: list[object] = []
    if filters.source:
        conditions.append("f.source = ?")
        bindings.append(filters.source)
    if filters.path:
        conditions.append("f.id IN (SELECT id FROM files WHERE matches_path(?, path))")
        bindings.append(filters.path)
    if filters.since:
        conditions.append("(f.day >= ? OR c.last_at >= ?)")
        bindings += (filters.since.isoformat(), filters.since_at)
    if filters.until:
        conditions.append("(f.day <= ? OR c.first_at < ?)")
        bindings += (filters.until.isoformat(), filters.until_at)
    if not filters.curated:
        conditions.append("NOT f.curated")
    if not filters.transcripts:
        conditions.append("f.source <> 'sessions'")
    return " AND ".join(conditions), bindings
