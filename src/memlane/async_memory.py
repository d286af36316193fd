"""Memory for asyncio hosts: each call runs in a worker thread, so the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from .memory import Memory
from .values import (
    BatchReport,
    Excerpt,
    IndexPlan,
    Pass,
    Recalled,
    SearchResult,
    SessionContext,
    Status,
    SyncReport,
    Written,
)

if TYPE_CHECKING:
    from .doctor import DoctorReport
    from .evaluate import Evaluation, Question
    from .forget.plan import Forgetting, TombstoneInfo
    from .sessions.life import Life
    from .tools import Tool
    from .transcripts.listing import SessionInfo

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


class AsyncMemory:
    """The asyncio twin of `Memory`: the same calls with the same arguments, awaited.

    ```
    async with AsyncMemory.open(workspace="notes") as memory:
        result = await memory.search("what did we decide about the router?")
    ```
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @classmethod
    def open(cls, **options: Any) -> Self:  # noqa: ANN401 - those of Memory.open
        """The memory of an agent; takes what `Memory.open` takes. Reads the configuration at once.

        Work goes on in the background unless `background=False` is given: a host with an event loop lives on.
        """
        return cls(Memory.open(**{"background": True, **options}))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def search(self, query: str, **options: Any) -> SearchResult:  # noqa: ANN401
        """See `Memory.search`."""
        return await self._in_thread(self._memory.search, query, **options)

    async def get(self, path: str, **options: Any) -> Excerpt:  # noqa: ANN401
        """See `Memory.get`."""
        return await self._in_thread(self._memory.get, path, **options)

    async def remember(self, text: str, **options: Any) -> Written:  # noqa: ANN401
        """See `Memory.remember`."""
        return await self._in_thread(self._memory.remember, text, **options)

    async def context(self, session: str | None = None, *, limit: int | None = None) -> SessionContext:
        """See `Memory.context`."""
        return await self._in_thread(self._memory.context, session, limit=limit)

    async def sync(self, **options: Any) -> SyncReport:  # noqa: ANN401
        """See `Memory.sync`."""
        return await self._in_thread(self._memory.sync, **options)

    async def plan(self, *, force: bool = False) -> IndexPlan:
        """See `Memory.plan`."""
        return await self._in_thread(self._memory.plan, force=force)

    async def recall(self, message: str, **options: Any) -> Recalled:  # noqa: ANN401
        """See `Memory.recall`."""
        return await self._in_thread(self._memory.recall, message, **options)

    async def forget(self, **options: Any) -> Forgetting:  # noqa: ANN401
        """See `Memory.forget`."""
        return await self._in_thread(self._memory.forget, **options)

    async def forgotten(self) -> list[TombstoneInfo]:
        """See `Memory.forgotten`."""
        return await self._in_thread(self._memory.forgotten)

    async def unforget(self, tombstone: str) -> TombstoneInfo:
        """See `Memory.unforget`."""
        return await self._in_thread(self._memory.unforget, tombstone)

    async def sessions(self, *, session: str | None = None) -> list[SessionInfo]:
        """See `Memory.sessions`."""
        return await self._in_thread(self._memory.sessions, session=session)

    async def transcript(self, which: str, **options: Any) -> Excerpt:  # noqa: ANN401
        """See `Memory.transcript`."""
        return await self._in_thread(self._memory.transcript, which, **options)

    async def export_session(self, which: str, *, session: str | None = None) -> str:
        """See `Memory.export_session`; the whole text at once."""
        return await self._in_thread(lambda: "".join(self._memory.export_session(which, session=session)))

    async def start(self, listener: Callable[[Pass], None] | None = None, **options: Any) -> None:  # noqa: ANN401
        """See `Memory.start`."""
        await self._in_thread(self._memory.start, listener, **options)

    async def status(self, **options: Any) -> Status:  # noqa: ANN401
        """See `Memory.status`."""
        return await self._in_thread(self._memory.status, **options)

    async def evaluate(self, questions: Sequence[Question], **options: Any) -> Evaluation:  # noqa: ANN401
        """See `Memory.evaluate`."""
        return await self._in_thread(self._memory.evaluate, questions, **options)

    async def batches(self) -> BatchReport:
        """See `Memory.batches`."""
        return await self._in_thread(self._memory.batches)

    async def doctor(self, *, fix: bool = False) -> DoctorReport:
        """See `Memory.doctor`."""
        return await self._in_thread(self._memory.doctor, fix=fix)

    def tools(self, *, session: str | None = None) -> list[Tool]:
        """See `Memory.tools`. Calling a tool blocks; hosts run it in a thread."""
        return self._memory.tools(session=session)

    def life(self, **options: Any) -> Life:  # noqa: ANN401
        """See `Memory.life`. Its methods block; hosts run them in a thread, one at a time."""
        return self._memory.life(**options)

    async def close(self) -> None:
        """See `Memory.close`."""
        await self._in_thread(self._memory.close)

    @staticmethod
    async def _in_thread(
        call: Callable[_Arguments, _Answer], *arguments: _Arguments.args, **options: _Arguments.kwargs
    ) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(None, partial(call, *arguments, **options))
