"""How the rooms are put together under the settings in force."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from .tombstones.match import Tombstones


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
