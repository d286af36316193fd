"""What a session may have of memory. The one place that decides it; every surface asks here. Pure.

| kind                          | notes, logs | MEMORY.md | transcripts | flush, recall |
| ----------------------------- | ----------- | --------- | ----------- | ------------- |
| main; direct with the owner   | yes         | yes       | yes         | yes           |
| direct, group, channel, thread| yes         | no        | no          | yes           |
| unknown                       | yes         | no        | no          | no            |
| sub-agent, cron               | yes         | no        | no          | no            |

MEMORY.md and the transcripts hold what was said in private, so only a session in which the owner is alone
with the agent has them; what is not understood counts as shared. A flush is worth its turn, and memories
their place before a message, where somebody talks.
"""

from __future__ import annotations

from ..values import Session, SessionKind, Value

_NOBODY_TALKS = frozenset({SessionKind.SUBAGENT, SessionKind.CRON, SessionKind.UNKNOWN})


class Access(Value, frozen=True):
    """What one session may load, find, read and write."""

    curated: bool
    """MEMORY.md: loaded at the start, found, read and written to."""
    transcripts: bool
    """What was said in sessions of this agent: found and read."""
    flush: bool
    """Before its context is lost, the agent is asked to write down what should last."""
    recall: bool
    """Memories may be shown with a message, unasked."""


def access_of(session: Session) -> Access:
    """What a session may have of memory, by its kind and by who is present."""
    return Access(
        curated=session.private,
        transcripts=session.private,
        flush=session.kind not in _NOBODY_TALKS,
        recall=session.kind not in _NOBODY_TALKS,
    )
