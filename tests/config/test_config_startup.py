from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
from memlane.config import load_config
load_config(environ={}, home=Path(sys.argv[1])).agent()
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


def loaded(home: Path) -> set[str]:
    command = [sys.executable, "-c", SCRIPT, str(home)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(run.stdout.split())


def test_without_a_file_nothing_is_imported_that_is_not_used(tmp_path: Path) -> None:
    heavy = {"json5", "json", "difflib", "hashlib", "dataclasses", "numpy", "zoneinfo", "rich", "click"}
    assert not heavy & loaded(tmp_path)


def test_everyday_json5_does_not_need_the_json5_library(tmp_path: Path) -> None:
    (tmp_path / ".openclaw").mkdir()
    text = "// mine\n{memory: {search: {provider: 'none', query: {maxResults: 3,},},},}"
    (tmp_path / ".openclaw" / "openclaw.json").write_text(text)
    assert not {"json5", "difflib", "hashlib", "zoneinfo"} & loaded(tmp_path)
