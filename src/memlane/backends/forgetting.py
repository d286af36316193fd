"""Carrying out what is to be forgotten: out of index, embedding cache, batch jobs and what was set aside.

Every step can be done again. Which tombstones have been carried out is noted in the index itself, after the
last step: whatever is killed on the way is gone on with by the next pass of any process, and an index that
was elsewhere meanwhile catches up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from ..disk import writer_lock
from ..embed.batch.ledger import Ledger as JobLedger
from ..embed.sqlite_cache import SqliteCache
from ..errors import MemlaneError, StoreError
from ..index.erase import Erased, compact, erase, texts, unread_all
from ..index.sources import CARRIED_OUT, Sources
from ..index.sqlite import SqliteStore
from ..tombstones.match import Tombstones
from ..transcripts.read import turns
from ..transcripts.sanitize import Sanitizer
from ..values import FileEntry, SyncReport, Value
from ..workspace import read_document
from .base import Sweep

_PATIENCE = 60.0


class Forgotten(Value, frozen=True):
    """What went when tombstones were carried out."""

    erased: Erased = Erased()
    cached: int = 0
    """Embeddings in the cache."""
    swept: tuple[str, ...] = ()
    """Files that went as a whole."""
    warning: str | None = None


def carry_out(
    store: SqliteStore,
    sources: Sources,
    *,
    cache_path: Path,
    jobs_path: Path,
    sweep: Sweep,
    patience: float,
    run: Callable[[], SyncReport | None],
) -> Forgotten:
    """Take all that is forgotten out of what is derived.

    `run` is a pass over the tree. Raises StoreError, and StoreBusy when another process writes for longer
    than `patience` seconds.
    """
    forgotten = sources.tombstones()
    if store.read_only:
        raise StoreError(
            f"nothing can be forgotten: the index {store.path} can only be read",
            hint="make it and its folder writable, then run memlane forget again",
        )
    affected = frozenset(entry.location for entry in affected_files(sources, forgotten))
    with writer_lock(store.path, timeout=patience):
        erased = erase(store.database, forgotten, affected)
        store.settle()
    report = run()
    with writer_lock(store.path, timeout=max(patience, _PATIENCE)):
        staying = texts(store.database)
        JobLedger(jobs_path).keep_only(staying)
        with closing(SqliteCache(cache_path, max_entries=0, max_bytes=0)) as cache:
            cached = cache.keep_only(staying)
        swept = [*_set_aside(store.path, cache_path), *sweep(forgotten)]
        compact(store.database)
        store.put_note(CARRIED_OUT, forgotten.fingerprint)
        store.settle()
    return Forgotten(erased, cached, tuple(swept), report.warning if report else None)


def take_back(store: SqliteStore, sources: Sources, which: str) -> None:
    """Take a tombstone back: the next pass reads what is still there. `which` is its whole digest."""
    assert sources.ledger is not None
    with writer_lock(store.path, timeout=_PATIENCE):
        # In this order: files that are read once more for nothing do no harm.
        unread_all(store.database)
        sources.ledger.change(lambda _key, stones: [one for one in stones if one.digest != which])
        store.put_note(CARRIED_OUT, sources.tombstones().fingerprint)
        store.settle()


def affected_files(sources: Sources, forgotten: Tombstones) -> Iterator[FileEntry]:
    """The notes and transcripts in whose text something forgotten stands."""
    mask = Sanitizer(sources.sessions.secrets() if sources.sessions else ())
    for entry in sources.scan().files:
        with suppress(MemlaneError):  # what cannot be read is not indexed either
            if entry.source == "sessions":
                held = any(forgotten.holds(turn.text) for turn in turns(Path(entry.location), sanitize=mask))
            else:
                held = bool(forgotten.forgotten_lines(read_document(entry.location).text))
            if held:
                yield entry


def set_aside(*databases: Path) -> Iterator[Path]:
    """Damaged files that were moved aside, and new ones that never took their place."""
    for database in databases:
        with suppress(OSError):
            for path in sorted(database.parent.iterdir()):
                rest = path.name.removeprefix(database.name)
                if rest != path.name and rest.startswith((".corrupt-", ".new")):
                    yield path


def _set_aside(*databases: Path) -> Iterator[str]:
    for path in set_aside(*databases):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot delete {path}: {error.strerror or error}") from error
        yield path.name
