"""What keeps a note or a folder from being written, in words: which path, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import errorcode

from ..errors import WorkspaceError
from .beneath import NotPlain

_FULL = frozenset({"ENOSPC", "EDQUOT"})
_TOO_MANY = frozenset({"EMFILE", "ENFILE"})
_IN_THE_WAY = frozenset({"ENOTDIR", "EEXIST", "EISDIR", "ELOOP"})
_AWAY = "move it away, then try again"


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Failures within, which are about `location`, as WorkspaceError."""
    try:
        yield
    except NotPlain as error:
        raise WorkspaceError(
            f"cannot write {location}: {error}", hint=f"{_AWAY}; a folder elsewhere can be an extra path"
        ) from None
    except OSError as error:
        raise unwritable(location, error) from error


def unwritable(location: str, error: OSError) -> WorkspaceError:
    """The error for a place that the system does not let us write to."""
    return WorkspaceError(f"cannot write {location}: {reason_of(error)}", hint=remedy(error))


def reason_of(error: OSError) -> str:
    """What the system says is wrong."""
    if isinstance(error, NotADirectoryError):
        return "a file stands where a folder should be"
    return error.strerror or str(error)


def remedy(error: OSError, otherwise: str = "check the permissions there") -> str:
    """What to do about it; `otherwise` when the disk is not full and nothing is in the way."""
    name = errorcode.get(error.errno or 0)
    if name in _TOO_MANY:
        return "raise the limit: ulimit -n 1024"
    if name in _FULL:
        return "free some space and try again; nothing was left half-written"
    return _AWAY if name in _IN_THE_WAY else otherwise
