"""The workspace: there, readable, writable, and text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from time import monotonic

from ..values import FileEntry
from ..workspace import UnreadableNote, inspect_media, oversized_notes, read_document
from .findings import Finding, advice, broken, fine
from .subject import Subject

_MOST_NAMED = 10
_SHARE_OF_TIME = 0.5
"""How much of a check's time reading may take."""


def check_workspace(subject: Subject) -> Iterator[Finding]:
    """Folders that cannot be listed, notes that cannot be read, links passed over, extra paths not there."""
    scan = subject.scan()
    root = subject.workspace.root
    for item in scan.failed[:_MOST_NAMED]:
        yield broken("workspace", f"{item.path}: {item.reason}", "check its permissions and its name")
    yield from _uncounted("folders or files cannot be looked at", scan.failed)
    yield from _unreadable(subject, scan.files)
    yield from _unwritable(subject)
    for warning in oversized_notes(subject.workspace):
        yield advice("workspace", warning)
    for link in scan.skipped_links[:_MOST_NAMED]:
        yield advice(
            "workspace",
            f"{link} is a symbolic link, which is never followed",
            "add the folder it leads to under memorySearch.extraPaths",
        )
    yield from _uncounted("symbolic links are passed over", scan.skipped_links)
    for skipped in scan.skipped[:_MOST_NAMED]:
        yield advice(
            "workspace",
            f"{skipped.path} is passed over: {skipped.reason}",
            "make it smaller, or raise memorySearch.multimodal.maxFileBytes",
        )
    yield from _uncounted("files are too large", scan.skipped)
    for missing in scan.missing_roots:
        yield advice(
            "workspace",
            f"the extra path {missing} is not there",
            "it is indexed as soon as it is; correct memorySearch.extraPaths if it is misspelt",
        )
    if scan.files:
        yield fine("workspace", f"{root}: {len(scan.files)} notes")
    else:
        yield advice(
            "workspace", f"{root} holds no notes", "memlane remember 'something' writes the first one"
        )


def _unreadable(subject: Subject, files: Sequence[FileEntry]) -> Iterator[Finding]:
    """Read every note, as far as the time goes."""
    deadline = monotonic() + subject.seconds * _SHARE_OF_TIME
    found = []
    for number, entry in enumerate(files):
        if monotonic() > deadline:
            yield advice("workspace", f"only {number} of {len(files)} notes were read in the time there is")
            break
        try:
            if entry.media is None:
                read_document(entry.location)
            else:
                inspect_media(entry.location, entry.media)
        except UnreadableNote as error:
            remedy = error.hint or "check its permissions"
            found.append(broken("workspace", f"{entry.path}: {error.reason}", remedy))
    yield from found[:_MOST_NAMED]
    yield from _uncounted("notes cannot be indexed", found)


def _unwritable(subject: Subject) -> Iterator[Finding]:
    if subject.settings.workspace_access != "rw":
        return
    root = subject.workspace.location
    for folder in (root, os.path.join(root, "memory")):  # noqa: PTH118 - the workspace speaks plain text
        if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK):  # noqa: PTH112
            yield broken(
                "workspace",
                f"{folder} cannot be written: nothing can be remembered there",
                'give yourself the right to write, or set sandbox.workspaceAccess to "ro"',
            )


def _uncounted(what: str, items: Sequence[object]) -> Iterator[Finding]:
    """Many of a kind: the rest as a number."""
    if len(items) > _MOST_NAMED:
        yield advice("workspace", f"{len(items)} {what}; the first {_MOST_NAMED} are named here")
