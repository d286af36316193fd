"""Transcripts for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 2, 9, 10, 0, tzinfo=UTC)


def line(role: str, text: object, *, minute: float = 0, **more: object) -> str:
    """One message as a line of JSON."""
    at = (START + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")
    entry = {"type": "message", "timestamp": at, "message": {"role": role, "content": text}, **more}
    return json.dumps(entry, ensure_ascii=False)


def transcript(*turns: tuple[str, object] | str, apart: float = 1) -> str:
    """A transcript with a header; turns as (role, content), or whole lines."""
    header = json.dumps({"type": "session", "version": 3, "id": "x", "timestamp": START.isoformat()})
    lines = [
        turn if isinstance(turn, str) else line(*turn, minute=apart * number)
        for number, turn in enumerate(turns)
    ]
    return "".join(f"{one}\n" for one in (header, *lines))


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8", newline="")
    return path


def store(folder: Path, sessions: dict[str, Any]) -> None:
    put(folder, "sessions.json", json.dumps(sessions))


def talk(words: Iterable[str]) -> list[tuple[str, object]]:
    """Turn and turn about."""
    return [("user" if number % 2 == 0 else "assistant", word) for number, word in enumerate(words)]
