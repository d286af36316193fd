"""The command line `memlane`.

Exit codes: 0 done (also when nothing matched), 1 failed at run time, 2 wrong use or configuration, 3 partly
done, 130 interrupted. With `--json` exactly one document goes to standard output, errors included; progress
and warnings go to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:  # answered before anything is imported
        from memlane import __version__

        sys.stdout.write(f"memlane {__version__}\n")
        return
    from .run import run

    sys.exit(run(given))
