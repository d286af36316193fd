"""Takes over what a job has made: from result files, joined by id, checked, into the embedding cache."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import StoreError
from ..base import CheckedEmbedder, NoVector, Vector
from ..cache import EmbeddingCache
from .base import JobRefused, JobState, Unclear
from .driver import JobDriver
from .ledger import Job, Ledger

_ROWS = 500
"""So many vectors are stored at a time: a result file may be larger than memory."""
_ATTEMPTS = 3
_GONE = frozenset({404, 410})


class Collector:
    """Reads result files. What was read before a cut connection or a kill is stored and only read again."""

    def __init__(
        self,
        driver: JobDriver,
        embedder: CheckedEmbedder,
        cache: EmbeddingCache,
        ledger: Ledger,
        *,
        warn: Callable[[str], None],
    ) -> None:
        self._driver = driver
        self._embedder = embedder
        self._cache = cache
        self._ledger = ledger
        self._warn = warn
        self.taken = 0
        """Vectors stored so far."""
        self.without_vector = 0
        """Texts of jobs that are over that have none."""
        self.over: set[bytes] = set()
        """All texts of those jobs: what has no vector is sent directly, not as another job."""

    def collect(self, job: Job, state: JobState) -> int | None:
        """Store the vectors of an ended job. Gives their number.

        None when they could not all be read or stored now, but may be later. Raises StoreError when the
        ledger cannot be read.
        """
        wanted = self._ledger.digests(job)
        stored: set[bytes] = set()
        try:
            for file in state.files:
                self._take(file, wanted, stored)
        except (JobRefused, Unclear, StoreError) as error:
            self._warn(f"the results of the batch job {job.remote} could not be taken over: {error}")
            if not (isinstance(error, JobRefused) and error.status in _GONE):
                return None
        self.without_vector += len(wanted - stored)
        self.over |= wanted
        return len(stored)

    def give_up(self, job: Job) -> None:
        """Expect nothing more of a job. Raises StoreError when the ledger cannot be read."""
        wanted = self._ledger.digests(job)
        self.without_vector += len(wanted)
        self.over |= wanted

    def _take(self, file: str, wanted: set[bytes], stored: set[bytes]) -> None:
        """Store what a result file holds. One that is cut is asked for again."""
        for attempt in range(_ATTEMPTS):
            try:
                cut = self._read(file, wanted, stored)
            except Unclear:
                if attempt + 1 == _ATTEMPTS:
                    raise
            else:
                if not cut:
                    return

    def _read(self, file: str, wanted: set[bytes], stored: set[bytes]) -> bool:
        """Read a result file once. Gives whether a line of it could not be read."""
        found: dict[bytes, Vector] = {}
        cut = False
        for row in self._driver.rows(file):
            cut = cut or row is None
            if row is None or row.vector is None:
                continue
            digest = _digest(row.key)
            if digest not in wanted or digest in stored:
                continue
            found[digest] = row.vector
            if len(found) >= _ROWS:
                self._store(found, stored)
        self._store(found, stored)
        return cut

    def _store(self, found: dict[bytes, Vector], stored: set[bytes]) -> None:
        checked = zip(found, self._embedder.checked(list(found.values())), strict=True)
        sound = [(digest, vector) for digest, vector in checked if not isinstance(vector, NoVector)]
        if sound:
            self._cache.put(self._embedder.identity, sound)
        stored.update(digest for digest, _ in sound)
        self.taken += len(sound)
        found.clear()


def _digest(key: str) -> bytes:
    """The digest that a key stands for; empty for one that is none of ours."""
    try:
        return bytes.fromhex(key)
    except ValueError:
        return b""
