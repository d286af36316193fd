"""Taking something out of a transcript because its owner says so: the one place that changes what was said.

Entries stay where they are, with their ids, so that the chain of a session holds; a string in them that is to
go becomes `[forgotten]`. What is no JSON becomes an empty line. The file is replaced in one step.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..errors import SessionError
from .folder import settle_folder, unreadable, unwritable, writing

FORGOTTEN = "[forgotten]"
_STRUCTURE = frozenset({"type", "id", "parentId", "role", "firstKeptEntryId", "toolCallId", "timestamp"})
"""What a session is held together by, and says nothing."""
_ATTEMPTS = 5
_Holds = Callable[[str], bool]


def lines_holding(path: Path, holds: _Holds) -> list[int]:
    """The lines of a transcript, counted from 1, that would change. Raises SessionError."""
    return [number for number, _, changed in _read(path, holds) if changed]


def redact(path: Path, holds: _Holds) -> list[int]:
    """Take out of a transcript each string of which `holds` is true; gives the lines that changed.

    What another program appends meanwhile is not lost. Raises SessionError; then the file is as it was.
    """
    with writing(path.parent):
        for _ in range(_ATTEMPTS):
            before = _version(path)
            temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
            try:
                changed = _write(temporary, path, holds)
                if not changed:
                    return []
                if _version(path) == before:
                    temporary.replace(path)
                    settle_folder(path.parent)
                    return changed
            except OSError as error:
                raise unwritable(path, error) from error
            finally:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
    raise SessionError(
        f"cannot change {path}: another program keeps writing to it", hint="close that program and try again"
    )


def without(entry: Any, holds: _Holds) -> Any:  # noqa: ANN401 - any JSON
    """A value of JSON with `[forgotten]` in the place of each string of which `holds` is true."""
    if isinstance(entry, str):
        return FORGOTTEN if holds(entry) else entry
    if isinstance(entry, list):
        return [without(part, holds) for part in entry]
    if isinstance(entry, dict):
        return {name: part if name in _STRUCTURE else without(part, holds) for name, part in entry.items()}
    return entry


def _write(target: Path, path: Path, holds: _Holds) -> list[int]:
    changed = []
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, path.stat().st_mode & 0o777)
        for number, line, is_changed in _read(path, holds):
            file.write(line)
            if is_changed:
                changed.append(number)
        file.flush()
        os.fsync(descriptor)
    return changed


def _read(path: Path, holds: _Holds) -> Iterator[tuple[int, bytes, bool]]:
    """Each line with its number, as it is to be, and whether it changes."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                new = _redacted(line, holds)
                yield number, line if new is None else new, new is not None
    except OSError as error:
        raise unreadable(path, error) from error


def _redacted(line: bytes, holds: _Holds) -> bytes | None:
    """A line without what is to go; None where nothing is."""
    end = b"\n" if line.endswith(b"\n") else b""
    text = line.decode("utf-8", "replace")
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return end if holds(text) else None
    new = without(entry, holds)
    if new == entry:
        return None
    return json.dumps(new, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + end


def _version(path: Path) -> tuple[int, int, int]:
    looked = path.stat()
    return looked.st_ino, looked.st_size, looked.st_mtime_ns
