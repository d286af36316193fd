"""What people see: results, reports and progress as text. Rich is loaded only to draw a progress bar."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from ..events import Stage
from ..search.snippet import find_matches
from ..values import Building, Hit, Pass, SearchResult, Status, SyncReport

if TYPE_CHECKING:
    from datetime import datetime

    from rich.progress import Progress, TaskID

    from ..transcripts.listing import SessionInfo

_NAMES_SHOWN = 3
_STAGES: dict[Stage, str] = {
    "index": "Indexing files",
    "embed": "Embedding chunks",
    "ask": "Asking questions",
}


class TerminalObserver:
    """Draws progress on standard error when it is a terminal, and prints warnings there."""

    def __init__(self, *, progress: bool) -> None:
        self._wanted = progress
        self._progress: Progress | None = None
        self._tasks: dict[Stage, TaskID] = {}
        self.told: list[str] = []
        """The warnings printed so far."""

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """Move the bar of a stage; it goes away when all of it is done."""
        if not self._wanted or (self._progress is None and done >= total):
            return
        bar = self._progress or self._start()
        if stage not in self._tasks:
            self._tasks[stage] = bar.add_task(_STAGES[stage], total=total)
        bar.update(self._tasks[stage], completed=done, total=total)
        if all(task.finished for task in bar.tasks):
            self._stop()

    def warning(self, message: str) -> None:
        """Print a warning."""
        self._stop()
        self.told.append(message)
        click.echo(f"warning: {message}", err=True)

    def _start(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._progress.start()
        atexit.register(self._stop)  # an interrupted command gives the cursor back too
        return self._progress

    def _stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._tasks.clear()


def result_text(
    result: SearchResult,
    *,
    colour: bool,
    explained_at: datetime | None = None,
    told: Collection[str] = (),
) -> str:
    """Search results for reading: score, place, snippet with the matched terms emphasised.

    `explained_at`, the present moment, adds what happened to the candidates of the query. `told` are warnings
    that need no repeating.
    """
    blocks = [_hit_text(hit, colour=colour) for hit in result.hits]
    if not result.hits:
        blocks.append(_nothing(result))
    notes = [f"warning: {result.warning}"] if result.warning and result.warning not in told else []
    if result.hits and result.why:
        notes.append(f"note: {result.why.message}")
    if result.stale and not result.warning:
        notes.append("note: newer changes are not in these results yet")
    if result.building:
        notes.append(f"note: {_building_text(result.building, result.model)}")
    elif result.partial:
        notes.append("note: the index is not complete yet")
    if result.totals.dropped_by_size:
        notes.append(
            f"note: {result.totals.dropped_by_size} more results were left out; the answer was too long"
        )
    if explained_at is not None:
        from .explained import totals_text

        notes.append(totals_text(result, explained_at))
    return "\n\n".join(blocks + notes)


def report_text(agent: str, report: SyncReport, *, verbose: bool) -> str:
    """One line on what a pass did, and one for each file that failed."""
    parts = [f"{report.indexed} indexed", f"{report.unchanged} unchanged"]
    parts += [f"{report.removed} removed"] if report.removed else []
    parts += [f"{len(report.failed)} failed"] if report.failed else []
    chunks = f"{report.chunks} chunks, {report.embedded} embedded"
    chunks += f", {report.from_cache} known already" if report.from_cache else ""
    chunks += f", {report.without_vector} without vector" if report.without_vector else ""
    lines = [f"{agent}: {', '.join(parts)} ({chunks}) in {report.seconds:.2f} s"]
    if not report.complete:
        lines.append(
            f"  {report.warning}" if report.busy else "  not complete; the next run goes on from here"
        )
    lines += [f"  failed: {failure.path}: {failure.reason}" for failure in report.failed]
    if verbose:
        lines += [f"  skipped link: {path}" for path in report.skipped_links]
    elif report.skipped_links:
        count = len(report.skipped_links)
        lines.append(f"  skipped {count} symbolic {'link' if count == 1 else 'links'} (--verbose names them)")
    return "\n".join(lines)


def did_something(report: SyncReport) -> bool:
    """Whether a pass is worth a line: most find nothing to do."""
    failed_now = report.files_read > 0 and bool(report.failed)
    return bool(report.indexed or report.removed or report.embedded or report.from_cache or failed_now)


def pass_text(done: Pass) -> str:
    """What a pass of a memory that keeps itself fresh did: a line, and one for each file that failed."""
    report = done.report
    if report is None:
        return f"failed: {done.failure}"
    names = [with_visible_controls(name) for name in report.changed[:_NAMES_SHOWN]]
    unnamed = report.indexed + report.removed - len(names)
    names += [f"{unnamed} more"] if names and unnamed else []
    counts = {
        "indexed": report.indexed,
        "removed": report.removed,
        "failed": len(report.failed),
        "chunks embedded": report.embedded,
        "embedded before": report.from_cache,
    }
    parts = [f"{count} {name}" for name, count in counts.items() if count] or ["nothing to do"]
    parts += [] if report.complete else ["not complete yet"]
    lines = [f"{', '.join(names) or done.reasons[0]}: {', '.join(parts)} in {report.seconds:.2f} s"]
    lines += [f"  failed: {failure.path}: {failure.reason}" for failure in report.failed]
    return "\n".join(lines)


def status_text(status: Status) -> str:
    """The state of an agent's memory, a fact a line."""
    counts = status.statistics
    by_source = ", ".join(f"{count} {source}" for source, count in sorted(counts.by_source.items()))
    rows = [
        ("Agent", status.agent),
        ("Workspace", f"{status.workspace} ({status.notes} notes, {_size(status.note_bytes)})"),
        *(("Extra path", path) for path in status.extra_paths),
        ("Index", f"{status.store_path} ({_size(counts.bytes_on_disk)})"),
        ("Backend", status.backend),
        ("Provider", f"{status.provider}{f' ({status.model})' if status.model else ''}"),
        ("Files", (by_source or "0") + (f", {len(counts.failed)} failed" if counts.failed else "")),
        ("Chunks", f"{counts.chunks}"),
        ("Vectors", _vectors_text(status)),
        ("Cache", f"{status.cache_entries} embeddings ({_size(status.cache_bytes)})"),
        ("Last indexed", _last_text(status)),
        ("Up to date", _freshness_text(status)),
    ]
    lines = [f"{name:<13} {with_visible_controls(value)}" for name, value in rows]
    if status.building:
        lines.append(f"{'Building':<13} {_building_text(status.building, status.model)}")
    notes = [f"being written by {status.writer}"] if status.writer else []
    notes += [f"why: {reason}" for reason in status.provider_reasons]
    notes += [f"failed: {failure.path}: {failure.reason}" for failure in counts.failed]
    notes += [f"skipped link: {path}" for path in status.skipped_links]
    notes += [f"not there yet: {path}" for path in status.missing_roots]
    notes += ["warning: the index can only be read (memlane doctor)"] if status.read_only else []
    notes += [f"warning: {warning}" for warning in status.warnings]
    return "\n".join(lines + [f"  {with_visible_controls(note)}" for note in notes])


def _last_text(status: Status) -> str:
    if status.last_sync is None:
        return "never"
    ago = status.seconds_since_sync
    if ago is None:
        return status.last_sync
    for unit, seconds in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if ago >= seconds:
            count = ago // seconds
            return f"{status.last_sync} ({count} {unit}{'' if count == 1 else 's'} ago)"
    return f"{status.last_sync} (just now)"


def _freshness_text(status: Status) -> str:
    if not status.dirty:
        return "yes"
    if status.pending is None:
        return "not known"
    if status.pending:
        differ = "1 file differs" if status.pending == 1 else f"{status.pending} files differ"
        return f"no, {differ} (memlane index)"
    return "no, the last pass did not end, or vectors are missing (memlane index)"


def with_visible_controls(text: str) -> str:
    """The text with pictures in place of control signs, character for character.

    Escape sequences in a note could retitle the window or hide text; pictures of them cannot.
    """
    return text.translate(_VISIBLE)


_VISIBLE = {code: 0x2400 + code for code in range(0x20) if code not in {0x09, 0x0A}}
_VISIBLE.update(dict.fromkeys(range(0x7F, 0xA0), 0xFFFD))


def _hit_text(hit: Hit, *, colour: bool) -> str:
    score, place = f"{hit.score:.2f}", f"{hit.path}:{hit.start_line}-{hit.end_line}"
    if colour:
        score, place = click.style(score, fg="green"), click.style(with_visible_controls(place), fg="cyan")
    snippet = _emphasised(hit) if colour else hit.snippet
    indented = "\n".join(f"  {line}".rstrip() for line in snippet.split("\n"))
    if hit.explanation is None:
        return f"{score}  {place}\n{indented}"
    from .explained import explanation_text

    explained = explanation_text(hit)
    return f"{score}  {place}\n{indented}\n\n{with_visible_controls(explained) if colour else explained}"


def _emphasised(hit: Hit) -> str:
    snippet = with_visible_controls(hit.snippet)
    pieces: list[str] = []
    reached = 0
    for match in find_matches(hit.snippet, hit.matched_terms):
        if match.end <= reached:
            continue
        start = max(match.start, reached)
        pieces += [snippet[reached:start], click.style(snippet[start : match.end], bold=True)]
        reached = match.end
    return "".join([*pieces, snippet[reached:]])


def _nothing(result: SearchResult) -> str:
    if result.why is None:
        return "No matches."
    if result.why.code == "disabled":
        return result.why.message
    advice = " Try other words, or fewer." if result.why.code == "no_match" else ""
    return f"No matches: {result.why.message}.{advice}"


def _building_text(building: Building, answering: str | None) -> str:
    text = f"{building} have vectors; memlane index makes the rest"
    return text if answering == building.model else f"{text}, {answering} answers until then"


def _vectors_text(status: Status) -> str:
    counts = status.statistics
    text = f"{counts.vectors} of {counts.chunks} chunks"
    if status.dimensions:
        text += f", {status.dimensions} dimensions, compared by {status.vector_engine}"
    if counts.without_vector:
        text += f", {counts.without_vector} refused"
    return text


def sessions_text(sessions: Sequence[SessionInfo]) -> str:
    """One line for each session: when it was last used, its kind, its size, how to name it."""
    lines = []
    for info in sessions:
        kind = info.archive or ("housekeeping" if info.housekeeping else info.kind.value)
        updated = (info.updated or "")[:16].replace("T", " ")
        name = f"{info.key}  {info.path or 'no transcript yet'}" if info.key else info.path
        lines.append(f"{updated:16}  {kind:12}  {_size(info.size):>8}  {name}")
    return "\n".join(lines)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
