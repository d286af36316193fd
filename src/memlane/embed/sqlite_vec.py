"""The SQLite extension that compares vectors: where it is, and how it is loaded."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw


def packaged_extension() -> Path:
    """Where the sqlite-vec package keeps its library. Never imports the package: it brings numpy.

    Raises OSError when it is not installed.
    """
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise OSError("the package sqlite-vec is not installed")
    return Path(spec.submodule_search_locations[0]) / "vec0"


def load_vector_functions(connection: apsw.Connection, library: Path) -> None:
    """Load sqlite-vec into a connection and try it. Raises apsw.Error when that fails."""
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(library))
    finally:
        connection.enable_load_extension(False)
    connection.execute("SELECT vec_distance_l2(?, ?)", (b"\0\0\0\0", b"\0\0\0\0")).fetchall()
