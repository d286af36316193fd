"""Where the state, the configuration file and the workspace are: flags, then environment, then defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ..errors import UsageError
from .origin import DEFAULT, Origin

Located = tuple[Path, Origin]


class Surroundings(Struct, frozen=True):
    """What the process was started with, handed in so that nothing here reads it by itself."""

    environ: Mapping[str, str]
    home: Path

    def __repr__(self) -> str:
        return f"Surroundings({str(self.home)!r})"  # the environment holds secrets

    def expanded(self, text: str) -> str:
        """`text` with a leading `~` replaced by the home. Other users' homes (`~name`) stay as they are."""
        if text == "~":
            return str(self.home)
        return str(self.home / text[2:]) if text.startswith(("~/", "~\\")) else text

    def given(self, flag: Path | None, flag_name: str, *variables: str) -> Located | None:
        """The path of the flag, else of the first non-blank variable; relative to the working directory."""
        if flag is not None:
            return self._absolute(str(flag), flag_name), Origin("flag", flag_name)
        for name in variables:
            if text := self.environ.get(name, "").strip():
                return self._absolute(text, name), Origin("environment", name)
        return None

    def _absolute(self, text: str, giver: str) -> Path:
        if "\0" in text:
            raise UsageError(f"the path given by {giver} contains a NUL character")
        return Path(os.path.normpath(Path(self.expanded(text)).absolute()))


def locate_state_dir(flag: Path | None, surroundings: Surroundings) -> Located:
    """The folder of indexes, sessions and, unless said otherwise, configuration and workspace."""
    given = surroundings.given(flag, "--state-dir", "MEMLANE_STATE_DIR", "OPENCLAW_STATE_DIR")
    if given is not None:
        return given
    current, former = surroundings.home / ".openclaw", surroundings.home / ".moltbot"
    return (former if former.is_dir() and not current.exists() else current), DEFAULT


def locate_file(flag: Path | None, surroundings: Surroundings, state_dir: Path) -> Located:
    """The configuration file, whether or not it exists."""
    given = surroundings.given(flag, "--config", "MEMLANE_CONFIG", "OPENCLAW_CONFIG_PATH")
    return given or (default_file(state_dir), DEFAULT)


def default_file(state_dir: Path) -> Path:
    """Where the configuration file is when nobody says otherwise."""
    return state_dir / "openclaw.json"


def locate_workspace(flag: Path | None, surroundings: Surroundings) -> Located | None:
    """The workspace asked for outside the file, if any."""
    return surroundings.given(flag, "--workspace", "MEMLANE_WORKSPACE")


def cache_folder(surroundings: Surroundings, platform: str) -> Path:
    """Where this platform keeps what can be downloaded again. `platform` is as `sys.platform`."""
    environ, home = surroundings.environ, surroundings.home
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "memlane"
    if platform == "darwin":
        return home / "Library" / "Caches" / "memlane"
    configured = Path(environ.get("XDG_CACHE_HOME", ""))
    return (configured if configured.is_absolute() else home / ".cache") / "memlane"


def is_same_folder(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same place, links and case-blind disks considered."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)
