"""Whether an index is whole: its pages, and what must agree across its tables.

SQLite knows of its own structure only. A page that was written to the wrong place, or a log that lost its
end, can leave tables that are each sound and no longer fit together: a chunk without its words, a vector of
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import apsw

from ..values import Value
from . import schema
from .database import select
from .identity import bytes_digest, media_digest

_MOST_FINDINGS = 5
_STEPS_A_LOOK = 20_000
"""Steps of SQLite's machine between two looks at the time limit: about a millisecond."""


class Defect(Value, frozen=True):
    """Something in an index that should not be."""

    message: str
    leftover: bool = False
    """Only space is lost: it is dropped by the next pass that writes."""


class OutOfTime(Exception):  # noqa: N818 - reads as a statement of fact
    """A check was stopped at its time limit."""


@contextmanager
def time_limit(connection: apsw.Connection, seconds: float | None) -> Iterator[None]:
    """Stop a statement that takes longer than the block may take. Raises OutOfTime."""
    if seconds is None:
        yield
        return
    deadline = monotonic() + seconds
    connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS_A_LOOK)
    try:
        yield
    except apsw.InterruptError as error:
        raise OutOfTime from error
    finally:
        connection.set_progress_handler(None)


def defects(connection: apsw.Connection, *, thorough: bool = False) -> Iterator[Defect]:
    """What is wrong with an index, cheapest checks first. The caller holds one view of the file.

    Thorough: also every chunk's text against its digest. A damaged structure or a missing table ends the
    list: nothing more can be said then. About a second for 100 MB, half as much again when thorough. Raises
    apsw.Error where a table cannot be read.
    """
    pragma = f"PRAGMA integrity_check({_MOST_FINDINGS})"
    structure = [str(row[0]) for row in connection.execute(pragma)]
    if structure != ["ok"]:
        yield from (Defect(finding.removeprefix("*** in database main ***\n")) for finding in structure)
        return
    if odd := list(_tables(connection)):
        yield from odd
        return
    for generation, current, complete in select(
        connection, "SELECT id, current, complete FROM generations ORDER BY id"
    ):
        if not current:
            yield Defect(f"generation {generation} is unfinished, or was replaced", leftover=True)
        yield from _generation(connection, generation, complete=bool(current and complete))
    yield from _orphans(connection)
    if thorough:
        yield from _texts(connection)


def _tables(connection: apsw.Connection) -> Iterator[Defect]:
    """Full text and vectors belong to a generation or a space that is known, and each of those has them."""
    made = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    wanted = {schema.terms_table(row[0]) for row in connection.execute("SELECT id FROM generations")}
    wanted |= {schema.vectors_table(row[0]) for row in connection.execute("SELECT id FROM spaces")}
    for name in sorted(wanted - made):
        yield Defect(f"the table {name} is missing")
    for name in sorted(made - wanted):
        kind, _, number = name.partition("_")
        if kind in {"terms", "vectors"} and number.isdecimal():
            yield Defect(f"the table {name} belongs to nothing")
    for table in ("generations", "spaces"):
        if _count(connection, f"SELECT count(*) FROM {table} WHERE current") > 1:  # noqa: S608
            yield Defect(f"several {table} are current")


def _generation(connection: apsw.Connection, generation: int, *, complete: bool) -> Iterator[Defect]:
    """Chunks, full-text rows and vectors of one generation are the same set."""
    chunks = f"SELECT c.id FROM chunks c JOIN files f ON f.id = c.file WHERE f.generation = {generation}"  # noqa: S608
    words = f"SELECT id FROM {schema.terms_table(generation)}_docsize"  # noqa: S608
    yield from _compared(connection, chunks, words, "chunks cannot be found by their words")
    yield from _compared(connection, words, chunks, "full-text rows belong to no chunk")
    for space, dimensions, full in select(
        connection, "SELECT id, dimensions, complete AND current FROM spaces WHERE generation = ?", generation
    ):
        table = schema.vectors_table(space)
        vectors = f"SELECT chunk FROM {table}"  # noqa: S608
        yield from _compared(connection, vectors, chunks, "vectors belong to no chunk")
        if complete and full:
            yield from _compared(connection, chunks, vectors, "chunks have no vector, though all should")
        odd = _count(
            connection,
            f"SELECT count(*) FROM {table} WHERE vector IS NOT NULL AND length(vector) <> 4 * ?",  # noqa: S608
            dimensions or 0,
        )
        if odd:
            yield Defect(f"{odd} vectors do not have {dimensions} dimensions")


def _orphans(connection: apsw.Connection) -> Iterator[Defect]:
    for what, statement in (
        ("chunks belong to no file", "SELECT count(*) FROM chunks WHERE file NOT IN (SELECT id FROM files)"),
        (
            "files belong to no generation",
            "SELECT count(*) FROM files WHERE generation NOT IN (SELECT id FROM generations)",
        ),
        (
            "spaces belong to no generation",
            "SELECT count(*) FROM spaces WHERE generation NOT IN (SELECT id FROM generations)",
        ),
    ):
        if found := _count(connection, statement):
            yield Defect(f"{found} {what}")


def _texts(connection: apsw.Connection) -> Iterator[Defect]:
    """A byte that flipped in a text is no damage to SQLite; the digest beside the text tells."""
    rows = connection.execute(
        "SELECT CAST(c.heading AS BLOB), CAST(c.text AS BLOB), CAST(f.digest AS BLOB), f.media, c.digest"
        " FROM chunks c LEFT JOIN files f ON f.id = c.file"
    )
    changed = 0
    for heading, text, of_file, media, digest in rows:
        whole = b"%b\n%b" % (heading, text) if heading else text
        found = media_digest(whole, of_file) if media is not None else bytes_digest(whole)
        changed += found != digest
    if changed:
        yield Defect(f"{changed} chunks do not hold the text that was indexed")


def _compared(connection: apsw.Connection, these: str, those: str, complaint: str) -> Iterator[Defect]:
    found = _count(connection, f"SELECT count(*) FROM ({these} EXCEPT {those})")  # noqa: S608
    if found:
        yield Defect(f"{found} {complaint}")


def _count(connection: apsw.Connection, statement: str, *bindings: object) -> int:
    return int(connection.execute(statement, bindings).get)
