"""Memory for asyncio hosts: each call runs in a worker thread, so the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from .memory import Memory

if TYPE_CHECKING:
    from .sessions.life import Life
    from .tools import Tool

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


async def _in_thread(call: Callable[[], _Answer]) -> _Answer:
    return await asyncio.get_running_loop().run_in_executor(None, call)


def _awaited(
    call: Callable[Concatenate[Memory, _Arguments], _Answer],
) -> Callable[Concatenate[AsyncMemory, _Arguments], Coroutine[Any, Any, _Answer]]:
    """The same call, awaited: with its arguments, their types and its docstring."""

    @wraps(call)
    async def awaited(
        self: AsyncMemory, /, *arguments: _Arguments.args, **options: _Arguments.kwargs
    ) -> _Answer:
        own = getattr(self._memory, call.__name__)  # by name: the memory may be of a class of the host's
        return await _in_thread(partial(own, *arguments, **options))

    return awaited


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

    search = _awaited(Memory.search)
    get = _awaited(Memory.get)
    remember = _awaited(Memory.remember)
    context = _awaited(Memory.context)
    recall = _awaited(Memory.recall)
    evaluate = _awaited(Memory.evaluate)
    sync = _awaited(Memory.sync)
    plan = _awaited(Memory.plan)
    start = _awaited(Memory.start)
    status = _awaited(Memory.status)
    batches = _awaited(Memory.batches)
    doctor = _awaited(Memory.doctor)
    sessions = _awaited(Memory.sessions)
    transcript = _awaited(Memory.transcript)
    forget = _awaited(Memory.forget)
    forgotten = _awaited(Memory.forgotten)
    unforget = _awaited(Memory.unforget)
    close = _awaited(Memory.close)

    async def export_session(self, which: str, *, session: str | None = None) -> str:
        """See `Memory.export_session`; the whole text at once."""
        return await _in_thread(lambda: "".join(self._memory.export_session(which, session=session)))

    def tools(self, *, session: str | None = None) -> list[Tool]:
        """See `Memory.tools`. Calling a tool blocks; hosts run it in a thread."""
        return self._memory.tools(session=session)

    def life(self, **options: Any) -> Life:  # noqa: ANN401 - those of Memory.life
        """See `Memory.life`. Its methods block; hosts run them in a thread, one at a time."""
        return self._memory.life(**options)
