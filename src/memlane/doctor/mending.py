"""What `--fix` does. It touches what can be made again from the notes, and never a note."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from ..embed.sqlite_cache import SqliteCache
from ..errors import MemlaneError
from .findings import Finding, Mending
from .storage import exposed
from .subject import Subject

_ORDER: tuple[Mending, ...] = ("modes", "cache", "rebuild", "sync")
"""The cache before the index, which is filled from it."""


def mend(subject: Subject, findings: Iterable[Finding]) -> Iterator[str]:
    """Mend what can be; gives in words what was done, or why it could not be."""
    wanted = {finding.mending for finding in findings}
    if "rebuild" in wanted:
        wanted.discard("sync")
    for mending in _ORDER:
        if mending in wanted:
            try:
                yield _MENDINGS[mending](subject)
            except (MemlaneError, OSError) as error:
                yield f"could not be mended ({mending}): {error}"


def _close_to_others(subject: Subject) -> str:
    closed = exposed(subject)
    for path in closed:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return f"closed {len(closed)} files or folders to others"


def _mend_cache(subject: Subject) -> str:
    with closing(
        SqliteCache(
            subject.cache_path, max_entries=subject.index.cache_entries, max_bytes=subject.index.cache_bytes
        )
    ) as cache:
        kept = cache.mend()
    return f"began a new embedding cache with {kept} embeddings of the damaged one"


def _rebuild(subject: Subject) -> str:
    subject.sync()
    return "built the index again; the damaged one was set aside"


def _sync(subject: Subject) -> str:
    report = subject.sync()
    return f"brought the index up to date: {report.indexed} indexed, {report.removed} removed"


_MENDINGS: dict[Mending, Callable[[Subject], str]] = {
    "modes": _close_to_others,
    "cache": _mend_cache,
    "rebuild": _rebuild,
    "sync": _sync,
}
