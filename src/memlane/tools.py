"""The tools an agent's model sees: each written once, with its JSON schema and its answer in JSON.

`memory_search` and `memory_get` read, `memory_write` appends. Calling one never raises: what went wrong is
part of the answer, with what to do about it. The same answers are what `--json` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Protocol

from msgspec import to_builtins

from .errors import MemlaneError, UsageError
from .values import Excerpt, Explanation, Hit, Recalled, SearchResult, Source, Value, Written

Json = dict[str, Any]


class ToolMemory(Protocol):
    """What the tools ask of a memory."""

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        source: Source | None = None,
        path: str | None = None,
        since: date | None = None,
        until: date | None = None,
        session: str | None = None,
    ) -> SearchResult:
        """Passages that answer a query."""
        ...

    def get(
        self, path: str, *, start: int = 1, lines: int | None = None, session: str | None = None
    ) -> Excerpt:
        """Exact lines of a note."""
        ...

    def remember(
        self, text: str, *, durable: bool = False, heading: str | None = None, session: str | None = None
    ) -> Written:
        """Append to a note."""
        ...


class Tool(Value, frozen=True):
    """One tool: what a model is told of it, and the call."""

    name: str
    description: str
    parameters: Json
    """JSON Schema of the arguments."""
    read_only: bool
    _run: Callable[[Mapping[str, Any]], Json]

    def __call__(self, arguments: Mapping[str, Any]) -> Json:
        """Answer a call. Never raises for what a caller or a file can cause."""
        try:
            return self._run(_checked(arguments, self.parameters))
        except MemlaneError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - a model must get an answer whatever a host's parts do
            failure = MemlaneError(f"unexpected {type(error).__name__}: {error}", hint="report it")
        return failure_json(failure, empty={"results": []} if self.name == "memory_search" else {})


def tools_for(memory: ToolMemory, *, session: str | None = None) -> list[Tool]:
    """The tools over a memory, for the session with this key (None: the owner's own)."""

    def search(arguments: Mapping[str, Any]) -> Json:
        result = memory.search(
            arguments["query"],
            max_results=arguments.get("maxResults"),
            min_score=arguments.get("minScore"),
            source=arguments.get("source"),
            path=arguments.get("path"),
            since=day_argument("since", arguments.get("since")),
            until=day_argument("until", arguments.get("until")),
            session=session,
        )
        return search_json(result)

    def get(arguments: Mapping[str, Any]) -> Json:
        excerpt = memory.get(
            arguments["path"], start=arguments.get("from", 1), lines=arguments.get("lines"), session=session
        )
        return excerpt_json(excerpt)

    def write(arguments: Mapping[str, Any]) -> Json:
        written = memory.remember(
            arguments["text"],
            durable=arguments.get("durable", False),
            heading=arguments.get("heading"),
            session=session,
        )
        return written_json(written)

    return [
        Tool("memory_search", _SEARCH_ADVICE, _SEARCH_PARAMETERS, True, search),
        Tool("memory_get", _GET_ADVICE, _GET_PARAMETERS, True, get),
        Tool("memory_write", _WRITE_ADVICE, _WRITE_PARAMETERS, False, write),
    ]


# ---- answers in JSON -----------------------------------------------------------------------------------


def search_json(result: SearchResult, *, explain: bool = False) -> Json:
    """A search result as the tool answers it. Absent facts are left out.

    `explain` adds what happened to the candidates, also where none became a result.
    """
    answer: Json = {
        "results": [_hit_json(hit) for hit in result.hits],
        "provider": result.provider,
        "model": result.model,
        "mode": result.mode,
        "citations": result.citations,
    }
    if result.why is not None:
        answer["why"] = {"code": result.why.code, "message": result.why.message, **result.why.details}
        if result.why.code == "disabled":
            answer |= {
                "disabled": True,
                "error": result.why.message,
                "action": "set memorySearch.enabled to true to use memory",
            }
    if result.fallback is not None:
        answer["fallback"] = {"from": result.fallback.origin, "reason": result.fallback.reason}
    for name, value in (("stale", result.stale), ("partial", result.partial), ("warning", result.warning)):
        if value:
            answer[name] = value
    if result.building is not None:
        answer["building"] = value_json(result.building)
    if result.totals.dropped_by_size:
        answer["omitted"] = result.totals.dropped_by_size
    if explain or any(hit.explanation for hit in result.hits):
        answer["totals"] = value_json(result.totals)
    return answer


def excerpt_json(excerpt: Excerpt) -> Json:
    """An excerpt as the tool answers it."""
    answer: Json = {
        "path": excerpt.path,
        "text": excerpt.text,
        "from": excerpt.start,
        "lines": excerpt.lines,
        "exists": excerpt.exists,
    }
    if excerpt.truncated:
        answer |= {"truncated": True, "nextFrom": excerpt.next_start}
    if excerpt.eof:
        answer["eof"] = True
    return answer


def written_json(written: Written) -> Json:
    """What a write did, as the tool answers it."""
    return {"path": written.path, "line": written.line, "added": written.added}


def recalled_json(recalled: Recalled) -> Json:
    """Recalled memories as `--json` prints them."""
    return {"text": recalled.text, "results": [_hit_json(hit) for hit in recalled.hits]}


def failure_json(error: MemlaneError, *, empty: Json) -> Json:
    """An error as a tool's answer: what happened and what to do."""
    return {**empty, "unavailable": True, "error": str(error), "code": error.code, "action": error.hint}


def _hit_json(hit: Hit) -> Json:
    snippet = f"{hit.snippet}\n\nSource: {hit.citation}" if hit.citation else hit.snippet
    answer: Json = {
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": round(hit.score, 4),
        "snippet": snippet,
        "source": hit.source,
    }
    if hit.citation:
        answer["citation"] = hit.citation
    if hit.explanation:
        answer["explain"] = explanation_json(hit.explanation)
    return answer


def explanation_json(explanation: Explanation) -> Json:
    """How a score came about; steps that did not touch the result are left out."""
    return {name: value for name, value in value_json(explanation).items() if value is not None}


def value_json(value: Value) -> Json:
    """A traded value as JSON, with camelCase keys at every depth."""
    answer: Json = _camel_keys(to_builtins(value))
    return answer


def _camel_keys(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        return {_camel(name): _camel_keys(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_camel_keys(part) for part in value]
    return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


# ---- arguments -----------------------------------------------------------------------------------------


def day_argument(name: str, value: str | None) -> date | None:
    """An ISO date given as an argument. Raises UsageError naming it."""
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name} must be a date such as 2026-02-10, not {value!r}") from error


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def _checked(arguments: Mapping[str, Any], schema: Json) -> Mapping[str, Any]:
    """The arguments without absent ones (null). Raises UsageError for what the schema does not allow."""
    if not isinstance(arguments, Mapping):
        raise UsageError(f"the arguments must be an object, not {type(arguments).__name__}")
    known = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in schema["required"]:
        if name not in given:
            raise UsageError(f"the argument {name!r} is missing")
    for name in given:
        if name not in known:
            raise UsageError(f"there is no argument {name!r}; known are {', '.join(known)}")
    return {name: _typed(name, value, known[name]) for name, value in given.items()}


def _typed(name: str, value: Any, schema: Json) -> Any:  # noqa: ANN401 - any JSON
    """One argument, when its schema allows it."""
    kind = schema["type"]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # as JSON Schema counts them
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise UsageError(f"the argument {name!r} must be of type {kind}, not {value!r}")
    if value not in schema.get("enum", (value,)):
        raise UsageError(f"the argument {name!r} must be one of {schema['enum']}, not {value!r}")
    return value


_SEARCH_ADVICE = (
    "Search the notes in MEMORY.md and memory/ by meaning and by keyword. Use it before answering anything"
    " about earlier work, decisions, dates, people, preferences or open tasks. Gives snippets with path and"
    " lines; read more with memory_get. An empty result says why."
)
_GET_ADVICE = (
    "Read exact lines of a memory note, such as the ones around a memory_search result. A note that does not"
    " exist yet answers exists: false."
)
_WRITE_ADVICE = (
    "Append a note to memory: to today's log, or with durable to the long-term MEMORY.md. Use it for"
    " decisions, preferences and facts worth keeping. Nothing that is written already is changed."
)
_SEARCH_PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for, in any language."},
        "maxResults": {"type": "integer", "minimum": 1, "description": "At most this many results."},
        "minScore": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "Leave out weaker matches.",
        },
        "source": {
            "type": "string",
            "enum": ["memory", "sessions"],
            "description": "Search only this source.",
        },
        "path": {"type": "string", "description": "Only notes whose path matches this glob."},
        "since": {"type": "string", "format": "date", "description": "Only notes of this day or later."},
        "until": {"type": "string", "format": "date", "description": "Only notes of this day or earlier."},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_GET_PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Path of the note, as memory_search gives it."},
        "from": {"type": "integer", "minimum": 1, "description": "First line, counted from 1."},
        "lines": {"type": "integer", "minimum": 1, "description": "How many lines."},
    },
    "required": ["path"],
    "additionalProperties": False,
}
_WRITE_PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What to remember, in one entry."},
        "durable": {"type": "boolean", "description": "True for lasting facts: write to MEMORY.md."},
        "heading": {"type": "string", "description": "With durable: the section of MEMORY.md."},
    },
    "required": ["text"],
    "additionalProperties": False,
}
