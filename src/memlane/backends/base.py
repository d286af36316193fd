"""What a search backend is: the part of memory that finds things, behind one protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..search.settings import SearchRequest
from ..tombstones.match import Tombstones
from ..values import BatchReport, Filters, IndexPlan, Readiness, SearchResult, Status, SyncReport

if TYPE_CHECKING:
    from .forgetting import Forgotten


Sweep = Callable[[Tombstones], Sequence[str]]
"""Takes away what else of Memlane's own holds something forgotten; gives the names of what went."""


class Backend(Protocol):
    """Finds passages in a workspace and keeps itself up to date."""

    def search(self, request: SearchRequest, filters: Filters) -> SearchResult:
        """The ranked answer to a request. An empty one says why."""
        ...

    def sync(
        self,
        reason: str,
        *,
        force: bool = False,
        wait: float = 30.0,
        brief: bool = False,
        stem: str | None = None,
        most_said: int | None = None,
    ) -> SyncReport:
        """Bring the index up to date with its sources.

        `brief` leaves to a later pass what takes minutes, as long as something answers without it. Of the
        transcript named `stem` any growth counts; `most_said` limits how many new bytes of transcripts are
        read, for a pass that somebody waits for.
        """
        ...

    def plan(self, *, force: bool = False) -> IndexPlan:
        """What `sync` would do now. Writes nothing and asks no provider."""
        ...

    def forget(self, *, reading: bool = True) -> Forgotten:
        """Take all that is forgotten out of what is derived, down to the last byte; passes do so when due.

        Without `reading`, notes that held something forgotten are left to the next pass.
        """
        ...

    def take_back(self, digest: str) -> None:
        """Take the tombstone with this digest back; the next pass reads what is still there."""
        ...

    def readiness(self) -> Readiness:
        """How much of the notes can be answered from now."""
        ...

    def status(self, *, deep: bool = False) -> Status:
        """What is indexed, from where, how fresh, and by which provider. `deep` also tries the provider."""
        ...

    def batches(self) -> BatchReport:
        """Look at the batch jobs that go on, and take over what is finished."""
        ...

    def close(self) -> None:
        """Let go of files and threads."""
        ...
