"""The file of tombstones: `<state dir>/memory/<agent>.forgotten.json`, apart from any index and workspace."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ..disk import write_private, writer_lock
from ..errors import StoreError
from ..values import Value
from .match import NOTHING, Tombstones
from .values import Tombstone

_VERSION = 1
_KEY_BYTES = 32
_PATIENCE = 30.0
_Mark = tuple[int, int, int]


class _Content(Value, frozen=True):
    version: int
    key: str
    forgotten: tuple[Tombstone, ...]


def ledger_path(state_dir: Path, agent: str) -> Path:
    """Where an agent's tombstones are kept."""
    return state_dir / "memory" / f"{agent}.forgotten.json"


def new_key() -> bytes:
    """A key for the digests of a new list of tombstones."""
    return os.urandom(_KEY_BYTES)


class Ledger:
    """The tombstones of one agent. Read anew whenever the file has changed; thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._known: tuple[_Mark, Tombstones] | None = None

    def read(self) -> Tombstones:
        """What is forgotten; nothing where there is no file. One look at the file when it is as before.

        Raises StoreError when it cannot be understood: what was forgotten must not come back by accident.
        """
        try:
            looked = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return NOTHING
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        mark = (looked.st_ino, looked.st_size, looked.st_mtime_ns)
        with self._guard:
            if self._known is None or self._known[0] != mark:
                self._known = (mark, self._parsed())
            return self._known[1]

    def change(
        self, compose: Callable[[bytes, Sequence[Tombstone]], Sequence[Tombstone]]
    ) -> tuple[Tombstone, ...]:
        """Put in the place of the tombstones what `compose` makes of the key and of them. Gives all of them.

        Atomic, and in turn with other processes. Raises StoreError.
        """
        with writer_lock(self.path, timeout=_PATIENCE):
            present = self.read()
            key = present.key or new_key()
            stones = tuple(compose(key, present.stones))
            if stones != present.stones:
                content = _Content(_VERSION, key.hex(), stones)
                write_private(self.path, msgspec.json.format(msgspec.json.encode(content), indent=1))
            return stones

    def _parsed(self) -> Tombstones:
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=_Content)
            key = bytes.fromhex(content.key)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except (msgspec.DecodeError, ValueError) as error:
            raise self._unusable(str(error)) from error
        if content.version != _VERSION or len(key) != _KEY_BYTES:
            raise self._unusable("it was made by another version of Memlane")
        return Tombstones(key, content.forgotten)

    def _unusable(self, what: str) -> StoreError:
        return StoreError(
            f"{self.path} cannot be used: {what}",
            hint="it says what is forgotten: mend it, or delete it to have everything back that notes hold",
        )
