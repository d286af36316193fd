"""What a flush could not save, kept on disk until a later one has."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..clock import Clock
from ..config import AgentSettings, configured_secrets
from ..disk import write_all
from ..transcripts.folder import unwritable
from ..transcripts.sanitize import Sanitizer
from ..values import Value

MOST_CHARACTERS = 200_000
"""Of one piece; of a longer one the end is kept, since the beginning is nearer to what was flushed before."""
MOST_KEPT = 200
"""Pieces of one agent; beyond that the oldest go."""


class Unsaved(Value, frozen=True):
    """One piece that waits."""

    path: Path
    session: str
    reason: str
    text: str
    """What was said, secrets masked; empty where only the transcript is pointed to."""
    transcript: str
    """Where the whole of it stands; empty where there is none."""
    kept_at: str
    """ISO time."""


class UnsavedPieces:
    """The pieces of one agent, a file each: `<state dir>/memory/unsaved/<agent>/<mark>.json`."""

    def __init__(self, settings: AgentSettings, *, clock: Clock) -> None:
        self.folder = settings.state_dir / "memory" / "unsaved" / settings.agent_id
        self.masked: Callable[[str], str] = Sanitizer(configured_secrets(settings))
        self._clock = clock

    def keep(self, mark: str, *, session: str, reason: str, text: str = "", transcript: str = "") -> Path:
        """Keep a piece, in the place of one with the same `mark`; what is no part of a file name becomes `-`.

        Secrets in it are masked. It is on disk whole, or not at all. Raises SessionError when it cannot be
        written.
        """
        now = self._clock.now()
        content = {
            "session": session,
            "reason": self.masked(reason),
            "keptAt": now.isoformat(timespec="seconds"),
            "transcript": transcript,
            "text": self.masked(text)[-MOST_CHARACTERS:],
        }
        path = self.folder / f"{re.sub('[^A-Za-z0-9-]+', '-', mark)[:120]}.json"
        temporary = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                write_all(descriptor, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
            finally:
                os.close(descriptor)
            temporary.replace(path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise unwritable(path, error) from error
        self._limit()
        return path

    def waiting(self, *, session: str | None = None) -> list[Unsaved]:
        """The pieces, oldest first, of one session or of all. What cannot be read is passed over."""
        found = [piece for path in self.folder.glob("*.json") if (piece := _read(path)) is not None]
        mine = [piece for piece in found if session is None or piece.session == session]
        return sorted(mine, key=lambda piece: piece.kept_at)

    def saved(self, piece: Unsaved) -> None:
        """A piece need not wait any longer."""
        with suppress(OSError):
            piece.path.unlink(missing_ok=True)

    def _limit(self) -> None:
        with suppress(OSError):  # another process tidies up too
            found = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in found[:-MOST_KEPT]:
                path.unlink(missing_ok=True)


def _read(path: Path) -> Unsaved | None:
    try:
        found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        texts = {name: found[name] for name in ("session", "reason", "text", "transcript", "keptAt")}
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if not all(isinstance(value, str) for value in texts.values()):
        return None
    return Unsaved(
        path, texts["session"], texts["reason"], texts["text"], texts["transcript"], texts["keptAt"]
    )
