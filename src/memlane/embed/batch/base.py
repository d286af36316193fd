"""What the batch interfaces of all providers have in common: calls to be made, and answers as values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import field

from ...errors import EmbeddingError
from ...values import Value
from ..base import Vector

Json = Mapping[str, Any]

Phase = Literal["running", "ended", "failed", "unknown"]
"""What a provider's state comes to. `ended` may have results, all or some; `failed` has none."""


class Call(Value, frozen=True):
    """One request to be made."""

    method: Literal["GET", "POST"]
    path: str
    """Below the base address of the endpoint."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = ""
    upload: bool = False
    """Goes to the provider's address for uploads, where that is another one."""


class JobState(Value, frozen=True):
    """A job as its provider tells of it."""

    remote: str
    """The provider's id of the job."""
    own: str
    """Our id of it, as it was given along; empty where the provider does not say."""
    state: str
    """The provider's own word."""
    phase: Phase
    done: int = 0
    failed: int = 0
    """Requests answered and refused so far, as far as the provider counts them."""
    files: tuple[str, ...] = ()
    """Names of the files with results and errors that are there."""
    reason: str = ""
    """Why the job as a whole failed."""


class ResultRow(Value, frozen=True):
    """One line of a result file: the vector of a text, not yet checked, or why there is none."""

    key: str
    vector: Vector | None
    reason: str = ""


class BatchProtocol(Protocol):
    """The batch interface of one provider, for one endpoint. Pure: it builds requests and reads answers.

    Readers raise ValueError for an answer that is not of the documented shape.
    """

    max_requests: int
    """How many texts a job may hold."""
    max_bytes: int
    """How large its file may be."""
    window: timedelta
    """How long after its creation the provider may still be working on a job."""

    def line(self, key: str, text: str) -> bytes:
        """One text as a line of the input file, with its newline."""
        ...

    def upload(self, own: str, lines: Iterable[bytes]) -> Call:
        """Hand in the input file of the job with our id `own`."""
        ...

    def uploaded(self, answer: Json) -> str:
        """The name of the file that was handed in."""
        ...

    def create(self, own: str, file: str) -> Call:
        """Start the job."""
        ...

    def look(self, remote: str) -> Call:
        """Ask for the state of a job."""
        ...

    def state(self, answer: Json) -> JobState:
        """The state of a job, from the answer to `create` and to `look`."""
        ...

    def listing(self, page: str) -> Call:
        """Ask for the jobs there are; `page` is empty for the first page."""
        ...

    def listed(self, answer: Json) -> tuple[list[JobState], str]:
        """The jobs of one page, and the name of the next page or an empty string."""
        ...

    def download(self, file: str) -> Call:
        """Ask for a result file."""
        ...

    def row(self, line: bytes) -> ResultRow:
        """One line of a result file."""
        ...


class JobRefused(EmbeddingError):  # noqa: N818 - reads as a statement of fact
    """A provider said no: what was asked for has not been done.

    Attributes:
        status: the HTTP status it said so with.
        passing: whether it may say yes a little later.
        pause: after how many seconds it may be asked again, where it says so.
    """

    passing = False
    pause: float | None = None

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class Unclear(EmbeddingError):  # noqa: N818
    """No answer, or none that can be understood: what was asked for may have been done or not.

    Attributes:
        pause: after how many seconds the provider may be asked again, where it says so.
    """

    pause: float | None = None


class Wire(Protocol):
    """How calls get to a provider and answers back."""

    def answer(self, call: Call, *, once: bool = False) -> bytes:
        """The body of the answer. `once`: sent one time only, because doing it twice would cost.

        Raises JobRefused when the provider says no, Unclear when there is no answer.
        """
        ...

    def parts(self, call: Call) -> Iterator[bytes]:
        """The body of a long answer, part by part as it comes in. Raises as `answer` does, at any part."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


Pause = Callable[[float], None]
"""Waits for so many seconds; may raise to end the work."""


class BatchService(NamedTuple):
    """The batch jobs of a provider."""

    protocol: BatchProtocol
    connect: Callable[[Pause], Wire]
    """A wire that pauses this way between attempts. Opens nothing yet."""
