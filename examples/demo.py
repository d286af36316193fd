"""`make demo`: indexes the sample workspace and asks it six questions. Offline, without a key.

Everything it makes lies in `.demo` beside this folder and can be deleted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATE = HERE.parent / ".demo"
MEMLANE = [str(Path(sysconfig.get_path("scripts")) / "memlane")]


def run(*arguments: str) -> None:
    """Show a command and run it, as a user would type it."""
    shown = " ".join(f"'{argument}'" if " " in argument else argument for argument in arguments)
    print(f"$ memlane {shown}", flush=True)
    place = ["--workspace", str(HERE / "workspace"), "--state-dir", str(STATE)]
    subprocess.run([*MEMLANE, *arguments, *place], check=True)
    print(flush=True)


def main() -> int:
    """Index, then ask."""
    shutil.rmtree(STATE, ignore_errors=True)
    print("An agent's notes of half a year: examples/workspace\n")
    run("index")
    for number, question in enumerate(json.loads((HERE / "queries.json").read_text("utf-8")), start=1):
        print(f"── {number}. {question['shows']}\n")
        options = [f"--{name}={question[name]}" for name in ("since", "until") if name in question]
        run("search", question["query"], "--max-results=2", *options)
    print("The index of these notes:\n")
    run("status")
    print("Ask it something yourself:\n")
    print("  .venv/bin/memlane search 'when is the vet?' --workspace examples/workspace --state-dir .demo")
    return 0


if __name__ == "__main__":
    sys.exit(main())
