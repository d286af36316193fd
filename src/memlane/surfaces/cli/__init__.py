"""The command line `memlane`.

Exit codes: 0 done (also when nothing matched), 1 failed at run time, 2 wrong use or configuration, 3 partly
done (notes failed, or the provider of the vectors did), 130 interrupted. With `--json` exactly one document
goes to standard output, errors included; progress and warnings go to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    try:
        _open_standard_streams()
        given = list(sys.argv[1:] if arguments is None else arguments)
        if given == ["--version"]:  # answered before anything else is imported
            from memlane import __version__

            sys.stdout.write(f"memlane {__version__}\n")
            code = 0
        else:
            from .run import run

            code = run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        code = 0  # the reader (head, less) has seen enough
        _discard_output()
    except OSError as error:
        code = 1
        sys.stderr.write(f"memlane: cannot write the output: {error.strerror or error}\n")
        _discard_output()
    sys.exit(code)


def _open_standard_streams() -> None:
    """Make sure that output has somewhere to go and that it is UTF-8, whatever the locale says."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8", closefd=False))
        elif stream.encoding.lower() != "utf-8" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Point standard output elsewhere, so that its last flush at exit does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
