"""Which transcripts are searched, and what can be known of them unread. On the path of every search."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..errors import SessionError
from ..values import FileEntry, FileFailure, TreeScan
from .names import RESULT_FOLDER, STORE_NAME, transcript_name
from .store import housekeeping_stems


def scan_transcripts(folder: Path) -> TreeScan:
    """The transcripts in a folder of sessions that count, in the order of their names.

    Archives of sessions that began anew count, deleted ones do not, nor those of sessions in which nobody
    talks. Links are passed over and named. Where the folder or the session store cannot be read, that is
    named as failed, and nothing is said of any transcript.
    """
    try:
        found = sorted(os.scandir(folder), key=lambda item: item.name)
        left_out = housekeeping_stems(folder)
    except FileNotFoundError:
        return TreeScan(())
    except SessionError as error:
        return TreeScan((), failed=(FileFailure(RESULT_FOLDER, f"{STORE_NAME}: {error}"),))
    except OSError as error:
        return TreeScan((), failed=(FileFailure(RESULT_FOLDER, error.strerror or str(error)),))
    files: list[FileEntry] = []
    links: list[str] = []
    failed: list[FileFailure] = []
    for item in found:
        named = transcript_name(item.name)
        if named is None or named.archive == "deleted" or named.stem in left_out:
            continue
        try:
            looked = os.lstat(item.path)  # scandir knows no inode on some systems
        except FileNotFoundError:
            continue
        except OSError as error:
            failed.append(FileFailure(named.path, error.strerror or str(error)))
            continue
        if stat.S_ISLNK(looked.st_mode):
            links.append(named.path)
        elif stat.S_ISREG(looked.st_mode):
            files.append(
                FileEntry(
                    path=named.path,
                    location=item.path,
                    source="sessions",
                    size=looked.st_size,
                    mtime_ns=looked.st_mtime_ns,
                    inode=looked.st_ino,
                    device=looked.st_dev,
                    evergreen=False,
                )
            )
    return TreeScan(tuple(files), skipped_links=tuple(links), failed=tuple(failed))
