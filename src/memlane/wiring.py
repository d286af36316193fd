"""How the rooms are put together under the settings in force."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .clock import Clock
from .config import AgentSettings, Configuration, load_config
from .errors import UsageError
from .events import Observer
from .values import SearchResult, Why
from .workspace import ExtraPath, MediaRules, Workspace

if TYPE_CHECKING:
    from .backends.base import Backend
    from .embed.select import Choice
    from .rerank.base import Reranker
    from .sessions.chat import ChatModel
    from .sessions.life import Life
    from .tombstones.match import Tombstones
    from .tools import Tool
    from .values import Recalled, SessionContext, SyncReport


def workspace_of(settings: AgentSettings, home: Path) -> Workspace:
    """What may be indexed and read for an agent. `home` is what `~` stands for."""
    search = settings.memory_search
    extra_paths = tuple(ExtraPath(extra.path, extra.pattern, extra.evergreen) for extra in search.extra_paths)
    wanted = search.multimodal
    media = None
    if wanted.enabled:
        media = MediaRules(
            tuple(modality for modality in wanted.modalities if modality != "all"), wanted.max_file_bytes
        )
    return Workspace(settings.workspace, extra_paths, home=home, media=media)


def builtin_backend(
    settings: AgentSettings,
    workspace: Workspace,
    *,
    choose: Callable[[], Choice],
    choose_reranker: Callable[[], Reranker] | None,
    observer: Observer,
    clock: Clock,
) -> Backend:
    """The built-in index of an agent.

    `choose` picks the embedding provider when one is first needed, `choose_reranker` the reranking model.
    """
    from .backends.builtin import BuiltinBackend
    from .backends.settings import IndexSettings
    from .backends.sources import sources_of
    from .search.settings import SearchSettings

    def sweep(forgotten: Tombstones) -> Sequence[str]:
        from .forget.sweep import sweep

        return sweep(settings, workspace, forgotten)

    search = settings.memory_search
    hybrid, rerank = search.query.hybrid, search.query.rerank
    return BuiltinBackend(
        sources_of(settings, workspace),
        IndexSettings.of(settings),
        SearchSettings(
            hybrid=hybrid.enabled,
            vector_weight=hybrid.vector_weight,
            text_weight=hybrid.text_weight,
            candidate_multiplier=hybrid.candidate_multiplier,
            fusion=hybrid.fusion,
            rerank=rerank.enabled,
            rerank_candidates=rerank.candidates,
            rerank_seconds=rerank.deadline_ms / 1000,
            mmr=hybrid.mmr.enabled,
            mmr_lambda=hybrid.mmr.lambda_,
            decay=hybrid.temporal_decay.enabled,
            half_life_days=hybrid.temporal_decay.half_life_days,
            balanced=len(search.sources) > 1,
        ),
        choose=choose,
        choose_reranker=choose_reranker,
        observer=observer,
        clock=clock,
        sweep=sweep,
    )


def disabled_result(settings: AgentSettings) -> SearchResult:
    """The answer to a search where memory search is switched off."""
    why = Why("disabled", f"Memory search disabled. {settings.disabled_reason}".strip())
    return SearchResult((), "none", None, "keyword", why=why)


def reranker_choice(settings: AgentSettings, passed: Reranker | None) -> Callable[[], Reranker] | None:
    """What gives the reranking model, the host's before the configured one; None where there is none.

    Calling it loads the configured model, and raises RerankError when that cannot be used.
    """
    rerank = settings.memory_search.query.rerank
    if not rerank.enabled or (passed is None and rerank.model is None):
        return None

    def choose() -> Reranker:
        if passed is not None:
            return passed
        from .rerank.cross_encoder import CrossEncoder

        return CrossEncoder(Path(rerank.model or ""))

    return choose


class LivingMemory(Protocol):
    """What the life cycle of a session asks of a memory."""

    settings: AgentSettings
    workspace: Workspace
    clock: Clock

    def tools(self, *, session: str | None = None) -> list[Tool]:
        """The tools of a session."""
        ...

    def context(self, session: str | None = None) -> SessionContext:
        """What a session starts with."""
        ...

    def sync(
        self,
        *,
        force: bool = False,
        session: str | None = None,
        reason: str = "command",
        wait: float = 30.0,
    ) -> SyncReport:
        """Bring the index up to date, with the transcript of a session however little it has grown by."""
        ...

    def recall(self, message: str, *, session: str | None = None, shown: str = "") -> Recalled:
        """The memories that a message calls for."""
        ...


def life(
    memory: LivingMemory,
    *,
    observer: Observer,
    session: str | None,
    model: ChatModel | None,
    model_named: Callable[[str], ChatModel] | None,
    system: str,
    compaction_reserve: int,
    context_tokens: int | None,
) -> Life:
    """The life cycle of a session of a memory; see `Memory.life`."""
    from msgspec.structs import replace

    from .sessions.keeping import Surroundings
    from .sessions.life import Life

    def index(key: str, force: bool) -> None:
        if memory.settings.enabled:
            memory.sync(reason="compaction", session=key if force else None)

    def recall(message: str, key: str, shown: str) -> Recalled:
        return memory.recall(message, session=key, shown=shown)

    settings = memory.settings
    if context_tokens is not None:
        settings = replace(settings, context_tokens=context_tokens)
    return Life(
        Surroundings(
            settings,
            memory.workspace,
            memory.clock,
            observer,
            tools=lambda key: memory.tools(session=key),
            context=memory.context,
            index=index,
            recall=recall if memory.settings.memory_search.recall.enabled else None,
        ),
        session=session,
        model=model,
        model_named=model_named,
        system=system,
        compaction_reserve=compaction_reserve,
    )


def read_configuration(
    *,
    workspace: str | Path | None = None,
    config: str | Path | None = None,
    state_dir: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    memory_search: Mapping[str, Any] | None = None,
) -> Configuration:
    """The configuration in force here: this and `Memory.open` alone read the environment.

    Relative paths given as arguments start at the working directory. Raises ConfigError.
    """

    def located(name: str, path: str | Path | None) -> Path | None:
        if path is None:
            return None
        if not str(path).strip():
            raise UsageError(f"{name} is empty", hint="name a path, or leave it out for the configured one")
        try:
            return Path(path).expanduser().absolute()
        except (OSError, RuntimeError) as error:
            raise UsageError(f"{name} {str(path)!r} cannot be found: {error}") from error

    return load_config(
        environ=os.environ if environ is None else environ,
        home=home or Path.home(),
        config_file=located("config", config),
        state_dir=located("state_dir", state_dir),
        workspace=located("workspace", workspace),
        memory_search=memory_search,
    )
