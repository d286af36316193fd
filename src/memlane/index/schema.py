"""The tables of an index file."""

from __future__ import annotations

APPLICATION_ID = 0x4D4C4958  # "MLIX"
SCHEMA_VERSION = 3
UPGRADES = {
    1: "ALTER TABLE chunks ADD COLUMN pieces BLOB NOT NULL DEFAULT x''",
    2: """
        ALTER TABLE files ADD COLUMN media TEXT;
        ALTER TABLE files ADD COLUMN offset INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE files ADD COLUMN lines INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE chunks ADD COLUMN first_at INTEGER;
        ALTER TABLE chunks ADD COLUMN last_at INTEGER;
    """,
}
"""What brings a file of an older format to the next one."""
# Pages of 8 kB hold five 384-number vectors with little waste; 4 kB ones hold two and waste a quarter.
PAGE_SIZE = 8192

# Ids that were used are never used again: what a query has found cannot turn into something else before it
# is shown.
TABLES = """
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout TEXT NOT NULL, current INTEGER NOT NULL, complete INTEGER NOT NULL
) STRICT;
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL, identity TEXT NOT NULL, dimensions INTEGER,
    current INTEGER NOT NULL, complete INTEGER NOT NULL
) STRICT;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, source TEXT NOT NULL, path TEXT NOT NULL,
    location TEXT NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, device INTEGER NOT NULL, day TEXT, curated INTEGER NOT NULL,
    evergreen INTEGER NOT NULL, failure TEXT, media TEXT,
    offset INTEGER NOT NULL DEFAULT 0, lines INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX file_by_path ON files (generation, source, path);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    heading TEXT NOT NULL, text TEXT NOT NULL, digest BLOB NOT NULL, pieces BLOB NOT NULL,
    first_at INTEGER, last_at INTEGER
) STRICT;
CREATE INDEX chunk_by_file ON chunks (file);
CREATE INDEX chunk_by_digest ON chunks (digest);
"""


def terms_table(generation: int) -> str:
    """The name of a generation's full-text table."""
    return f"terms_{generation}"


def vectors_table(space: int) -> str:
    """The name of a space's vector table."""
    return f"vectors_{space}"


def create_terms(generation: int, tokenizer: str) -> str:
    """The statement that makes a generation's full-text table.

    Contentless: the text stands in `chunks` once; this holds the postings alone, and forgets rows on
    delete. The vocabulary tables beside it tell in how many chunks a term occurs, and in which.
    """
    name = terms_table(generation)
    quoted = tokenizer.replace('"', '""')
    return (
        f"CREATE VIRTUAL TABLE {name} USING fts5(heading, body, content='', contentless_delete=1,"
        f' tokenize="{quoted}");'
        f"CREATE VIRTUAL TABLE {name}_words USING fts5vocab({name}, row);{create_places(generation)}"
    )


def create_places(generation: int) -> str:
    """The statement that makes the table which tells where in a generation's full text each term stands."""
    name = terms_table(generation)
    return f"CREATE VIRTUAL TABLE IF NOT EXISTS {name}_places USING fts5vocab({name}, instance);"


def create_vectors(space: int) -> str:
    """The statement that makes a space's vector table.

    One float32 blob a chunk in an ordinary table, which sqlite-vec's distance functions and the in-process
    engine read alike. Its own `vec0` tables were measured against this (20,000 × 384): 18 ms a query
    against 21–25 ms here, but they cannot be read where the extension does not load, cannot be joined to
    filter inside the leg, and do not give space back on delete.
    """
    return (
        f"CREATE TABLE {vectors_table(space)} (chunk INTEGER PRIMARY KEY, vector BLOB, problem TEXT,"
        " CHECK ((vector IS NULL) <> (problem IS NULL))) STRICT;"
    )


def drop_generation(generation: int) -> str:
    """The statements that remove a generation's rows and full text (its spaces are dropped apart)."""
    name = terms_table(generation)
    return f"""
        DROP TABLE IF EXISTS {name}_words;
        DROP TABLE IF EXISTS {name}_places;
        DROP TABLE IF EXISTS {name};
        DELETE FROM chunks WHERE file IN (SELECT id FROM files WHERE generation = {generation});
        DELETE FROM files WHERE generation = {generation};
        DELETE FROM generations WHERE id = {generation};
    """  # noqa: S608 - a number of ours


def drop_space(space: int) -> str:
    """The statements that remove a space."""
    return f"""
        DROP TABLE IF EXISTS {vectors_table(space)};
        DELETE FROM spaces WHERE id = {space};
    """  # noqa: S608 - a number of ours
