"""Batch jobs as text."""

from __future__ import annotations

from ..values import BatchJob, BatchReport
from .render import with_visible_controls


def job_text(job: BatchJob) -> str:
    """One job in one line: whose it is, how far, how old, when somebody looked last."""
    counted = f", {job.done} done" if job.done else ""
    counted += f", {job.failed} failed" if job.failed else ""
    looked = f"looked at {job.looked}" if job.looked else "never looked at"
    text = (
        f"{job.remote_id or job.id} at {job.provider} ({job.model}): {job.state}, "
        f"{job.texts} texts{counted}, {_age(job.age_seconds)} old, {looked}"
    )
    return text if job.in_use else f"{text}; of another model than the configured one"


def batches_text(agent: str, report: BatchReport) -> str:
    """What a look at the jobs found: a line on all of them, and one for each that goes on."""
    count = len(report.jobs)
    parts = [f"{count} batch {'job' if count == 1 else 'jobs'}" if count else "no batch jobs"]
    parts += [f"{report.collected} vectors taken over"] if report.collected else []
    parts += [f"{report.resent} texts to be sent directly"] if report.resent else []
    news = report.collected or report.resent
    first = f"{agent}: {', '.join(parts)}{' (memlane index puts them in place)' if news else ''}"
    return "\n".join([first, *(f"  {with_visible_controls(job_text(job))}" for job in report.jobs)])


def _age(seconds: int) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
