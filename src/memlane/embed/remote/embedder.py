"""A remote provider as an `Embedder`: batches that are refused become smaller, bad vectors stay single."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from ...clock import Clock
from ...config.kinds import without_credentials
from ...errors import EmbeddingError
from ..base import PROBE, Input, Media, NoVector, Vector, dimensions_of
from ..endpoint import Endpoint
from ..prompts import VERSION as PROMPTS_VERSION
from .calls import INDEX, QUERY, Calls, Patience, Refused
from .dialects import DIALECTS, Dialect, client_for
from .gemini_wire import is_second_generation
from .limiter import Limiter, Waiter
from .limits import limits_of
from .refusals import Refusal
from .wire import Malformed, Purpose, sendable

_IN_FLIGHT = 4
_CUTS = 4
"""How often a text that is too long by itself is halved before it goes without a vector."""
_BLANK = NoVector("the text is blank")


class _Smaller(Exception):  # noqa: N818 - never leaves the room
    """The batch must be sent in smaller pieces."""


class RemoteEmbedder:
    """One model of one provider, reached over HTTP."""

    worth_caching = True
    unrelated_cosine = None
    relative_weight = 1.0
    max_in_flight = _IN_FLIGHT

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        clock: Clock,
        waiter: Waiter | None = None,
        jitter: Callable[[], float] | None = None,
        index: Patience = INDEX,
        query: Patience = QUERY,
    ) -> None:
        """Opens no connection. Queries have a limiter of their own: they cannot wait for indexing."""
        self.id = endpoint.provider
        self.model = endpoint.model
        self._endpoint = endpoint
        self._dialect = DIALECTS[endpoint.kind]
        self._limits = limits_of(endpoint.kind, endpoint.model)
        self._items = min(self._limits.items, self._dialect.items or self._limits.items)
        self._request_tokens = self._limits.request_tokens
        self._closed = threading.Event()
        self._client = client_for(endpoint)
        self._who = f"{self.id} ({self.model}) at {self._client.host}"

        def calls(patience: Patience) -> Calls:
            return Calls(
                self._client,
                Limiter(clock.monotonic),
                patience,
                clock=clock,
                waiter=waiter or self._closed,
                jitter=jitter or _random,
                who=self._who,
            )

        self._calls = {"query": calls(query), "document": calls(index)}

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What its vectors depend on: the model and where it runs, never the key."""
        endpoint = self._endpoint
        identity: dict[str, str | int] = {
            "provider": endpoint.kind,
            "model": endpoint.model,
            "endpoint": _place(endpoint.base_url),
        }
        if endpoint.dimensions is not None:
            identity["dimensions"] = endpoint.dimensions
        if endpoint.query_input_type is not None:
            identity["query_input_type"] = endpoint.query_input_type
        if endpoint.document_input_type is not None:
            identity["document_input_type"] = endpoint.document_input_type
        if endpoint.kind == "ollama":
            identity["prompts"] = PROMPTS_VERSION
        return identity

    @property
    def max_batch_items(self) -> int:
        """As documented, or fewer where a refusal has taught so."""
        return min(self._items, self._calls["document"].largest or self._items)

    @property
    def max_batch_tokens(self) -> int:
        """As documented, or fewer where a refusal has taught so."""
        return self._request_tokens

    @property
    def max_input_tokens(self) -> int:
        """As documented."""
        return self._limits.input_tokens

    @property
    def takes_media(self) -> bool:
        """Only Gemini's second generation does."""
        return self._endpoint.kind == "gemini" and is_second_generation(self.model)

    def embed_query(self, text: str) -> Vector | NoVector:
        """The vector of a query, within eight seconds. Raises EmbeddingError."""
        if not text.strip():
            return _BLANK
        try:
            (vector,) = self._asked([text], "query")
        except Refused as refused:
            raise self._calls["query"].problem(refused.refusal) from None
        return vector

    def embed_documents(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """One vector per input. Raises EmbeddingError with what was made before."""
        blank = {place for place, each in enumerate(inputs) if isinstance(each, str) and not each.strip()}
        made: dict[int, Vector | NoVector] = dict.fromkeys(blank, _BLANK)
        waiting = [[place for place in range(len(inputs)) if place not in blank]]
        try:
            while waiting:
                if not (places := waiting.pop()):
                    continue
                if len(places) > self.max_batch_items:
                    waiting += reversed(_pieces(places, self.max_batch_items))
                    continue
                try:
                    vectors = self._batch([inputs[place] for place in places])
                except _Smaller:
                    waiting += reversed(_pieces(places, -(-len(places) // 2)))
                    continue
                made.update(zip(places, vectors, strict=True))
        except EmbeddingError as error:
            error.made = made
            raise
        return [made[place] for place in range(len(inputs))]

    def verify(self) -> None:
        """Embed one word. Raises EmbeddingError that names what is wrong: key, address, model, dimensions."""
        vector = self.embed_query(PROBE)
        if isinstance(vector, NoVector):
            raise EmbeddingError(f"{self._who} gives no vector: {vector.reason}", hint="check the model")

    def close(self) -> None:
        """End all calls and let go of the connections."""
        self._closed.set()
        self._client.close()

    # -- one batch -------------------------------------------------------------------------------------

    def _batch(self, inputs: Sequence[Input]) -> list[Vector | NoVector]:
        """Vectors of one request. Raises _Smaller when it has to be split."""
        try:
            return self._asked(inputs, "document")
        except Refused as refused:
            refusal = refused.refusal
        alone = len(inputs) == 1
        if refusal.kind == "item_count" and not alone:
            self._learn_items(len(inputs), refusal)
            raise _Smaller
        if refusal.kind == "request_size" and not alone:
            self._request_tokens = max(self._limits.input_tokens, self._request_tokens // 2)
        if refusal.kind in {"rate", "input_length", "request_size"} and not alone:
            raise _Smaller
        if refusal.kind in {"input_length", "request_size"}:
            return [self._shortened(inputs[0], refusal)]
        if _may_be_about_media(refusal) and any(isinstance(each, Media) for each in inputs):
            if not alone:
                raise _Smaller
            return [NoVector(str(self._problem(refusal)))]
        raise self._problem(refusal)

    def _shortened(self, each: Input, refusal: Refusal) -> Vector | NoVector:
        """The vector of the beginning of a text that is too long even alone."""
        for _ in range(_CUTS):
            if isinstance(each, Media) or len(each) < 2:
                break
            each = each[: len(each) // 2]
            try:
                return self._asked([each], "document")[0]
            except Refused as refused:
                refusal = refused.refusal
                if refusal.kind not in {"input_length", "request_size"}:
                    raise self._problem(refusal) from None
        return NoVector(str(self._problem(refusal)))

    def _learn_items(self, sent: int, refusal: Refusal) -> None:
        limit = refusal.limit if refusal.limit and refusal.limit < sent else -(-sent // 2)
        self._items = min(self._items, limit)

    def _asked(self, inputs: Sequence[Input], purpose: Purpose) -> list[Vector | NoVector]:
        """The vectors of one request. Raises Refused and EmbeddingError."""
        dialect = self._dialect
        if dialect.items is not None and len(inputs) > dialect.items:
            raise _Smaller
        try:
            return self._spoken(dialect, inputs, purpose)
        except Refused as refused:
            if dialect.older is None or not _is_unknown_route(refused.refusal):
                raise
        self._dialect = dialect.older
        self._items = min(self._items, dialect.older.items or self._items)
        return self._asked(inputs, purpose)

    def _spoken(self, dialect: Dialect, inputs: Sequence[Input], purpose: Purpose) -> list[Vector | NoVector]:
        request = dialect.build(self._endpoint, [sendable(each) for each in inputs], purpose)
        body = self._calls[purpose].ask(request, len(inputs))
        read = dialect.read_query if purpose == "query" else dialect.read
        try:
            vectors = read(body, len(inputs))
        except Malformed as error:
            raise EmbeddingError(
                f"{self._who} {error}", hint="check the address, and that an embedding model answers there"
            ) from None
        self._check_dimensions(vectors)
        return vectors

    def _check_dimensions(self, vectors: Sequence[Vector | NoVector]) -> None:
        """Raise EmbeddingError where no vector of an answer is as long as was asked for."""
        given = {dimensions_of(vector) for vector in vectors if not isinstance(vector, NoVector)}
        wanted = self._endpoint.dimensions
        if wanted is not None and given and wanted not in given:
            raise EmbeddingError(
                f"{self._who} gives vectors of {max(given)} dimensions, not the {wanted} that are asked for",
                hint="check memorySearch.outputDimensionality; not every model can be told",
            )

    def _problem(self, refusal: Refusal) -> EmbeddingError:
        return self._calls["document"].problem(refusal)


def _random() -> float:
    import random

    return random.random()  # noqa: S311 - spreads retries, guards nothing


def _may_be_about_media(refusal: Refusal) -> bool:
    """Whether a refusal may be about a picture or a sound rather than about the call.

    It may speak of the model ("image/gif is not supported by this model") or of dimensions, meaning the
    picture's: a model that is not there is a 404, and dimensions out of range are refused with the settings.
    """
    return refusal.status == 400 and refusal.kind in {"other", "model", "dimensions"}


def _is_unknown_route(refusal: Refusal) -> bool:
    """Ollama answers JSON for a model it does not have, and plain text for an address it does not know."""
    return refusal.kind == "address" and refusal.detail.lower().startswith("404 page not found")


def _pieces(places: list[int], size: int) -> list[list[int]]:
    return [places[start : start + size] for start in range(0, len(places), size)]


def _place(base_url: str) -> str:
    """The address as far as it decides what answers: without user, password and keys."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2].lower()
    return without_credentials(parts._replace(netloc=host).geturl()).rstrip("/")
