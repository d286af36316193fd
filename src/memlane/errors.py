"""Every error Memlane raises, in one tree.

    MemlaneError                  base; str() is the message, `hint` says what to do
    ├── UsageError                a call or command that cannot be meant          exit 2
    │   ├── ConfigError           configuration: file, key, value, what is allowed exit 2
    │   └── PathRefused           a path that may not be read                     exit 2
    ├── WorkspaceError            the notes cannot be read or written             exit 1
    ├── SessionError              sessions or transcripts cannot be read or written       exit 1
    ├── StoreError                the index cannot be opened, read or written     exit 1
    │   ├── StoreCorrupt          the index file is damaged; it can be rebuilt
    │   └── StoreBusy             another process is writing
    ├── EmbeddingError            a provider failed                               exit 1
    │   ├── ProviderUnavailable   a provider cannot be used at all (set-up)
    │   └── QuotaExhausted        a provider takes no more for now, and may say until when
    ├── ChatError                 a chat model failed                             exit 1
    │   └── ContextOverflow       the messages do not fit its context
    ├── Interrupted               work was ended on request; what is done is kept  exit 130
    └── RerankError               a reranking model failed; searches do without   exit 1

Foreign exceptions (SQLite's, the operating system's, the network's) are translated into these once, at
the border where they arise.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any


class MemlaneError(Exception):
    """Base of all errors that Memlane raises on purpose.

    Attributes:
        code: a stable word for programs, also the `code` of JSON errors.
        exit_code: what the command line exits with.
        hint: what the reader can do about it, or an empty string.
    """

    code = "failed"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(MemlaneError):
    """A call or command that cannot be meant: wrong argument, unknown agent, missing text."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """The configuration cannot be used; the message names file, key, value and what is allowed."""

    code = "config"


class PathRefused(UsageError):  # noqa: N818 - reads as a statement of fact
    """A path outside what may be read. Says nothing about whether the file exists."""

    code = "path_refused"


class WorkspaceError(MemlaneError):
    """The notes themselves cannot be read or written."""

    code = "workspace"


class SessionError(MemlaneError):
    """The session store or a transcript cannot be read or written."""

    code = "session"


class StoreError(MemlaneError):
    """The index cannot be opened, read or written."""

    code = "store"


class StoreCorrupt(StoreError):  # noqa: N818
    """The index file is damaged. It is derived data: it can be moved aside and rebuilt.

    Attributes:
        path: the damaged file.
        inode: its inode, so that a file put in its place meanwhile is not taken for it.
    """

    code = "store_corrupt"

    def __init__(self, message: str, *, path: Path, inode: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.inode = inode


class StoreBusy(StoreError):  # noqa: N818
    """Another process is writing and did not finish in time."""

    code = "store_busy"


class EmbeddingError(MemlaneError):
    """An embedding provider failed.

    Attributes:
        made: what the failed call had made before, by the position of its input: `Vector | NoVector`.
    """

    code = "embedding"

    def __init__(
        self, message: str, *, hint: str = "", made: Mapping[int, Any] = MappingProxyType({})
    ) -> None:
        super().__init__(message, hint=hint)
        self.made = made


class ProviderUnavailable(EmbeddingError):  # noqa: N818
    """A provider cannot be used at all: not installed, no key, missing or damaged files."""

    code = "provider_unavailable"


class QuotaExhausted(EmbeddingError):  # noqa: N818
    """A provider takes no more for now: a limit of requests, tokens or money is used up.

    Attributes:
        retry_at: when it may be asked again, an aware datetime; None where the provider does not say.
    """

    code = "quota"

    def __init__(
        self,
        message: str,
        *,
        retry_at: datetime | None = None,
        hint: str = "",
        made: Mapping[int, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(message, hint=hint, made=made)
        self.retry_at = retry_at


class ChatError(MemlaneError):
    """A chat model failed, or cannot be used."""

    code = "chat"


class ContextOverflow(ChatError):  # noqa: N818
    """The messages do not fit the context of the chat model."""

    code = "context_overflow"


class Interrupted(MemlaneError):  # noqa: N818
    """Work was ended on request. What was done before is kept, and the next pass goes on from there.

    An `Observer` may raise this from `progress` to end the work at hand.
    """

    code = "interrupted"
    exit_code = 130


class RerankError(MemlaneError):
    """A reranking model cannot be used or failed. A search goes on without it."""

    code = "rerank"
