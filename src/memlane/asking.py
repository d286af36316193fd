"""A search as a caller means it: checked, with what the settings say, limited to what the asker may have."""

from __future__ import annotations

from datetime import date, tzinfo

from .clock import day_start
from .config import AgentSettings
from .errors import UsageError
from .search.settings import SearchRequest
from .transcripts.gate import access_of
from .values import Filters, Session, Source

_MOST_RESULTS = 4096
"""More than this is no search; the answer is limited in characters long before."""


def search_request(
    settings: AgentSettings,
    asker: Session,
    query: str,
    *,
    max_results: int | None,
    min_score: float | None,
    explain: bool,
) -> SearchRequest:
    """What is asked, with configured values for what is not given. Raises UsageError out of range."""
    defaults = settings.memory_search.query
    wanted = defaults.max_results if max_results is None else max_results
    minimum = defaults.min_score if min_score is None else min_score
    if wanted < 1:
        raise UsageError(f"maxResults must be at least 1, not {wanted}")
    if not 0 <= minimum <= 1:
        raise UsageError(f"minScore must lie between 0 and 1, not {minimum}")
    citations = settings.memory.citations
    return SearchRequest(
        query,
        min(wanted, _MOST_RESULTS),
        minimum,
        cite=citations == "on" or (citations == "auto" and asker.is_direct_chat),
        explain=explain,
    )


def search_filters(
    asker: Session,
    *,
    source: Source | None,
    path: str | None,
    since: date | None,
    until: date | None,
    zone: tzinfo | None,
) -> Filters:
    """What is searched of what the asker may have. Raises UsageError for a period that ends too early."""
    if since and until and since > until:
        raise UsageError(f"since ({since}) is later than until ({until})")
    access = access_of(asker)
    return Filters(
        source,
        path and path.encode("utf-8", "replace").decode("utf-8"),
        since,
        until,
        curated=access.curated,
        transcripts=access.transcripts,
        since_at=day_start(since, zone) if since else None,
        until_at=day_start(until, zone, after=1) if until else None,
    )
