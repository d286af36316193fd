"""What notes and transcripts hold of something that is to be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..config import AgentSettings, configured_secrets
from ..errors import MemlaneError
from ..index.sources import Sources, forgets_file
from ..tombstones.match import Tombstones
from ..transcripts.listing import find_session, list_sessions
from ..transcripts.names import RESULT_FOLDER, sessions_folder, transcript_name
from ..transcripts.read import turns
from ..transcripts.redact import lines_holding
from ..transcripts.sanitize import Sanitizer
from ..values import FileEntry
from ..workspace import Workspace, read_document, scan_tree
from .plan import Place, Request, WholeFile, preview, runs


class Found:
    """What would go."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.files: list[WholeFile] = []
        self.notes: list[FileEntry] = []
        """Notes of which lines go."""
        self.whole_notes: list[FileEntry] = []
        self.transcripts: list[Path] = []
        """Transcripts of which lines change."""
        self.whole_transcripts: list[Path] = []
        self.unread: list[str] = []
        """Why files that were to be changed stay as they are: they cannot be read, and are not indexed."""


def look(settings: AgentSettings, sources: Sources, forgotten: Tombstones, request: Request) -> Found:
    """What holds something `forgotten`, and what of it the request lets change. Raises WorkspaceError."""
    found = Found()
    for entry in scan_tree(sources.workspace).files:
        if forgets_file(forgotten, entry.source, entry.path):
            found.whole_notes.append(entry)
            found.files.append(WholeFile(entry.path, deleted=request.notes))
            continue
        try:
            places = list(_in_note(entry, forgotten, changed=request.notes))
        except MemlaneError as error:
            found.unread += [str(error)] if request.notes else []
            continue
        found.notes += [entry] if places else []
        found.places += places
    for path in transcripts_of(settings):
        shown = f"{RESULT_FOLDER}/{path.name}"
        if forgets_file(forgotten, "sessions", shown):
            found.whole_transcripts.append(path)
            found.files.append(WholeFile(shown, deleted=request.transcripts))
        elif request.transcripts:
            try:
                lines = lines_holding(path, forgotten.holds)
            except MemlaneError as error:
                found.unread.append(str(error))
                continue
            found.transcripts += [path] if lines else []
            found.places += [Place(shown, first, last, changed=True) for first, last in runs(lines)]
        elif sources.sessions is not None:
            found.places += _in_transcript(path, shown, forgotten, settings)
    return found


def path_of(workspace: Workspace, wanted: str) -> str:
    """A path as results show it: one on the disk becomes what stands for it."""
    path = Path(wanted).expanduser()
    shown = workspace.shown(str(path)) if path.is_absolute() else Path(wanted).as_posix()
    return f"{shown}/" if wanted.endswith(("/", "\\")) else shown


def stem_of(settings: AgentSettings, wanted: str) -> str:
    """The name, without suffixes, of the transcript of a session. Raises UsageError when there is none."""
    folder = sessions_folder(settings.state_dir, settings.agent_id)
    info = find_session(list_sessions(folder, agent=settings.agent_id), wanted)
    named = transcript_name(info.path.rpartition("/")[2]) if info.path else None
    return named.stem if named else info.session_id


def transcripts_of(settings: AgentSettings) -> list[Path]:
    """Every transcript of an agent, archived and deleted ones too."""
    folder = sessions_folder(settings.state_dir, settings.agent_id)
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in found if transcript_name(path.name) and path.is_file() and not path.is_symlink()]


def _in_note(entry: FileEntry, forgotten: Tombstones, *, changed: bool) -> Iterator[Place]:
    text = read_document(entry.location).text
    lines = text.split("\n")
    for first, last in runs(forgotten.forgotten_lines(text)):
        yield Place(entry.path, first + 1, last + 1, preview(lines[first : last + 1]), changed)


def _in_transcript(path: Path, shown: str, forgotten: Tombstones, settings: AgentSettings) -> Iterator[Place]:
    with suppress(MemlaneError):
        for turn in turns(path, sanitize=Sanitizer(configured_secrets(settings))):
            if forgotten.holds(turn.text):
                yield Place(shown, turn.line, turn.line, preview([turn.text]))
