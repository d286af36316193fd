"""The keys beside `memorySearch`: agent, compaction and flush, backend, providers, plugin slot."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from .section import MOST, Amount, Count, Headers, Location, SecretText, Section, Text, Url

# `written` and `writtenDefault` go into the JSON Schema where the file has another type than the setting.
Duration = Annotated[
    float,
    Meta(
        ge=0,
        extra={"kind": "duration"},
        extra_json_schema={
            "written": {
                "type": ["number", "string"],
                "pattern": r"^\s*\d{1,15}(\.\d+)?\s*([mM]?[sS]|[mMhHdD])?\s*$",
            }
        },
    ),
]
"""Seconds; written as "30s", "5m", "1h" or as a bare number of minutes."""

Size = Annotated[
    int,
    Meta(
        ge=0,
        le=MOST,
        extra={"kind": "size"},
        extra_json_schema={
            "written": {
                "type": ["integer", "string"],
                "pattern": r"^\s*\d{1,15}(\.\d+)?\s*([bB]|[kKmMgG]([iI]?[bB])?)?\s*$",
            }
        },
    ),
]
"""Bytes; written as a number or as "512kb", "2mb", "1gb"."""

Prompt = Annotated[str, Meta(min_length=1)]

FLUSH_SYSTEM_PROMPT = "Session nearing compaction. Store durable memories now."
FLUSH_PROMPT = "Write any lasting notes to memory/YYYY-MM-DD.md; reply with NO_REPLY if nothing to store."


# ---- an agent ----------------------------------------------------------------------------------------


class General(Section, frozen=True):
    """What else memory needs to know of an agent."""

    shared: ClassVar[bool] = True
    groups: ClassVar[tuple[str, ...]] = ("memorySearch", "memory", "compaction", "sandbox")

    workspace: Annotated[
        Location, Meta(description="The folder of the notes; unset means `<state dir>/workspace`.")
    ] = None
    user_timezone: Annotated[
        Text,
        Meta(
            extra={"kind": "timezone"},
            description="IANA zone that decides what day it is; unset: the host's.",
        ),
    ] = None
    context_tokens: Annotated[
        Count | None, Meta(description="Size of the model's context; unset: as the model says, else 200,000.")
    ] = None
    model: Annotated[
        Text,
        Meta(
            extra={"kind": "chat_model"},
            extra_json_schema={"written": {"type": ["string", "object"]}},
            description="What `memlane chat` talks to: `provider/model`, or an object with it as `primary`.",
        ),
    ] = None


class Sandbox(Section, frozen=True):
    """What the agent may do to its workspace."""

    shared: ClassVar[bool] = True

    workspace_access: Annotated[
        Literal["rw", "ro", "none"],
        Meta(description="Without `rw` there is no flush: it could not write what it is for."),
    ] = "rw"


class MemoryFlush(Section, frozen=True):
    """A silent turn before context is lost, in which the agent writes down what should last."""

    enabled: Annotated[bool, Meta(description="On, because what is not written down is forgotten.")] = True
    soft_threshold_tokens: Annotated[
        Amount, Meta(description="How far before compaction the flush runs: room for the turn itself.")
    ] = 4000
    force_flush_transcript_bytes: Annotated[
        Size, Meta(description="Flush at this size of the transcript whatever the token estimate; 0 is off.")
    ] = 2 * 1024 * 1024
    system_prompt: Annotated[
        Prompt, Meta(description="Added to the session's system prompt for that turn.")
    ] = FLUSH_SYSTEM_PROMPT
    prompt: Annotated[Prompt, Meta(description="The turn's message. `YYYY-MM-DD` becomes today's date.")] = (
        FLUSH_PROMPT
    )
    model: Annotated[Text, Meta(description="A model for the flush alone; unset means the session's.")] = None


class Compaction(Section, frozen=True):
    """When old turns are summarised to make room, and what memory does then."""

    shared: ClassVar[bool] = True

    reserve_tokens_floor: Annotated[
        Amount, Meta(description="Context kept free for the answer and for housekeeping, at the least.")
    ] = 20_000
    post_index_sync: Annotated[
        Literal["off", "async", "await"],
        Meta(
            description="Index the session after its compaction: not at all, behind the turn, or before it."
        ),
    ] = "async"
    memory_flush: Annotated[MemoryFlush, Meta(description="Writing down what should last.")] = MemoryFlush()


# ---- the backend -------------------------------------------------------------------------------------


class Match(Section, frozen=True):
    """Which sessions a rule is about. All fields given must match."""

    channel: Annotated[Text, Meta(description="The messaging channel, such as `discord`.")] = None
    chat_type: Annotated[Text, Meta(description="`direct`, `group` or `channel`.")] = None
    key_prefix: Annotated[
        Text, Meta(description="Start of the session key in lower case, without `agent:<id>:`.")
    ] = None
    raw_key_prefix: Annotated[Text, Meta(description="Start of the whole session key.")] = None


class Rule(Section, frozen=True):
    """One line of a scope."""

    action: Annotated[Literal["allow", "deny"], Meta(description="What happens to a session that matches.")]
    match: Annotated[Match, Meta(description="Which sessions; empty means every one.")] = Match()


class Scope(Section, frozen=True):
    """Which sessions may search. The first matching rule decides."""

    default: Annotated[
        Literal["allow", "deny"],
        Meta(description="What no rule decides. Denied, so that a new channel is not let in by accident."),
    ] = "deny"
    rules: Annotated[tuple[Rule, ...], Meta(description="Tried in order. Direct chats may search.")] = (
        Rule(action="allow", match=Match(chat_type="direct")),
    )


class QmdPath(Section, frozen=True):
    """A further folder or file for QMD."""

    path: Annotated[
        str, Meta(min_length=1, description="Folder or file; relative ones start at the workspace.")
    ]
    pattern: Annotated[str, Meta(min_length=1, description="Which files under a folder count.")] = "**/*.md"
    name: Annotated[Text, Meta(description="A lasting name for the collection.")] = None


class QmdSessions(Section, frozen=True):
    """Transcripts as Markdown for QMD."""

    enabled: Annotated[
        bool, Meta(description="Off, because transcripts hold what was never meant as a note.")
    ] = False
    export_dir: Annotated[
        Location, Meta(description="Where they go; unset means `<state dir>/agents/<id>/qmd/sessions`.")
    ] = None
    retention_days: Annotated[
        Count | None, Meta(description="Exports older than this are removed; unset keeps them.")
    ] = None


class QmdUpdate(Section, frozen=True):
    """How often QMD looks for changes."""

    interval: Annotated[
        Duration,
        Meta(description="Time between two updates; 0 is off.", extra_json_schema={"writtenDefault": "5m"}),
    ] = 300.0
    debounce_ms: Annotated[
        Amount, Meta(description="Milliseconds in which a second update is not worth it.")
    ] = 15_000
    on_boot: Annotated[bool, Meta(description="Update when a long-lived process starts.")] = True
    wait_for_boot_sync: Annotated[
        bool, Meta(description="Wait for that update. Off, so that starting does not take long.")
    ] = False
    embed_interval: Annotated[
        Duration,
        Meta(
            description="Time between two embedding runs, which are slow; 0 is off.",
            extra_json_schema={"writtenDefault": "60m"},
        ),
    ] = 3600.0
    command_timeout_ms: Annotated[Count, Meta(description="Limit of short QMD commands.")] = 30_000
    update_timeout_ms: Annotated[Count, Meta(description="Limit of an update.")] = 120_000
    embed_timeout_ms: Annotated[Count, Meta(description="Limit of an embedding run.")] = 120_000


class QmdLimits(Section, frozen=True):
    """What a QMD search may give, and how long it may take."""

    max_results: Annotated[Count, Meta(description="Results a search gives.")] = 6
    max_snippet_chars: Annotated[Count, Meta(description="Characters of one snippet.")] = 700
    max_injected_chars: Annotated[Count, Meta(description="Characters of all snippets together.")] = 4000
    timeout_ms: Annotated[
        Count, Meta(description="Limit of a search; after it the built-in index answers.")
    ] = 4000


class Qmd(Section, frozen=True):
    """The QMD sidecar."""

    command: Annotated[
        tuple[str, ...],
        Meta(
            extra={"kind": "command"},
            extra_json_schema={"written": {"type": ["string", "array"], "minLength": 1, "minItems": 1}},
            description="The executable, or a list of it and its arguments. No shell reads it.",
        ),
    ] = ("qmd",)
    search_mode: Annotated[
        Literal["search", "vsearch", "query"],
        Meta(description="Keywords, meaning, or both with reranking: each slower than the one before."),
    ] = "search"
    include_default_memory: Annotated[
        bool, Meta(description="Search `MEMORY.md` and `memory/**/*.md` too.")
    ] = True
    paths: Annotated[
        tuple[QmdPath, ...], Meta(extra={"kind": "qmd_paths"}, description="More folders and files.")
    ] = ()
    sessions: Annotated[QmdSessions, Meta(description="Transcripts.")] = QmdSessions()
    update: Annotated[QmdUpdate, Meta(description="Freshness.")] = QmdUpdate()
    limits: Annotated[QmdLimits, Meta(description="Size and time of a search.")] = QmdLimits()
    scope: Annotated[Scope, Meta(description="Which sessions may search.")] = Scope()


class MemorySection(Section, frozen=True):
    """The backend that answers, and how results are cited."""

    backend: Annotated[
        Literal["builtin", "qmd"], Meta(description="Memlane's own index, or the QMD sidecar.")
    ] = "builtin"
    citations: Annotated[
        Literal["auto", "on", "off"],
        Meta(description="A source line under each snippet; `auto` gives it in direct chats only."),
    ] = "auto"
    qmd: Annotated[Qmd, Meta(description="The QMD sidecar.")] = Qmd()


# ---- shared with the rest of the platform ------------------------------------------------------------


class ProviderModel(Section, frozen=True):
    """A chat model of an endpoint."""

    shared: ClassVar[bool] = True

    id: Annotated[str, Meta(description="As the endpoint calls it.")]
    context_window: Annotated[Count | None, Meta(description="Tokens that its context holds.")] = None
    context_tokens: Annotated[Count | None, Meta(description="As many of them as are to be used.")] = None


class Provider(Section, frozen=True):
    """An endpoint that chat models and embeddings may share."""

    shared: ClassVar[bool] = True

    api: Annotated[Text, Meta(description="The kind of interface, such as `openai-compatible`.")] = None
    base_url: Annotated[Url, Meta(description="Address of the service.")] = None
    api_key: Annotated[SecretText, Meta(description="Its key, or `${NAME}`. Never shown.")] = None
    headers: Annotated[Headers, Meta(description="Sent with each request.")] = {}  # noqa: RUF012 - a Struct copies it
    models: Annotated[tuple[ProviderModel, ...], Meta(description="Its chat models.")] = ()


class Slots(Section, frozen=True):
    """Which plugin fills a role."""

    shared: ClassVar[bool] = True

    memory: Annotated[
        Literal["memory-core", "none"], Meta(description="`none` switches memory off altogether.")
    ] = "memory-core"
