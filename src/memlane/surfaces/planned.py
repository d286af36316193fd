"""What a pass would do, as text."""

from __future__ import annotations

from ..values import IndexPlan


def plan_text(agent: str, plan: IndexPlan) -> str:
    """The plan of an agent's index, a fact a line."""
    rows = [
        ("Files", _files(plan)),
        ("Chunks", f"{plan.chunks:,} to write"),
        ("Vectors", _vectors(plan)),
        ("To embed", _embedded(plan)),
        ("Meanwhile", plan.meanwhile),
    ]
    lines = [f"{agent}: nothing was written or sent"]
    lines += [f"  {name:<10} {value}" for name, value in rows]
    lines += [f"  not before {plan.retry_at}: {plan.provider} takes no more for now"] if plan.retry_at else []
    lines += [f"  failed: {failure.path}: {failure.reason}" for failure in plan.failed]
    return "\n".join(lines)


def _files(plan: IndexPlan) -> str:
    return f"{plan.files_to_read:,} to read, {plan.files_to_remove:,} to remove, {plan.unchanged:,} unchanged"


def _vectors(plan: IndexPlan) -> str:
    if plan.model is None:
        return "none: no embedding provider"
    text = f"{plan.from_index:,} from the index, {plan.from_cache:,} from the cache"
    text += f", {plan.texts:,} by {plan.provider} ({plan.model})"
    return f"{text}, {plan.without_vector:,} not fit for it" if plan.without_vector else text


def _embedded(plan: IndexPlan) -> str:
    if not (plan.texts or plan.files_to_upload):
        return "nothing"
    text = f"about {plan.tokens:,} tokens in {plan.requests:,} {'call' if plan.requests == 1 else 'calls'}"
    text = text if plan.cost is None else f"{text}, which cost about {plan.cost:.4g}"
    if plan.files_to_upload:
        size = plan.bytes_to_upload / 1_000_000
        text += f"; images and audio files to upload: {plan.files_to_upload:,} ({size:,.1f} MB)"
    return text
