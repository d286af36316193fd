"""The jobs that are under way, on disk beside the index: what makes a job outlive the process that began it.

A file for each job with what is known of it, and beside it the digests of its texts: small files that are
replaced as a whole, which `memlane status` and a person can read without opening a database, and of which
one job's damage is no other job's. What is about to be done is written before it is done.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from ...disk import write_private
from ...errors import StoreError
from ...values import Value

Stage = Literal["new", "uploaded", "created"]
"""How far a job has come for certain. An `uploaded` one may have been created; its provider knows."""

_SET_ASIDE = ".damaged"


class Job(Value, frozen=True):
    """What is known of one job."""

    id: str
    """Ours; the provider gets it with the job, so that a job can be found whose own id was never seen."""
    provider: str
    model: str
    space: str
    """The identity of the vector space that its vectors belong to."""
    texts: int
    digest_bytes: int
    """The length of one digest."""
    created: datetime
    ends: datetime
    """When the provider is to be done with it."""
    stage: Stage = "new"
    file: str = ""
    """The provider's name of the input file."""
    remote: str = ""
    """The provider's id of the job."""
    state: str = ""
    """The provider's word at the last look."""
    done: int = 0
    failed: int = 0
    looked: datetime | None = None


class Ledger:
    """The jobs of one index. Whoever changes it holds the writer's lock of that index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def jobs(self) -> list[Job]:
        """The jobs that are under way, oldest first; damaged records are passed over.

        Raises StoreError when one cannot be read now: its texts would be sent, and paid, once more.
        """
        found = []
        for path in self._records():
            try:
                with suppress(msgspec.MsgspecError, FileNotFoundError):
                    found.append(msgspec.json.decode(path.read_bytes(), type=Job))
            except OSError as error:
                raise StoreError(
                    f"cannot read the record of a batch job {path}: {error.strerror or error}",
                    hint="check its permissions; where it can never be read again, delete it",
                ) from error
        return sorted(found, key=lambda job: (job.created, job.id))

    def unreadable(self) -> list[Path]:
        """The records that are none. Raises StoreError as `jobs`."""
        known = {job.id for job in self.jobs()}
        return [path for path in self._records() if path.stem not in known]

    def set_aside(self) -> list[Path]:
        """The records that were set aside because they could not be read."""
        return sorted(self.folder.glob(f"*{_SET_ASIDE}"))

    def sweep(self) -> list[str]:
        """Tidy up what a kill has left, and set aside records that cannot be read. Gives their names."""
        known = {job.id for job in self.jobs()}
        unreadable = self.unreadable()
        for path in unreadable:
            with suppress(OSError):
                path.replace(path.with_name(f"{path.name}{_SET_ASIDE}"))
        for path in self.folder.glob("*.digests"):
            if path.stem not in known:
                with suppress(OSError):
                    path.unlink()
        return [path.name for path in unreadable]

    def digests(self, job: Job) -> set[bytes]:
        """The digests of a job's texts. Raises StoreError when they cannot be read."""
        try:
            data = self._digests_of(job.id).read_bytes()
        except OSError as error:
            raise StoreError(
                f"cannot read {self._digests_of(job.id)}: {error.strerror or error}",
                hint="the texts of this batch job are not known any more; delete the file "
                f"{self._record_of(job.id).name} beside it, and they are sent again",
            ) from error
        size = job.digest_bytes
        return {data[start : start + size] for start in range(0, len(data), size)}

    def add(self, job: Job, digests: Collection[bytes]) -> None:
        """Write down a job that is about to be handed in. Raises StoreError."""
        write_private(self._digests_of(job.id), b"".join(digests))
        self.put(job)

    def put(self, job: Job) -> None:
        """Write down what is known now of a job. Raises StoreError."""
        write_private(self._record_of(job.id), msgspec.json.encode(job))

    def keep_only(self, digests: AbstractSet[bytes]) -> None:
        """Know no texts but these: what jobs make of others is not taken over. Raises StoreError.

        A job of which nothing is left is none of ours any more.
        """
        for job in self.jobs():
            held = self.digests(job)
            kept = held & digests
            if not kept:
                self.remove(job)
            elif kept != held:
                write_private(self._digests_of(job.id), b"".join(kept))

    def remove(self, job: Job) -> None:
        """Forget a job that nothing more is expected of. Raises StoreError."""
        try:
            self._record_of(job.id).unlink(missing_ok=True)
            self._digests_of(job.id).unlink(missing_ok=True)
            with suppress(OSError):
                self.folder.rmdir()  # only when it is empty
        except OSError as error:
            raise StoreError(
                f"cannot remove {self._record_of(job.id)}: {error.strerror or error}",
                hint="check the permissions of that folder",
            ) from error

    def _records(self) -> list[Path]:
        return [path for path in self.folder.glob("*.json") if not path.name.startswith(".")]

    def _record_of(self, own: str) -> Path:
        return self.folder / f"{own}.json"

    def _digests_of(self, own: str) -> Path:
        return self.folder / f"{own}.digests"
