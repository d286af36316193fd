"""What is remembered of model files: hashing 300 MB takes a second, measuring a model's scale another.

One small JSON file a model, in the cache folder and not beside the model, which may lie in someone else's
folder. It counts as long as size and modification time of the model are the same. One that cannot be written
or read costs time and nothing else.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path

from msgspec import Struct, convert
from msgspec.structs import asdict


class Record(Struct, frozen=True):
    """One model file as it was."""

    size: int
    mtime_ns: int
    sha256: str
    unrelated_cosine: float | None = None
    """The zero of the model's scale; None until the model was loaded."""

    def fits(self, status: os.stat_result) -> bool:
        """Whether the file has not changed since."""
        return (self.size, self.mtime_ns) == (status.st_size, status.st_mtime_ns)


def record_of(model: Path, cache_dir: Path) -> Record:
    """The record of a file that is there, made now where none fits. Raises OSError for an unreadable file."""
    status = model.stat()
    with suppress(OSError, ValueError):
        record = convert(json.loads(_place(model, cache_dir).read_bytes()), Record)
        if record.fits(status):
            return record
    with model.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    record = Record(status.st_size, status.st_mtime_ns, digest)
    keep_record(record, model, cache_dir)
    return record


def keep_record(record: Record, model: Path, cache_dir: Path) -> None:
    """Remember it, if the folder can be written."""
    place = _place(model, cache_dir)
    draft = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_text(json.dumps(asdict(record)), "utf-8")
        draft.replace(place)


def _place(model: Path, cache_dir: Path) -> Path:
    name = sha256(os.fsencode(os.path.realpath(model))).hexdigest()[:16]
    return cache_dir / "known" / f"{name}.json"
