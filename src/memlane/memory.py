"""Memory: what a host opens and asks. The calls about index, sessions and forgetting are in `calls`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from .calls.forgetting import ForgettingCalls
from .calls.sessions import SessionCalls
from .calls.upkeep import UpkeepCalls
from .clock import Clock
from .errors import UsageError
from .events import Observer, SilentObserver
from .values import (
    Excerpt,
    Recalled,
    SearchResult,
    SessionContext,
    Source,
    Written,
)
from .wiring import disabled_result, read_configuration

if TYPE_CHECKING:
    from .embed.base import Embedder
    from .evaluate import Evaluation, Question
    from .rerank.base import Reranker
    from .sessions.chat import ChatModel
    from .sessions.life import Life
    from .tools import Tool


class Memory(UpkeepCalls, SessionCalls, ForgettingCalls):
    """The memory of one agent.

    ```
    with Memory.open(workspace="notes") as memory:
        for hit in memory.search("what did we decide about the router?"):
            print(hit.score, hit.path, hit.start_line, hit.snippet)
    ```

    Thread-safe. Nothing is opened before it is needed: reading and writing notes touch no index.

    Here are search, get, remember, context, recall, evaluate, tools and life. The other calls
    are in its bases: sync, plan, start, status, batches and doctor in `UpkeepCalls`; sessions, transcript and
    export_session in `SessionCalls`; forget, forgotten and unforget in `ForgettingCalls`.
    """

    @classmethod
    def open(
        cls,
        *,
        agent: str | None = None,
        workspace: str | Path | None = None,
        config: str | Path | None = None,
        state_dir: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
        observer: Observer | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        background: bool = False,
        memory_search: Mapping[str, Any] | None = None,
    ) -> Self:
        """The memory of an agent, by default the configured default agent.

        `embedder` takes the place of the configured provider, and `reranker` that of the configured reranking
        model (see `memlane.rerank.base.Reranker`). `background` is for processes that live on: from the first
        search or session on, one thread keeps the index fresh (see `start`), and searches answer at once from
        what is there. Such a memory wants to be closed. `memory_search` is a section such as
        `{"query": {"minScore": 0.2}}` that wins over the configured one.

        Raises ConfigError when the configuration cannot be used, UsageError for an unknown agent.
        """
        home = Path.home()
        configuration = read_configuration(
            workspace=workspace,
            config=config,
            state_dir=state_dir,
            environ=environ,
            home=home,
            memory_search=memory_search,
        )
        settings = configuration.agent(agent)
        memory = cls(
            settings,
            home=home,
            observer=observer,
            clock=clock,
            embedder=embedder,
            reranker=reranker,
            background=background,
        )
        for warning in settings.warnings:
            (observer or SilentObserver()).warning(warning)
        return memory

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
        explain: bool = False,
        sync: bool | None = None,
    ) -> SearchResult:
        """Passages that answer a query, best first.

        `source`, `path` (a glob), `since` and `until` limit what is searched. `session` is the key of the
        session that asks: one that is not private sees neither MEMORY.md nor transcripts. `sync` says whether
        to look for changed notes first; by default as configured, and in the background where there is one:
        the result then says whether it is `stale` or `partial`. An empty result says why.

        Raises UsageError for values out of range, WorkspaceError when the workspace is missing, StoreError
        when the index cannot be used.
        """
        from .asking import search_filters, search_request
        from .transcripts.keys import session_from_key

        asker, zone = session_from_key(session, agent=self.agent), self.clock.now().tzinfo
        request = search_request(
            self.settings, asker, query, max_results=max_results, min_score=min_score, explain=explain
        )
        filters = search_filters(asker, source=source, path=path, since=since, until=until, zone=zone)
        if not self.settings.enabled:
            return disabled_result(self.settings)
        outlook = self._freshness.outlook(blank=not query.strip(), sync=sync)
        citations = self.settings.memory.citations
        result = replace(self._backend.search(request, filters), citations=citations)
        if outlook.trouble:
            troubles = dict.fromkeys(filter(None, (outlook.trouble, result.warning)))  # often the same
            result = replace(result, warning="; ".join(troubles))
        return replace(result, stale=True) if outlook.stale else result

    def get(
        self, path: str, *, start: int = 1, lines: int | None = None, session: str | None = None
    ) -> Excerpt:
        """Exact lines of a note. A note that does not exist yet gives an empty excerpt.

        With session memory on, `sessions/…` gives what was said in these lines of a transcript, to private
        sessions. Raises PathRefused for anything that is not memory, UsageError for line numbers below 1,
        WorkspaceError or SessionError when the file cannot be read.
        """
        from .forget.hide import hidden
        from .workspace import read_lines

        if "sessions" in self.settings.memory_search.sources and path.startswith("sessions/"):
            said = self._recollection(session).lines(path, start=start, lines=lines)
            if said is not None:
                return said
        curated = self._access(session).curated
        excerpt = read_lines(self.workspace, path, start=start, lines=lines, curated=curated)
        return hidden(self._tombstones, self.workspace, excerpt)

    def remember(
        self, text: str, *, durable: bool = False, heading: str | None = None, session: str | None = None
    ) -> Written:
        """Append to today's daily log, or with `durable` to MEMORY.md (under `heading` when given).

        A session that is not private may not write to MEMORY.md: what stands there is shown to the owner.
        Raises UsageError for that and for an empty text, WorkspaceError when the note cannot be written.
        """
        from .workspace import remember

        if durable and not self._access(session).curated:
            raise UsageError(
                "MEMORY.md is written in private sessions alone",
                hint="leave durable out: today's log is open",
            )
        path = None
        try:
            written = remember(self.workspace, text, clock=self.clock, durable=durable, heading=heading)
            path = self.workspace.root / written.path if written.added else None
        finally:
            self._freshness.note_write(path)
        return written

    def context(self, session: str | None = None, *, limit: int | None = None) -> SessionContext:
        """What an agent should have in its prompt when a session starts: at most `limit` characters of notes.

        Also brings the index up to date for the session, when `sync.onSessionStart` is on; a failure of
        that is a warning.
        """
        from .forget.hide import shown
        from .transcripts.keys import session_from_key
        from .workspace.context import FILE_LIMIT, TOTAL_LIMIT, session_context

        asker = session_from_key(session, agent=self.agent)
        most = TOTAL_LIMIT if limit is None else min(limit, TOTAL_LIMIT)
        context = session_context(
            self.workspace,
            asker,
            curated=self._access(session).curated,
            today=self.clock.today(),
            file_limit=min(FILE_LIMIT, most),
            total_limit=most,
            shown=shown(self._tombstones),
        )
        if self.settings.enabled and self.settings.memory_search.sync.on_session_start:
            self._freshness.greet_session()
        return context

    def evaluate(
        self, questions: Sequence[Question], *, low_confidence: float | None = None, sync: bool = True
    ) -> Evaluation:
        """How well the memory answers questions whose answers are known, and why it misses what it misses.

        `memlane.evaluate.read_questions` reads them from a file, `memlane.evaluate.compare` compares two
        evaluations. For a question without an answer, finding nothing is right, and so is an answer with a
        confidence below `low_confidence`: by default, the one below which a search itself doubts. `sync` says
        whether to look for changed notes first.

        Raises UsageError without questions and where memory search is disabled, otherwise as `search`.
        """
        from .evaluate import evaluate
        from .search.settings import DOUBTFUL

        if low_confidence is None:
            low_confidence = DOUBTFUL
        if not self.settings.enabled:
            raise UsageError(f"Memory search disabled. {self.settings.disabled_reason}".strip())
        if not 0 <= low_confidence <= 1:
            raise UsageError(f"low_confidence must lie between 0 and 1, not {low_confidence}")
        trouble = ""
        if sync:
            report = self.sync(reason="evaluation")
            trouble = "" if report.complete else report.warning or "another process is indexing"
        progress = partial(self._observer.progress, "ask")
        found = evaluate(self, questions, low_confidence=low_confidence, progress=progress)
        return replace(found, warnings=(trouble, *found.warnings)) if trouble else found

    def tools(self, *, session: str | None = None) -> list[Tool]:
        """The tools for an agent's model, with JSON schemas; calling one never raises.

        None when memory is switched off, and none that write where the workspace may only be read.
        """
        from .tools import tools_for

        if not self.settings.enabled:
            return []
        writable = self.settings.workspace_access == "rw"
        return [tool for tool in tools_for(self, session=session) if writable or tool.read_only]

    def recall(self, message: str, *, session: str | None = None, shown: str = "") -> Recalled:
        """The few memories that a message calls for, fenced as data; often none.

        `shown` is what the model sees already. Nothing comes from transcripts, from extra paths, or for a
        session in which nobody talks. Limits are those of `memorySearch.recall`, which need not be enabled
        for this. Raises as `search` does.
        """
        from .sessions.recall import recall

        if not (self.settings.enabled and self._access(session).recall):
            return Recalled()

        def find(text: str, most: int) -> SearchResult:
            return self.search(text, max_results=most, source="memory", session=session)

        extra = [self.workspace.shown(root.location) for root in self.workspace.extra_roots()]
        return recall(message, find, self.settings.memory_search.recall, shown=shown, extra=extra)

    def life(
        self,
        *,
        session: str | None = None,
        model: ChatModel | None = None,
        model_named: Callable[[str], ChatModel] | None = None,
        system: str = "",
        compaction_reserve: int = 0,
        context_tokens: int | None = None,
    ) -> Life:
        """The life cycle of memory in a session, for an agent with a loop of its own (docs/life-cycle.md).

        `session` is its key, by default the main session's. `model` flushes and summarises; `model_named`
        gives another one by its name, for `compaction.memoryFlush.model`. `system` is the agent's own system
        prompt. `compaction_reserve` are tokens that the agent's compaction keeps free. `context_tokens` is
        the size of the context, whatever the configuration says. Raises SessionError when the session cannot
        be read or written.
        """
        from .sessions.keeping import Surroundings
        from .sessions.life import Life

        def index(key: str, force: bool) -> None:
            if self.settings.enabled:
                self.sync(reason="compaction", session=key if force else None)

        def recall(message: str, key: str, shown: str) -> Recalled:
            return self.recall(message, session=key, shown=shown)

        settings = self.settings
        if context_tokens is not None:
            settings = replace(settings, context_tokens=context_tokens)
        return Life(
            Surroundings(
                settings,
                self.workspace,
                self.clock,
                self._observer,
                tools=lambda key: self.tools(session=key),
                context=self.context,
                index=index,
                recall=recall if settings.memory_search.recall.enabled else None,
            ),
            session=session,
            model=model,
            model_named=model_named,
            system=system,
            compaction_reserve=compaction_reserve,
        )
