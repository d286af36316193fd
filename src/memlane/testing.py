"""Stand-ins for tests of code that uses Memlane: deterministic, offline, observable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .embed.base import Input, NoVector, Vector, pack, texts_of
from .errors import ContextOverflow
from .events import Stage
from .sessions.chat import ChatTool, Event, Message, TextPiece, ToolCall, Usage
from .sessions.decision import estimate

ScriptedAnswer = str | Event | Exception | Iterable[str | Event]
ScriptedStep = ScriptedAnswer | Callable[[Sequence[Message]], ScriptedAnswer]


class HashEmbedder:
    """An embedder whose vectors say which words a text shares with another: hashed bags of words.

    Deterministic on every machine. Counts what it is asked, so that tests can see what was embedded.
    """

    id = "hash"
    max_batch_items = 64
    max_batch_tokens = 1_000_000
    max_input_tokens = 8192
    max_in_flight = 1
    takes_media = False
    worth_caching = True
    unrelated_cosine = 0.0
    relative_weight = 1.0

    def __init__(self, dimensions: int = 64, *, model: str = "words") -> None:
        self.model = model
        self.dimensions = dimensions
        self.queries: list[str] = []
        self.documents: list[str] = []

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Provider, model and dimensions."""
        return {"provider": self.id, "model": self.model, "dimensions": self.dimensions}

    def embed_query(self, text: str) -> Vector | NoVector:
        """The query's vector."""
        self.queries.append(text)
        return self._embed(text)

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """The documents' vectors. Raises ValueError for media."""
        texts = texts_of(inputs)
        self.documents.extend(texts)
        return [self._embed(text) for text in texts]

    def verify(self) -> None:
        """Nothing can be wrong with it."""

    def close(self) -> None:
        """It holds nothing."""

    def _embed(self, text: str) -> Vector | NoVector:
        counts = [0.0] * self.dimensions
        for word in text.lower().split():
            digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
            counts[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0
        return pack(counts) if any(counts) else NoVector("no words")


class WordReranker:
    """A reranking model for whom a passage answers as far as it holds the query's words.

    Deterministic on every machine. Keeps what it is asked, call by call.
    """

    name = "words"

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The share of the query's words that each text holds."""
        self.calls.append((query, tuple(texts)))
        asked = set(query.lower().split())
        return [len(asked & set(text.lower().split())) / max(1, len(asked)) for text in texts]


class RecordingObserver:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.stages: list[tuple[Stage, int, int]] = []

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """Keep a step."""
        self.stages.append((stage, done, total))

    def warning(self, message: str) -> None:
        """Keep a warning."""
        self.warnings.append(message)


class ScriptedChat:
    """A chat model that answers by a script: deterministic, offline, observable.

    Each step answers one request, in order: a text, a tool call, several events, an error to raise, or a
    function of the messages that gives one of these. The last step answers all further requests. Texts come
    in pieces of `piece` characters; an answer without a `Usage` of its own gets one that is counted from the
    messages. `requests` keeps the messages and the names of the tools of every request. A request that takes
    more than `context_tokens` raises ContextOverflow.
    """

    name = "scripted"

    def __init__(
        self, *steps: ScriptedStep, context_tokens: int | None = None, piece: int = 5, usage: bool = True
    ) -> None:
        self.context_tokens = context_tokens
        self.requests: list[tuple[tuple[Message, ...], tuple[str, ...]]] = []
        self._steps = steps or ("NO_REPLY",)
        self._piece = piece
        self._usage = usage

    def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[ChatTool],
        *,
        timeout: float,  # noqa: ARG002 - nothing takes time
    ) -> Iterator[Event]:
        """The next step's answer, in pieces."""
        number = len(self.requests)
        self.requests.append((tuple(messages), tuple(tool.name for tool in tools)))
        size = estimate(messages)
        if self.context_tokens is not None and size > self.context_tokens:
            raise ContextOverflow(f"{size} tokens do not fit a context of {self.context_tokens}")
        step = self._steps[min(number, len(self._steps) - 1)]
        answer = step(messages) if callable(step) else step
        if isinstance(answer, Exception):
            raise answer
        events = [answer] if isinstance(answer, str | ToolCall | TextPiece | Usage) else answer
        told, length = False, 0
        for event in events:
            if isinstance(event, str):
                length += estimate([Message("assistant", event)])
                for start in range(0, len(event), self._piece):
                    yield TextPiece(event[start : start + self._piece])
            else:
                told = told or isinstance(event, Usage)
                yield event
        if self._usage and not told:
            yield Usage(size, length)
