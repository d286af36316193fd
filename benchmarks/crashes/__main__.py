"""`python -m benchmarks.crashes [--kills 200]`: kill -9 while indexing, rebuilding and appending."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HARNESS = Path(__file__).resolve().parents[2] / "tests/crash_harness.py"


def main() -> int:
    """Print what was seen as one JSON document; 0 when nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memlane-crashes-") as folder:
        command = [sys.executable, str(HARNESS), folder, str(options.kills), str(options.seed)]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
