"""What surrounds memory: watches, time zone, clock, other writers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from ..disk import writer_lock
from ..errors import StoreBusy
from .findings import Finding, advice, broken, fine
from .subject import Subject

_LIMITS = Path("/proc/sys/fs/inotify")
_FULL = 0.8
"""How much of the machine's watches the notes may need before it is said."""
_EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
_MOST_NAMED = 5
_SHARE_OF_TIME = 0.5


def check_watching(subject: Subject, limits: Path = _LIMITS) -> Iterator[Finding]:
    """Whether the system has a watch for every folder; Linux alone counts them."""
    if not subject.settings.memory_search.sync.watch:
        yield fine("watching", "sync.watch is off")
        return
    capacity = _number(limits / "max_user_watches")
    if capacity is None:
        return
    folders, all_counted = _folders(subject)
    said = f"{folders}{'' if all_counted else ' or more'} folders to watch, {capacity} watches for each user"
    if folders > _FULL * capacity:
        yield advice(
            "watching",
            f"{said}: changes may be noticed late",
            f"sysctl fs.inotify.max_user_watches={max(524_288, 4 * folders)}",
        )
    elif _number(limits / "max_user_instances") == 0:
        yield advice(
            "watching", "no program may watch folders here", "sysctl fs.inotify.max_user_instances=128"
        )
    else:
        yield fine("watching", said)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _folders(subject: Subject) -> tuple[int, bool]:
    """How many folders lie under the roots, other programs' included: a watch is spent on each."""
    deadline = monotonic() + subject.seconds * _SHARE_OF_TIME
    root = subject.workspace.root
    tops = [root / "memory", *(Path(extra.location) for extra in subject.workspace.extra_roots())]
    count = 1
    for top in tops:
        for _ in os.walk(top):
            count += 1
            if monotonic() > deadline:
                return count, False
    return count, True


def check_time(subject: Subject) -> Iterator[Finding]:
    """The zone decides which day's log is written; the clock, how old a note is."""
    now = subject.clock.now()
    configured = subject.settings.user_timezone
    if now < _EARLIEST:
        yield broken("time", f"the clock says {now:%Y-%m-%d %H:%M}", "set the clock right")
    if configured:
        yield fine("time", f"{configured}: it is {now:%Y-%m-%d %H:%M}")
    elif not now.utcoffset():
        yield advice(
            "time",
            "the machine runs on UTC and no zone is configured: the day of a log is the day of UTC",
            "set agents.defaults.userTimezone, such as Europe/Berlin",
        )
    else:
        yield fine("time", f"the machine's zone {now:%Z}: it is {now:%Y-%m-%d %H:%M}")
    yield from _from_the_future(subject, now)


def _from_the_future(subject: Subject, now: datetime) -> Iterator[Finding]:
    tomorrow = (now + timedelta(days=1)).timestamp() * 1e9
    early = [entry.path for entry in subject.scan().files if entry.mtime_ns > tomorrow]
    if early:
        named = ", ".join(early[:_MOST_NAMED]) + ("" if len(early) <= _MOST_NAMED else ", …")
        yield advice(
            "time",
            f"{len(early)} notes were changed later than now ({named})",
            "set the clock right; touch the notes if it is",
        )


def check_writers(subject: Subject) -> Iterator[Finding]:
    """Another process that writes the index now. A lock that was left behind holds nobody up."""
    path = subject.index.store_path
    if not Path(f"{path}.lock").exists():
        return
    try:
        with writer_lock(path, timeout=0):
            pass
    except StoreBusy:
        yield advice(
            "writers", f"another process is writing {path} now", "its results are not counted here yet"
        )
    else:
        yield fine("writers", "no other process is writing the index")
