"""Watching the notes: which folders are watched, and which changes may matter.

Where the system watches folder by folder (Linux), exactly the folders that the walk over the tree would
enter are watched: a virtual environment or a `.git` among the notes costs nothing. Elsewhere each root is
watched whole and what does not matter is passed over.
"""

# Plain strings: one per folder of the tree and one per event.
# ruff: noqa: PTH118, PTH120, PTH206

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from time import monotonic
from typing import Any, Literal

from .roots import (
    CURATED_NAMES,
    MEMORY_FOLDER,
    Workspace,
    below,
    is_ignored_file,
    is_ignored_folder,
    is_markdown,
)

_TICK_SECONDS = 0.1
"""How long a request waits at most while the watch is asleep."""
_REMOTE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "vboxsf", "afs", "ceph", "lustre"})
"""File systems whose changes made on another machine raise no event here. FUSE ones are added by prefix."""

Changes = Generator[Iterable[tuple[Any, str]], None, None]
Subscribe = Callable[[list[str], bool], Changes]
"""Begin to watch folders (with all that is below them, or not); the generator gives changes as they come,
and nothing when a tick has passed. Raises OSError where it cannot."""


class TreeWatch:
    """Waits for changes to notes. Not thread-safe but for `close`."""

    def __init__(self, workspace: Workspace, *, subscribe: Subscribe | None = None) -> None:
        self._workspace = workspace
        self._subscribe = subscribe or _subscribe
        self._whole_roots = sys.platform != "linux"
        self._changes: Changes | None = None
        self._early: list[tuple[Any, str]] = []
        self._folders: frozenset[str] = frozenset()
        self.outdated = True
        """The folders have changed, or none is watched yet: `renew` is due."""
        self.problem = ""
        """Why there are no events; `wait` merely waits then."""

    @property
    def active(self) -> bool:
        """Whether events come in."""
        return self._changes is not None

    def renew(self) -> None:
        """Watch the folders as they are now. Changes made before this may have gone unseen."""
        self.close()
        self.outdated = False
        folders = self._wanted()
        remote = _remote_folder(_tops(self._workspace))
        self.problem = (
            f"{remote} is on a network file system, which does not report every change" if remote else ""
        )
        if remote:
            return
        try:
            changes = self._subscribe(sorted(folders), self._whole_roots)
            self._early = list(next(changes))
        except FileNotFoundError:
            self.outdated = True  # a folder went away just now
        except (OSError, RuntimeError, StopIteration) as error:
            self.problem = _watch_problem(error, len(folders))
        else:
            self._changes, self._folders = changes, folders
            self.outdated = self._wanted() != folders

    def wait(self, wake: threading.Event, seconds: float) -> list[str]:
        """The notes and folders that changed, as soon as any did; nothing when time is up or `wake` set."""
        until = monotonic() + seconds
        while not wake.is_set() and (left := until - monotonic()) > 0:
            if self._changes is None:
                wake.wait(left)
                break
            try:
                news, self._early = [*self._early, *next(self._changes)], []
                changed = [path for _, path in news if self._matters(path)]
            except (OSError, RuntimeError, StopIteration) as error:
                self.close()
                self.problem = _watch_problem(error, len(self._folders))
                break
            if changed:
                return changed
        return []

    def close(self) -> None:
        """Watch no longer."""
        changes, self._changes = self._changes, None
        if changes is not None:
            changes.close()

    def _wanted(self) -> frozenset[str]:
        return frozenset(watched_folders(self._workspace, whole_roots=self._whole_roots))

    def _matters(self, path: str) -> bool:
        """Whether a scan might find something else after a change of this path."""
        root = self._workspace.location
        found = {_meaning(path, folder, accepts) for folder, accepts in _note_roots(self._workspace)}
        # A folder that is watched, the workspace itself, or a folder on the way to it or to a root.
        if path in self._folders or "folder" in found or below(root, path) is not None:
            self.outdated = True
            return True
        return "note" in found or below(path, root) in CURATED_NAMES


def _meaning(path: str, root: str, accepts: Callable[[str], bool]) -> Literal["", "note", "folder"]:
    """What a path is to a root: a `note` in it, a `folder` in it or on the way to it, or nothing."""
    inside = below(path, root)
    if inside is None:
        return "folder" if below(root, path) is not None else ""
    if not inside:
        return "folder" if _is_folder(path) else "note"
    *folders, name = inside.split(os.sep)
    if any(is_ignored_folder(folder) for folder in folders):
        return ""
    if not is_ignored_file(name) and accepts(inside.replace(os.sep, "/")):
        return "note"
    return "folder" if not is_ignored_folder(name) and _is_folder(path) else ""


def watched_folders(workspace: Workspace, *, whole_roots: bool = False) -> Iterator[str]:
    """The folders in which a change could change what a scan finds.

    `whole_roots` leaves out the folders below a root. For a root that is not there, the nearest folder above
    it is given; for one that is a file, its folder.
    """
    yield from _tops(workspace)
    if whole_roots:
        return
    for root, _ in _note_roots(workspace):
        if _is_folder(root):
            yield from _folders_below(root)


def _note_roots(workspace: Workspace) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """Each root that is walked, with the test of what counts below it."""
    yield os.path.join(workspace.location, MEMORY_FOLDER), is_markdown
    for extra in workspace.extra_roots():
        yield extra.location, extra.accepts


def _tops(workspace: Workspace) -> Iterator[str]:
    """The workspace and the roots, or for one that is no folder the nearest folder above it."""
    for top in (workspace.location, *(root for root, _ in _note_roots(workspace))):
        folder = top
        while not _is_folder(folder) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        yield folder


def _folders_below(top: str) -> Iterator[str]:
    waiting = [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                found = [
                    entry.path
                    for entry in listing
                    if not is_ignored_folder(entry.name) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue  # the scan names it; its parent's events tell when it changes
        yield from found
        waiting.extend(found)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _subscribe(folders: list[str], whole: bool) -> Changes:
    from watchfiles import watch

    return watch(
        *folders,
        watch_filter=None,
        recursive=whole,
        debounce=int(_TICK_SECONDS * 1000),
        step=int(_TICK_SECONDS * 500),
        rust_timeout=int(_TICK_SECONDS * 1000),
        yield_on_timeout=True,
        force_polling=False,
        ignore_permission_denied=True,
    )


def _watch_problem(error: Exception, folders: int) -> str:
    text = str(error)
    if "limit" in text:
        return f"the system watches no more folders ({folders} are wanted; see fs.inotify.max_user_watches)"
    return f"the system does not report changes: {text or type(error).__name__}"


def _remote_folder(folders: Iterable[str]) -> str:
    """The first of the folders that lies on a network file system, where the system tells; else nothing."""
    mounts = _mounts()
    for folder in sorted(folders):
        found = max((point for point in mounts if below(folder, point) is not None), key=len, default="")
        kind = mounts.get(found, "")
        if kind in _REMOTE_SYSTEMS or kind.startswith("fuse."):
            return folder
    return ""


def _mounts() -> dict[str, str]:
    """Mount points with their kind of file system; none where the system does not list them."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            rows = [line.split(" ") for line in file]
    except OSError:
        return {}
    return {row[1].replace("\\040", " "): row[2] for row in rows if len(row) > 2}
