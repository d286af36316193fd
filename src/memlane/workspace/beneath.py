"""Opening what lies beneath a trusted folder, without following a link at any component.

Each component is looked up in the already opened folder before it (`openat`), so that a folder swapped for a
link at the last moment leads nowhere. Where the system cannot do that (Windows), each component is checked by
its path instead, and the opened file must be the one that was looked at.
"""

# pathlib knows no descriptors.
# ruff: noqa: PTH116, PTH118, PTH208

from __future__ import annotations

import os
import stat
import sys
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from errno import ENOTDIR
from types import TracebackType

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.stat in os.supports_follow_symlinks
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_FILE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_ATTEMPTS = 5


class NotPlain(Exception):  # noqa: N818 - reads as a statement of fact
    """A link, or something that is neither a regular file nor a folder, stands at the path. It says which."""


class Folder:
    """An open folder. Names given to its methods are single components, looked up without following links."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def trusted(cls, path: str) -> Folder:
        """Open `path` itself, following links in it: the user named it. Raises OSError."""
        if _BY_DESCRIPTOR:
            return cls(path, os.open(path, _FOLDER | getattr(os, "O_CLOEXEC", 0)))
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise _no_folder(path)
        return cls(path, None)

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back. Closing twice does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def look(self, name: str, *, follow: bool = False) -> os.stat_result:
        """What stands at `name`. Raises OSError."""
        if self._descriptor is None:
            return os.stat(self._at(name), follow_symlinks=follow)
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=follow)

    def spelling(self, name: str) -> str:
        """How the disk spells `name`: another Unicode form of it when only that one is there."""
        if name.isascii():
            return name
        try:
            self.look(name)
        except FileNotFoundError:
            form = unicodedata.normalize("NFC", name)
            listed = os.listdir(self.path if self._descriptor is None else self._descriptor)
            return next((other for other in listed if unicodedata.normalize("NFC", other) == form), name)
        return name

    def enter(self, name: str) -> Folder:
        """Open the folder `name`. Raises NotPlain for a link, OSError else."""
        looked = self.look(name)
        if is_link(looked):
            raise NotPlain(_in_place_of("folder", looked))
        if not stat.S_ISDIR(looked.st_mode):
            raise _no_folder(name)
        path = os.path.join(self.path, name)
        if self._descriptor is None:
            return Folder(path, None)
        return Folder(path, os.open(name, _FOLDER | _NO_FOLLOW, dir_fd=self._descriptor))

    def enter_or_make(self, name: str) -> Folder:
        """Open the folder `name`, made when it is missing. Raises NotPlain for a link, OSError else."""
        with suppress(FileExistsError):
            os.mkdir(self._at(name), dir_fd=self._descriptor)
        return self.enter(name)

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """Open the regular file `name`; never waits, whatever stands there.

        Raises NotPlain when it is not a regular file, OSError else. A file that an editor replaces between
        the look and the opening is looked at again.
        """
        for _ in range(_ATTEMPTS):
            before = self.look(name)
            if not stat.S_ISREG(before.st_mode):
                raise NotPlain(_in_place_of("file", before))
            descriptor = os.open(self._at(name), flags | _FILE | _NO_FOLLOW, dir_fd=self._descriptor)
            if _same_file(before, os.fstat(descriptor)):
                return descriptor
            os.close(descriptor)
        raise NotPlain("another program keeps replacing it")

    def stands(self, name: str) -> bool:
        """Whether anything stands at `name`. Raises OSError."""
        try:
            self.look(name)
        except FileNotFoundError:
            return False
        return True

    def holds(self, name: str) -> bool:
        """Whether the regular file `name` is there. Raises NotPlain when something else is, OSError else."""
        try:
            looked = self.look(name)
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(looked.st_mode):
            raise NotPlain(_in_place_of("file", looked))
        return True

    def create(self, name: str, mode: int = 0o666, *, flags: int = os.O_RDWR) -> int:
        """Create the file `name` and open it. Raises FileExistsError when anything stands there."""
        create = flags | os.O_CREAT | os.O_EXCL | _FILE | _NO_FOLLOW
        return os.open(self._at(name), create, mode, dir_fd=self._descriptor)

    def rename(self, name: str, target: str) -> None:
        """Put `name` in the place of `target`, in one step."""
        here = self._descriptor
        os.replace(self._at(name), self._at(target), src_dir_fd=here, dst_dir_fd=here)

    def remove(self, name: str) -> None:
        """Delete the file `name`."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def settle(self) -> None:
        """Have the folder's list of names written to the disk, where the system can."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.fsync(self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)


def open_beneath(anchor: str, parts: Iterable[str]) -> int:
    """Open the regular file at `parts` below the trusted folder `anchor` for reading.

    Names are taken in another Unicode form when only that one exists. Raises NotPlain when a component is a
    link or the last one no regular file, OSError else.
    """
    *folders, name = parts
    folder = Folder.trusted(anchor)
    try:
        for part in folders:
            inner = folder.enter(folder.spelling(part))
            folder.close()
            folder = inner
        return folder.open(folder.spelling(name))
    finally:
        folder.close()


def is_link(looked: os.stat_result) -> bool:
    """Whether a look without following found a link: a symbolic one, or a junction of Windows."""
    if sys.platform == "win32":
        return stat.S_ISLNK(looked.st_mode) or looked.st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT
    return stat.S_ISLNK(looked.st_mode)


def read_all(descriptor: int) -> bytes:
    """Everything from the descriptor's position on. The descriptor stays open."""
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        return stream.read()


def _in_place_of(wanted: str, looked: os.stat_result) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFREG: "a file"}
    found = kinds.get(stat.S_IFMT(looked.st_mode), "a pipe, device or socket")
    if is_link(looked):
        found = "a symbolic link, which is never followed,"
    return f"{found} stands where a {wanted} should be"


def _no_folder(name: str) -> NotADirectoryError:
    return NotADirectoryError(ENOTDIR, "Not a directory", name)


def _same_file(one: os.stat_result, other: os.stat_result) -> bool:
    return stat.S_ISREG(other.st_mode) and (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
