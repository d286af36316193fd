"""The hooks in Claude Code's settings: what is to be added to a file, shown first, then written with care."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from shutil import copy2
from typing import Any
from uuid import uuid4

from ..disk import write_all
from ..errors import ConfigError
from ..values import Value

EVENTS = {"SessionStart": "session-start", "PreCompact": "pre-compact", "SessionEnd": "session-end"}
"""The agent's name of each event, and our command for it."""
RECALL_EVENTS = {"UserPromptSubmit": "user-prompt"}
"""Asked for by itself: it runs at every prompt."""
TIMEOUT_SECONDS = 30
"""Of each hook. Without one, the end of a session grants 1.5 seconds to all of its hooks together."""


class SettingsChange(Value, frozen=True):
    """What a file of settings says, and what it is to say."""

    path: Path
    before: str | None
    """None where there is no file yet."""
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be written."""
        return self.before != self.after

    def difference(self) -> str:
        """What changes, line by line."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            self.after.splitlines(),
            str(self.path),
            str(self.path),
            lineterm="",
        )
        return "\n".join(lines)


def settings_change(path: Path, command: str, *, options: str = "", recall: bool = False) -> SettingsChange:
    """How our hooks get into the settings at `path`; `command` and `options` are how memlane is called there.

    With `recall` also the one that adds to a prompt.

    All that stands in the file stays. Hooks of ours that call another command are put right, never doubled.
    Raises ConfigError for a file that cannot be read or is not understood.
    """
    real = Path(os.path.realpath(path))
    events = {**EVENTS, **RECALL_EVENTS} if recall else EVENTS
    calls = {event: f"{command} hook {name} {options}".rstrip() for event, name in events.items()}
    try:
        before = real.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return SettingsChange(path, None, _written(_with_hooks(path, {}, calls), "  "))
    except UnicodeDecodeError as error:
        raise _not_understood(path, f"invalid UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        found = json.loads(before) if before.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _not_understood(path, str(error)) from error
    if not isinstance(found, dict):
        raise _not_understood(path, "it is no JSON object")
    wanted = _with_hooks(path, found, calls)
    indent = re.search(r"^([ \t]+)\"", before, re.MULTILINE)
    return SettingsChange(
        path, before, before if wanted == found else _written(wanted, indent[1] if indent else "  ")
    )


def apply_change(change: SettingsChange, *, now: datetime) -> Path | None:
    """Write the change in one step; gives the copy of what stood there before, None where nothing did.

    A link is followed, the file's mode is kept. Raises ConfigError when the file has changed meanwhile or
    cannot be written; it is then as it was.
    """
    real = Path(os.path.realpath(change.path))
    temporary = real.with_name(f".{real.name}.memlane-{uuid4().hex[:8]}.tmp")
    backup = real.with_name(f"{real.name}.memlane-backup-{now:%Y%m%dT%H%M%S}")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        present = real.read_bytes().decode("utf-8-sig", "replace") if real.exists() else None
        if present != change.before:
            raise ConfigError(f"{change.path} has changed meanwhile", hint="run the command again")
        mode = real.stat().st_mode & 0o777 if present is not None else 0o600
        if present is not None:
            copy2(real, backup)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            write_all(descriptor, change.after.encode("utf-8"))
        finally:
            os.close(descriptor)
        temporary.replace(real)
    except OSError as error:
        raise ConfigError(
            f"cannot write {change.path}: {error.strerror or error}",
            hint="check the permissions of its folder",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return backup if present is not None else None


def _with_hooks(path: Path, settings: Mapping[str, Any], calls: Mapping[str, str]) -> dict[str, Any]:
    wanted: dict[str, Any] = json.loads(json.dumps(settings))
    hooks = wanted.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise _not_understood(path, "hooks is no object")
    for event, call in calls.items():
        name = {**EVENTS, **RECALL_EVENTS}[event]
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise _not_understood(path, f"hooks.{event} is no list")
        ours = [
            hook
            for group in groups
            if isinstance(group, dict) and isinstance(group.get("hooks"), list)
            for hook in group["hooks"]
            if isinstance(hook, dict) and _is_ours(hook.get("command"), name)
        ]
        for hook in ours:
            hook["command"] = call
        if not ours:
            hook = {"type": "command", "command": call, "timeout": TIMEOUT_SECONDS}
            groups.append({"hooks": [hook]})
    return wanted


def _is_ours(command: object, name: str) -> bool:
    return isinstance(command, str) and re.search(rf"\bmemlane\b.*\bhook {name}\b", command) is not None


def _written(settings: Mapping[str, Any], indent: str) -> str:
    return json.dumps(settings, ensure_ascii=False, indent=indent) + "\n"


def _not_understood(path: Path, what: str) -> ConfigError:
    return ConfigError(f"{path} cannot be understood: {what}", hint="mend it first; nothing was changed")
