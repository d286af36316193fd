"""Files of Memlane's own beside the index: those that hold what is forgotten go; and proof that none does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..backends.forgetting import set_aside
from ..backends.settings import IndexSettings
from ..config import AgentSettings
from ..errors import StoreError
from ..tombstones.ledger import ledger_path
from ..tombstones.match import Tombstones
from ..transcripts.names import sessions_folder, transcript_name
from ..workspace import Workspace

_BLOCK = 2**20


def sweep(settings: AgentSettings, workspace: Workspace, forgotten: Tombstones) -> tuple[str, ...]:
    """Delete what a flush could not save, and what a killed write left, where it holds something forgotten.

    Gives the names of what went. Raises StoreError for what cannot be deleted.
    """
    gone: list[str] = []
    for path in sorted({*_unsaved(settings), *_leftovers(settings, workspace)}):
        if _holds(path, forgotten):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"cannot delete {path}: {error.strerror or error}") from error
            gone.append(path.name)
    return tuple(gone)


def standing_in(settings: AgentSettings, workspace: Workspace, phrase: str) -> tuple[str, ...]:
    """The files of Memlane's own in whose bytes a phrase stands, as UTF-8, UTF-16 or in JSON."""
    wanted = set()
    for form in (phrase, phrase.casefold(), phrase.upper()):
        wanted |= {form.encode(code, "replace") for code in ("utf-8", "utf-16-le", "utf-16-be")}
        wanted.add(json.dumps(form)[1:-1].encode())
    return tuple(str(path) for path in own_files(settings, workspace) if _stands(path, wanted))


def own_files(settings: AgentSettings, workspace: Workspace) -> list[Path]:
    """Everything that Memlane has made for an agent, apart from notes and transcripts."""
    databases = IndexSettings.of(settings).databases
    found = [Path(f"{path}{end}") for path in databases for end in ("", "-wal", "-shm", ".lock", ".owner")]
    found += [*set_aside(*databases), *_unsaved(settings), *_leftovers(settings, workspace)]
    found.append(ledger_path(settings.state_dir, settings.agent_id))
    return sorted({path for path in found if path.is_file()})


def is_indexed(settings: AgentSettings) -> bool:
    """Whether an index or an embedding cache has ever been made, or was set aside."""
    databases = IndexSettings.of(settings).databases
    return any(path.exists() for path in databases) or any(True for _ in set_aside(*databases))


def _unsaved(settings: AgentSettings) -> Iterator[Path]:
    with suppress(OSError):
        for path in (settings.state_dir / "memory" / "unsaved" / settings.agent_id).iterdir():
            if path.suffix in {".json", ".tmp"}:
                yield path


def _leftovers(settings: AgentSettings, workspace: Workspace) -> Iterator[Path]:
    """Files that a write began and did not end."""
    for folder, pattern in (
        (workspace.root, ".*.memlane.tmp"),
        (workspace.root / "memory", ".*.memlane.tmp"),
        (sessions_folder(settings.state_dir, settings.agent_id), ".*.tmp"),
    ):
        with suppress(OSError):
            yield from folder.glob(pattern)


def _holds(path: Path, forgotten: Tombstones) -> bool:
    """Whether something forgotten stands in a file, or it is of a forgotten session."""
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return False
    texts = list(_strings(text))
    if any(forgotten.holds(one) for one in texts):
        return True
    names = (transcript_name(Path(one).name) for one in texts if len(one) < 1000)
    return any(named is not None and forgotten.forgets_session(named.stem) for named in names)


def _strings(text: str) -> Sequence[str]:
    """The strings in a file: its values where it is JSON, else the whole."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return [one for one in content.values() if isinstance(one, str)] if isinstance(content, dict) else [text]


def _stands(path: Path, wanted: Iterable[bytes]) -> bool:
    longest = max(map(len, wanted))
    rest = b""
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                data = rest + block
                if any(one in data for one in wanted):
                    return True
                rest = data[-longest:]
    except OSError:
        return False
    return False
