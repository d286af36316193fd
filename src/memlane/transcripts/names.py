"""Where sessions lie, and what the name of a file there says. Pure.

<state dir>/agents/<agentId>/sessions/sessions.json
                                      <sessionId>.jsonl
                                      <sessionId>-topic-<threadId>.jsonl
                                      <sessionId>.jsonl.reset.<time>      archived: the session began anew
                                      <sessionId>.jsonl.deleted.<time>    archived: nobody is to find it
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ..values import Value

STORE_NAME = "sessions.json"
RESULT_FOLDER = "sessions"
"""The folder that results show transcripts in."""

Archive = Literal["reset", "deleted"]

_NAME = re.compile(
    r"(?P<stem>(?P<id>[A-Za-z0-9][A-Za-z0-9_-]{0,199}?)(?:-topic-(?P<topic>[A-Za-z0-9_-]{1,100}))?)\.jsonl"
    r"(?:\.(?P<archive>reset|deleted)\.(?P<time>[A-Za-z0-9][A-Za-z0-9_.:-]{0,60}))?",
    re.ASCII,
)


class TranscriptName(Value, frozen=True):
    """What the name of a transcript says."""

    name: str
    stem: str
    """The name without suffixes: the same before and after it is archived."""
    session_id: str
    archive: Archive | None = None

    @property
    def path(self) -> str:
        """As results show it."""
        return f"{RESULT_FOLDER}/{self.name}"


def sessions_folder(state_dir: Path, agent: str) -> Path:
    """The folder of an agent's transcripts and of its session store."""
    return state_dir / "agents" / agent / "sessions"


def transcript_name(name: str) -> TranscriptName | None:
    """What a file name says; None when it is no transcript's (a backup, a lock, another program's file)."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    archive: Archive | None = {"reset": "reset", "deleted": "deleted"}.get(found["archive"] or "")  # type: ignore[assignment]
    return TranscriptName(name, found["stem"], found["id"], archive)


def archived_name(name: str, archive: Archive, moment: datetime) -> str:
    """The name of a transcript that is put away at a moment, without a sign that some system refuses."""
    stamp = moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{name}.{archive}.{stamp.replace(':', '-')}"
