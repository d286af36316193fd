from __future__ import annotations

import subprocess
import sys

import memlane.workspace as room


def test_every_public_name_is_there():
    for name in room.__all__:
        assert getattr(room, name).__module__.startswith("memlane.workspace.")


def test_no_other_name_is():
    assert not hasattr(room, "nothing_of_the_kind")


def test_a_walk_loads_nothing_heavy():
    program = (
        "import sys; from memlane.workspace import scan_tree, read_lines; "
        "print(*(name for name in ('asyncio', 'filelock', 'hashlib', 'json', 'memlane.workspace.context', "
        "'memlane.workspace.daily') if name in sys.modules))"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "\n"
