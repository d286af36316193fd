"""The walk over the tree: which files are notes, and what can be known of them unread.

On the path of every search: one listing per folder, one look per note, nothing is opened.
"""

# Plain strings: a path object per file would double the time of the walk.
# ruff: noqa: PTH116, PTH118, PTH206

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from datetime import date
from operator import attrgetter

from ..errors import WorkspaceError
from ..values import FileEntry, FileFailure, TreeScan
from .beneath import is_link
from .roots import (
    CURATED_NAMES,
    MEMORY_FOLDER,
    ExtraRoot,
    Workspace,
    below,
    fault_of,
    is_hollow,
    is_ignored_file,
    is_ignored_folder,
    is_markdown,
    is_unspeakable,
)

_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])"


def dated_day(path_or_name: str) -> date | None:
    """The calendar day at the start of a file's base name, or None where there is no such day.

    `memory/2026-02-10-standup.md` gives 10 February 2026; `2026-13-40.md` and `2026-02-100.md` give None.
    """
    name = path_or_name[path_or_name.rfind("/") + 1 :]
    if name[4:5] != "-":  # most names: no pattern needed
        return None
    found = re.match(_DATE, name)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def curated_name(root: str) -> str:
    """The name of the curated file in use: `memory.md` only where there is no file `MEMORY.md`."""
    for name in CURATED_NAMES:
        try:
            if stat.S_ISREG(os.lstat(os.path.join(root, name)).st_mode):
                return name
        except OSError:
            continue
    return CURATED_NAMES[0]


def curated_identities(root: str) -> frozenset[tuple[int, int]]:
    """Device and inode of what the curated names stand for, links followed.

    Whatever else has one of these identities is the curated file under another name.
    """
    identities = set()
    for name in CURATED_NAMES:
        try:
            found = os.stat(os.path.join(root, name))
        except OSError:
            continue
        if found.st_ino:
            identities.add((found.st_dev, found.st_ino))
    return frozenset(identities)


def missing_workspace(root: str) -> WorkspaceError:
    """The error for a workspace folder that is not there."""
    return WorkspaceError(
        f"there is no workspace folder {root}",
        hint="make one with `memlane init`, or set agents.defaults.workspace to the folder with your notes",
    )


def scan_tree(workspace: Workspace) -> TreeScan:
    """Everything in the workspace and the extra paths that counts as a note, in a fixed order.

    `MEMORY.md` first, then `memory/`, then the extra paths. A file that has several names is given once,
    under the first of them. Links are passed over and named; a folder that cannot be listed is named as
    failed and the rest goes on. Raises WorkspaceError when the workspace folder itself is missing or is not a
    folder.
    """
    root = workspace.location
    try:
        mode = os.stat(root).st_mode
    except FileNotFoundError:
        raise missing_workspace(root) from None
    except OSError as error:
        raise WorkspaceError(f"cannot read the workspace {root}: {error.strerror}") from error
    if not stat.S_ISDIR(mode):
        raise WorkspaceError(f"the workspace {root} is a file, not a folder")
    walk = _Walk(workspace)
    walk.take_curated()
    walk.take_memory()
    for extra in workspace.extra_roots():
        walk.take_extra(extra)
    return TreeScan(
        files=tuple(walk.files),
        skipped_links=tuple(walk.links),
        failed=tuple(walk.failed.values()),
        missing_roots=tuple(walk.missing),
        absent=tuple(walk.absent),
        skipped=tuple(walk.skipped.values()),
    )


def is_readable(location: str) -> bool:
    """Whether this process may read a file, as far as the system tells without opening it."""
    return os.access(location, os.R_OK)


class _Walk:
    """What one scan has found so far."""

    def __init__(self, workspace: Workspace) -> None:
        self.files: list[FileEntry] = []
        self.links: dict[str, None] = {}
        self.failed: dict[str, FileFailure] = {}
        self.missing: list[str] = []
        self.absent: list[str] = []
        self.skipped: dict[str, FileFailure] = {}
        self._workspace = workspace
        self._root = workspace.location
        self._curated_name = curated_name(self._root)
        self._curated = curated_identities(self._root)
        self._seen: set[object] = set()

    def take_curated(self) -> None:
        """Take `MEMORY.md`, or `memory.md` where that is the one in use."""
        for name in CURATED_NAMES:
            location = os.path.join(self._root, name)
            looked = self._look(location)
            if looked is not None and is_link(looked):
                self.links[name] = None
            elif looked is not None and stat.S_ISREG(looked.st_mode):
                self._add(location, name, looked, evergreen=True)

    def take_memory(self) -> None:
        """Take the Markdown files under `memory/`, where there is such a folder."""
        location = os.path.join(self._root, MEMORY_FOLDER)
        looked = self._look(location)
        if looked is None:
            if MEMORY_FOLDER not in self.failed:
                self.absent.append(location)
            return
        if is_link(looked):
            self.links[MEMORY_FOLDER] = None
        elif stat.S_ISDIR(looked.st_mode):
            self._take_folder(location, None)
        else:
            self._fail(MEMORY_FOLDER, "not a folder")

    def take_extra(self, extra: ExtraRoot) -> None:
        """Take what an extra path holds, or the file it names."""
        location, shown = extra.location, self._workspace.shown(extra.location)
        if is_unspeakable(shown):
            self._fail(_printable(shown), fault_of(shown))
            return
        link = self._link_on_the_way(location)
        if link is not None:
            self.links[self._workspace.shown(link)] = None
            return
        looked = self._look(location)
        if looked is None:
            if shown not in self.failed:
                self.missing.append(extra.configured.path)
                self.absent.append(location)
        elif stat.S_ISDIR(looked.st_mode):
            self._take_folder(location, extra)
        elif stat.S_ISREG(looked.st_mode):
            self._add(location, shown, looked, evergreen=extra.configured.evergreen, extra=True)
        else:
            self._fail(shown, "neither a file nor a folder")

    def _look(self, location: str) -> os.stat_result | None:
        try:
            return os.lstat(location)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._fail(self._workspace.shown(location), _reason(error))
            return None

    def _link_on_the_way(self, location: str) -> str | None:
        """The first link at an extra path; inside the workspace, at any folder on the way to it too."""
        inside = below(location, self._root)
        steps = [location]
        if inside is not None:
            names = inside.split(os.sep) if inside else []
            steps = [os.path.join(self._root, *names[: count + 1]) for count in range(len(names))]
        for step in steps:
            try:
                if is_link(os.lstat(step)):
                    return step
            except OSError:
                return None
        return None

    def _take_folder(self, top: str, extra: ExtraRoot | None) -> None:
        waiting = [top]
        while waiting:
            location = waiting.pop()
            try:
                with os.scandir(location) as listing:
                    entries = sorted(listing, key=attrgetter("name"))
            except FileNotFoundError:
                continue
            except OSError as error:
                self._fail(self._workspace.shown(location), _reason(error))
                continue
            waiting.extend(reversed(self._take_entries(entries, location, top, extra)))

    def _take_entries(
        self, entries: list[os.DirEntry[str]], location: str, top: str, extra: ExtraRoot | None
    ) -> list[str]:
        """Take the files among the entries of one folder; gives the folders among them."""
        prefix = _as_prefix(self._workspace.shown(location))
        inside = _as_prefix((below(location, top) or "").replace(os.sep, "/"))
        accepts = is_markdown if extra is None else extra.accepts
        evergreen = extra is None or extra.configured.evergreen
        folders = []
        for entry in entries:
            name = entry.name
            try:
                if entry.is_dir(follow_symlinks=False) and not _is_junction(entry):
                    if not is_ignored_folder(name) and self._can_be_named(prefix, name):
                        folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    self._take_irregular(entry, prefix, accepts(inside + name))
                elif accepts(inside + name) and self._counts(prefix, name):
                    looked = entry.stat(follow_symlinks=False)
                    shown = prefix + name
                    self._add(entry.path, shown, looked, evergreen=evergreen, extra=extra is not None)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._fail(prefix + name, _reason(error))
        return folders

    def _take_irregular(self, entry: os.DirEntry[str], prefix: str, wanted: bool) -> None:
        """Name a link that hides notes. Pipes, devices and sockets are nothing to speak of."""
        name = entry.name
        if not (entry.is_symlink() or _is_junction(entry)):
            return
        hides_folder = entry.is_dir() and not is_ignored_folder(name)
        if hides_folder or (wanted and not is_ignored_file(name)):
            self.links[_printable(prefix + name)] = None

    def _counts(self, prefix: str, name: str) -> bool:
        return not is_ignored_file(name) and self._can_be_named(prefix, name)

    def _can_be_named(self, prefix: str, name: str) -> bool:
        if is_unspeakable(name) or is_hollow(name):
            self._fail(_printable(prefix + name), fault_of(name))
            return False
        return True

    def _add(
        self, location: str, shown: str, looked: os.stat_result, *, evergreen: bool, extra: bool = False
    ) -> None:
        inode, device = looked.st_ino, looked.st_dev
        identity: object = (device, inode) if inode else unicodedata.normalize("NFC", location)
        if identity in self._seen:
            return
        curated = (device, inode) in self._curated
        if shown.lower() == "memory.md":
            if shown in CURATED_NAMES and shown != self._curated_name:
                return
            curated = True
        self._seen.add(identity)
        media = self._workspace.modality_of(shown) if extra else None
        if media is not None and self._is_too_large(shown, looked.st_size):
            return
        day = dated_day(shown)
        self.files.append(
            FileEntry(
                shown, location, "memory", looked.st_size, looked.st_mtime_ns, inode, device, day, curated,
                evergreen and day is None, media,
            )
        )  # fmt: skip

    def _is_too_large(self, shown: str, size: int) -> bool:
        rules = self._workspace.media
        if rules is None or size <= rules.max_bytes:
            return False
        reason = f"{size:,} bytes, more than multimodal.maxFileBytes ({rules.max_bytes:,})"
        self.skipped[shown] = FileFailure(shown, reason)
        return True

    def _fail(self, shown: str, reason: str) -> None:
        self.failed[shown] = FileFailure(shown or ".", reason)


def _as_prefix(folder: str) -> str:
    return folder if not folder or folder.endswith("/") else f"{folder}/"


def _is_junction(entry: os.DirEntry[str]) -> bool:
    return sys.platform == "win32" and is_link(entry.stat(follow_symlinks=False))


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
