"""The folder of the index: space, modes, what was set aside."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from .findings import Finding, advice, broken, fine
from .subject import Subject

_LEAST_FREE = 20_000_000
_GROUP_AND_OTHERS = 0o077


def check_storage(subject: Subject) -> Iterator[Finding]:
    """Whether the index can be written, and whether only its owner can read it."""
    folder = subject.index.store_path.parent
    nearest = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not nearest.is_dir():
        yield broken("storage", f"{nearest} is not a folder", "move it away, or set another store.path")
        return
    if trouble := _write_trouble(nearest):
        yield broken(
            "storage",
            f"{nearest} cannot be written: {trouble}",
            "check its permissions and the disk, or set another store.path",
        )
    yield from _space(subject, nearest)
    yield from _open_to_others(subject)
    yield from _set_aside(subject)


def _write_trouble(folder: Path) -> str:
    """Why no file can be made in a folder, found by making one; empty when it can."""
    from tempfile import TemporaryFile  # has no name, so nothing of it can stay behind

    try:
        with TemporaryFile(dir=folder) as file:
            file.write(b"\0")
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _space(subject: Subject, folder: Path) -> Iterator[Finding]:
    """A rebuild stands beside the old index until it is done: as much again is needed."""
    free = shutil.disk_usage(folder).free
    taken = sum(_size(path) for path in subject.own_files())
    wanted = max(_LEAST_FREE, 2 * taken)
    said = f"{folder}: {free / 1e6:,.0f} MB free"
    if free < _LEAST_FREE:
        yield broken("storage", f"{said}; the index may not be written", "free some space")
    elif free < wanted:
        yield advice("storage", f"{said}; a rebuild needs up to {wanted / 1e6:,.0f} MB", "free some space")
    else:
        yield fine("storage", f"{said}; the index and the cache take {taken / 1e6:,.1f} MB")


def _open_to_others(subject: Subject) -> Iterator[Finding]:
    if os.name == "nt":
        return
    for path in exposed(subject):
        mode = stat.S_IMODE(path.stat().st_mode)
        yield broken(
            "storage",
            f"{path} can be read or changed by others (mode {mode:04o})",
            "memlane doctor --fix closes it",
            mending="modes",
        )


def exposed(subject: Subject) -> list[Path]:
    """Files of ours that others may open, and the folder made for them."""
    candidates = subject.own_files()
    folder = subject.index.store_path.parent
    if folder == subject.settings.state_dir / "memory":  # any other folder may be shared on purpose
        candidates.append(folder)
    found = []
    for path in candidates:
        try:
            looked = path.lstat()
        except OSError:
            continue
        plain = stat.S_ISREG(looked.st_mode) or stat.S_ISDIR(looked.st_mode)
        if plain and stat.S_IMODE(looked.st_mode) & _GROUP_AND_OTHERS:
            found.append(path)
    return found


def _set_aside(subject: Subject) -> Iterator[Finding]:
    aside = [path for path in subject.own_files() if ".corrupt-" in path.name]
    if aside:
        size = sum(_size(path) for path in aside) / 1e6
        yield advice(
            "storage",
            f"{len(aside)} damaged files were set aside in {aside[0].parent} ({size:,.1f} MB)",
            "delete them when nobody wants to look into them: *.corrupt-*",
        )


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
