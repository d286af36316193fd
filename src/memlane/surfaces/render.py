"""What people see: results, reports and progress as text. Rich is loaded only to draw a progress bar."""

from __future__ import annotations

import atexit
import sys
from typing import TYPE_CHECKING

import click

from ..events import Stage
from ..search.snippet import find_matches
from ..values import Explanation, Hit, Pass, SearchResult, Status, SyncReport

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_NAMES_SHOWN = 3
_STAGES: dict[Stage, str] = {"index": "Indexing files", "embed": "Embedding chunks"}


class TerminalObserver:
    """Draws progress on standard error when it is a terminal, and prints warnings there."""

    def __init__(self, *, progress: bool) -> None:
        self._wanted = progress
        self._progress: Progress | None = None
        self._tasks: dict[Stage, TaskID] = {}

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


def result_text(result: SearchResult, *, colour: bool) -> str:
    """Search results for reading: score, place, snippet with the matched terms emphasised."""
    blocks = [_hit_text(hit, colour=colour) for hit in result.hits]
    if not result.hits:
        blocks.append(_nothing(result))
    notes = [f"warning: {result.warning}"] if result.warning else []
    if result.stale and not result.warning:
        notes.append("note: newer changes are not in these results yet")
    if result.partial:
        notes.append("note: the index is not complete yet")
    if result.totals.dropped_by_size:
        notes.append(
            f"note: {result.totals.dropped_by_size} more results were left out; the answer was too long"
        )
    if any(hit.explanation for hit in result.hits):
        notes.append(_totals_text(result))
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
    rows = [
        ("Agent", status.agent),
        ("Workspace", status.workspace),
        ("Index", f"{status.store_path} ({_size(counts.bytes_on_disk)})"),
        ("Backend", status.backend),
        ("Provider", f"{status.provider}{f' ({status.model})' if status.model else ''}"),
        ("Files", f"{counts.files}" + (f", {len(counts.failed)} failed" if counts.failed else "")),
        ("Chunks", f"{counts.chunks}"),
        ("Vectors", _vectors_text(status)),
        ("Cache", f"{status.cache_entries} embeddings ({_size(status.cache_bytes)})"),
        ("Last indexed", status.last_sync or "never"),
        ("Up to date", "yes" if not status.dirty else f"no, {status.pending} files differ (memlane index)"),
    ]
    lines = [f"{name:<13} {value}" for name, value in rows]
    lines += [f"  being written by {status.writer}"] if status.writer else []
    lines += [f"  why: {reason}" for reason in status.provider_reasons]
    lines += [f"  failed: {failure.path}: {failure.reason}" for failure in counts.failed]
    lines += [f"  skipped link: {path}" for path in status.skipped_links]
    lines += [f"  not there yet: {path}" for path in status.missing_roots]
    lines += [f"  warning: {warning}" for warning in status.warnings]
    return "\n".join(lines)


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
    explained = f"\n{_explanation_text(hit.explanation)}" if hit.explanation else ""
    return f"{score}  {place}\n{indented}{explained}"


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
    if result.why.code == "no_match":
        return "No matches. Try other words, or fewer."
    return f"No matches: {result.why.message}."


def _explanation_text(explanation: Explanation) -> str:
    word, meaning = "keyword: no match", "vector: no vector"
    if explanation.keyword_score is not None:
        word = (
            f"keyword: rank {explanation.keyword_rank}, BM25 {explanation.keyword_raw:.3f}"
            f" → {explanation.keyword_score:.3f}, terms {', '.join(explanation.matched_terms)}"
        )
    if explanation.vector_score is not None:
        rank = f"rank {explanation.vector_rank}" if explanation.vector_rank else "beyond the candidates"
        meaning = f"vector: {rank}, cosine {explanation.vector_raw:.3f} → {explanation.vector_score:.3f}"
    lines = [
        word,
        meaning,
        f"fused: {explanation.vector_weight:.2f} × vector + {explanation.text_weight:.2f} × keyword"
        f" = {explanation.fused:.3f}; over the threshold {explanation.threshold:.2f}"
        f" by {explanation.passed_by}",
    ]
    if explanation.decay is not None:
        lines.append(f"decay: {explanation.age_days} days old, × {explanation.decay:.3f}")
    if explanation.mmr_penalty:
        lines.append(f"diversity: −{explanation.mmr_penalty:.3f} for likeness to {explanation.mmr_against}")
    return "\n".join(f"    {line}" for line in lines)


def _totals_text(result: SearchResult) -> str:
    totals = result.totals
    times = ", ".join(f"{step} {milliseconds:.1f} ms" for step, milliseconds in totals.milliseconds.items())
    return (
        f"candidates: {totals.keyword_candidates} keyword, {totals.vector_candidates} vector; dropped:"
        f" {totals.dropped_by_score} by score, {totals.dropped_missing_file} whose file is gone;"
        f" index generation {totals.generation}; {times}"
    )


def _vectors_text(status: Status) -> str:
    counts = status.statistics
    text = f"{counts.vectors} of {counts.chunks} chunks"
    if status.dimensions:
        text += f", {status.dimensions} dimensions, compared by {status.vector_engine}"
    if counts.without_vector:
        text += f", {counts.without_vector} refused"
    return text


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
