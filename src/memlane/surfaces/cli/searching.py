"""`memlane search`."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import click

from ...errors import UsageError
from ...tools import day_argument, search_json
from ...values import SearchResult, Source
from .options import Place, memory_options, print_json, print_text, session_option, wants_colour


@click.command("search")
@click.argument("query", required=False)
@click.option("--query", "query_option", help="The query; wins over the argument.")
@click.option("--max-results", type=click.IntRange(min=1), help="At most this many results.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="Leave out weaker matches (0..1).")
@click.option("--source", type=click.Choice(["memory", "sessions"]), help="Search one source.")
@click.option("--path", "path_glob", help="Only notes whose path matches this glob.")
@click.option("--since", help="Only notes of this day (YYYY-MM-DD) or later.")
@click.option("--until", help="Only notes of this day (YYYY-MM-DD) or earlier.")
@click.option("--explain", is_flag=True, help="Show how each score came about.")
@session_option
@click.option("--no-sync", is_flag=True, help="Do not look for changed notes first.")
@memory_options
def search_command(
    place: Place,
    query: str | None,
    query_option: str | None,
    max_results: int | None,
    min_score: float | None,
    source: Source | None,
    path_glob: str | None,
    since: str | None,
    until: str | None,
    explain: bool,
    session: str | None,
    no_sync: bool,
) -> None:
    """Find passages by keyword and by meaning."""
    wanted = query if query_option is None else query_option
    if wanted is None:
        raise UsageError("there is no query", hint="memlane search 'what did we decide about the router?'")
    observer = place.observer()
    with place.open(observer=observer) as memory:
        result = memory.search(
            wanted,
            max_results=max_results,
            min_score=min_score,
            source=source,
            path=path_glob,
            since=day_argument("--since", since),
            until=day_argument("--until", until),
            session=session,
            explain=explain,
            sync=not no_sync and memory.settings.memory_search.sync.on_search,
        )
    now = memory.clock.now() if explain else None
    print_result(place, result, told=observer.told, explained_at=now)


def print_result(
    place: Place, result: SearchResult, *, told: Collection[str], explained_at: datetime | None = None
) -> None:
    """The answer to a search. `told` are warnings that need no repeating; `explained_at` asks for reasons."""
    if place.as_json:
        print_json(search_json(result, explain=explained_at is not None))
        return
    from ..render import result_text

    print_text(result_text(result, colour=wants_colour(), explained_at=explained_at, told=told))
