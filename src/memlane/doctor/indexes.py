"""The index and the embedding cache: whole, of this version, current, complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from ..backends.sources import sources_of
from ..clock import Clock
from ..embed.cache import NoCache
from ..embed.select import Choice
from ..embed.sqlite_cache import SqliteCache
from ..errors import StoreCorrupt, StoreError
from ..events import SilentObserver
from ..index.database import NewerDatabase
from ..index.identity import space_identity
from ..index.integrity import OutOfTime
from ..index.sqlite import SqliteStore
from ..index.sync import LAST_PASS, Synchronizer
from .findings import Finding, advice, broken, failure, fine
from .subject import Subject

_BUILD = "memlane index"
_REBUILD = "memlane doctor --fix builds it again from the notes; embeddings come from the cache"
_SHARE_OF_TIME = 0.8


def check_index(subject: Subject) -> Iterator[Finding]:
    """Pages, and what must agree: chunks, full-text rows and vectors; then whether it says what is there."""
    index = subject.index
    if index.store_path != subject.settings.store_path:
        yield advice(
            "index",
            f"{subject.settings.store_path} is another program's; the index is kept beside it",
            "set store.path to a file of its own",
        )
    if not index.store_path.exists():
        yield advice("index", "nothing is indexed yet", _BUILD, mending="sync")
        return
    try:
        store = SqliteStore(
            index.store_path, vector_extension=index.vector_extension, extension_path=index.extension_path
        )
    except StoreCorrupt as damage:
        yield broken("index", str(damage), _REBUILD, mending="rebuild")
        return
    except NewerDatabase as newer:
        yield failure("index", newer)
        return
    with closing(store):
        try:
            sound = True
            for finding in _wholeness(subject, store):
                sound = sound and finding.severity != "broken"
                yield finding
            if sound:
                yield from _currency(subject, store, subject.choose())
        except StoreCorrupt as damage:
            yield broken("index", str(damage), _REBUILD, mending="rebuild")


def _wholeness(subject: Subject, store: SqliteStore) -> Iterator[Finding]:
    if store.read_only:
        yield broken(
            "index",
            f"{store.path} can only be read: what is new in the notes is not found",
            "check the permissions of its folder and the space on its disk",
        )
    if store.vector_problem:
        yield advice("index", store.vector_problem, "results are the same, large indexes answer more slowly")
    try:
        found = store.defects(subject.seconds * _SHARE_OF_TIME)
    except OutOfTime:
        yield advice("index", f"{store.path} is too large to be checked in the time there is")
        return
    for defect in found:
        if defect.leftover:
            yield advice("index", defect.message, f"{_BUILD} finishes or drops it", mending="sync")
        else:
            yield broken("index", f"{store.path}: {defect.message}", _REBUILD, mending="rebuild")
    if not any(not defect.leftover for defect in found):
        counts = store.statistics()
        yield fine(
            "index", f"{store.path}: {counts.files} files, {counts.chunks} chunks, {counts.vectors} vectors"
        )


def _currency(subject: Subject, store: SqliteStore, choice: Choice) -> Iterator[Finding]:
    """Whether the index says what the notes say, with vectors of the model in use."""
    synchronizer = Synchronizer(
        sources_of(subject.settings, subject.workspace),
        store,
        embedder=choice.embedder,
        cache=NoCache(),
        chunking=subject.index.chunking,
        observer=SilentObserver(),
        clock=subject.clock,
    )
    _, plan = synchronizer.pending()
    waiting = len(plan.read) + len(plan.remove) + len(plan.refresh)
    if waiting:
        yield advice("index", f"{waiting} files differ from what is indexed", _BUILD, mending="sync")
    for item in plan.failed[:10]:
        yield broken(
            "index", f"{item.path} is not indexed: {item.reason}", "mend the note, then memlane index"
        )
    space = store.current_space()
    if choice.embedder is not None and not waiting:
        wanted = space_identity(choice.embedder.identity)
        if space is None or not space.complete or space.identity != wanted:
            yield advice(
                "index",
                f"not every chunk has a vector of {choice.embedder.model} yet",
                _BUILD,
                mending="sync",
            )
    yield from _last_pass(store.note(LAST_PASS), subject.clock)


def _last_pass(noted: str | None, clock: Clock) -> Iterator[Finding]:
    from datetime import datetime

    try:
        ahead = datetime.fromisoformat(noted or "") > clock.now()
    except (ValueError, TypeError):
        return
    if ahead:
        yield advice("time", f"the last pass was at {noted}, which is still to come", "set the clock right")


def check_cache(subject: Subject) -> Iterator[Finding]:
    """The embedding cache, where there is one."""
    path = subject.cache_path
    if not path.exists():
        return
    with closing(
        SqliteCache(path, max_entries=subject.index.cache_entries, max_bytes=subject.index.cache_bytes)
    ) as cache:
        try:
            problems = cache.problems()
        except StoreError as error:
            problems = (str(error),)
            if error.hint:  # of another program or another version: nothing to mend
                yield failure("cache", error)
                return
        for problem in problems:
            yield broken(
                "cache",
                f"{path}: {problem}",
                "memlane doctor --fix keeps what can be read of it",
                mending="cache",
            )
        if not problems:
            entries, size = cache.size()
            yield fine("cache", f"{path}: {entries} embeddings, {size / 1e6:,.1f} MB")
