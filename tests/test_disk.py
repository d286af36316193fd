"""The writer's lock and who holds it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memlane.disk import LockOwner, lock_owner, writer_lock
from memlane.errors import StoreBusy


def test_the_holder_is_known_while_it_holds_and_no_longer(tmp_path: Path) -> None:
    index = tmp_path / "main.sqlite"
    assert lock_owner(index) is None
    with writer_lock(index, timeout=0):
        owner = lock_owner(index)
        assert owner is not None
        assert owner.pid == os.getpid()
        assert re.fullmatch(r"process \d+ on .+ since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d.+", str(owner))
        assert (tmp_path / "main.sqlite.owner").stat().st_mode & 0o777 == 0o600
    assert lock_owner(index) is None


def test_who_has_to_wait_is_told_for_whom(tmp_path: Path) -> None:
    index = tmp_path / "main.sqlite"
    held = rf"this process is writing the index {re.escape(str(index))} already, since 20"
    with writer_lock(index, timeout=0), pytest.raises(StoreBusy, match=held), writer_lock(index, timeout=0):
        pass


def test_another_process_is_told_the_process(tmp_path: Path) -> None:
    index = tmp_path / "main.sqlite"
    program = (
        "import sys\nfrom pathlib import Path\nfrom memlane.disk import writer_lock\n"
        "with writer_lock(Path(sys.argv[1]), timeout=0):\n    print('held', flush=True)\n    sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(index)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    told = f"another process is writing .*: process {holder.pid} on "
    with pytest.raises(StoreBusy, match=told), writer_lock(index, timeout=0):
        pass
    holder.kill()
    holder.communicate()
    assert (tmp_path / "main.sqlite.owner").exists()
    assert lock_owner(index) is None  # it died; what it left says nothing
    with writer_lock(index, timeout=0):
        assert lock_owner(index) is not None


@pytest.mark.parametrize("left", ["", "x", "1", "x\ny\nz\n", "0\nhost\nnow\n", "\x00\xff"])
def test_what_stands_in_the_file_is_not_trusted(tmp_path: Path, left: str) -> None:
    import socket

    index = tmp_path / "main.sqlite"
    (tmp_path / "main.sqlite.owner").write_text(left.replace("host", socket.gethostname()), "latin-1")
    assert lock_owner(index) is None


def test_a_holder_on_another_host_is_believed(tmp_path: Path) -> None:
    (tmp_path / "main.sqlite.owner").write_text("12\nelsewhere.example\n2026-02-10T12:00:00+01:00\n")
    owner = LockOwner(12, "elsewhere.example", "2026-02-10T12:00:00+01:00")
    assert lock_owner(tmp_path / "main.sqlite") == owner
    assert str(owner) == "process 12 on elsewhere.example since 2026-02-10T12:00:00+01:00"
