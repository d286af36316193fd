"""`python -m benchmarks.freshness figures|race|soak|root [--seconds N]`: one kind of figure at a time."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import tempfile
from pathlib import Path

from ..speed.notes import write_notes
from .actors import race
from .figures import measured
from .soak import large_root, soak


def main() -> None:
    """Print the figures that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["figures", "race", "soak", "root"])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    load = f"load {os.getloadavg()[0]:.1f}"
    print(f"{platform.machine()}, {os.cpu_count()} cores ({load}), Python {platform.python_version()}\n")
    folder = Path(tempfile.mkdtemp(prefix="memlane-fresh-"))
    try:
        match options.kind:
            case "figures":
                figures(folder, options.notes)
            case "race":
                show_race(folder, options.seconds or 60.0)
            case "soak":
                soak(folder, options.seconds or 600.0)
            case "root":
                large_root(folder)
    finally:
        shutil.rmtree(folder)


def figures(folder: Path, notes: int) -> None:
    """What work on a large tree takes, beside what it may take."""
    workspace = folder / "notes"
    size = write_notes(workspace, notes, characters=2150)
    print(f"{notes} notes, {size / 1e6:.1f} MB")

    def show(name: str, value: str, limit: str, peak: float) -> None:
        print(f"{name:<48} {value:>22}   to reach {limit:<10} peak {peak:4.0f} MB", flush=True)

    def cold(provider: str, limit: str) -> None:
        made = measured("cold", workspace, folder / f"state-{provider}", provider)
        name = f"cold index, {made['chunks']} chunks, {made['vectors']} vectors"
        show(name, f"{made['seconds']:.1f} s (cpu {made['cpu']:.1f} s)", limit, made["peak"])
        if provider == "bundled":
            ratio = made["bytes"] / size
            show("index per MB of notes, vectors included", f"{ratio:.2f} MB", "6 MB", made["peak"])

    cold("none", "20 s")
    cold("bundled", "60 s")
    same = measured("unchanged", workspace, folder / "state-bundled", "bundled")
    show(f"nothing changed ({same['read']} files read)", f"{same['seconds']:.3f} s", "0.6 s", same["peak"])
    one = measured("changed", workspace, folder / "state-bundled", "bundled")
    show("one note changed", f"{one['seconds']:.3f} s (cpu {one['cpu']:.3f} s)", "0.4 s", one["peak"])
    first = measured("first", workspace, folder / "state-first", "bundled")
    show("first search of a fresh memory that lives on", f"{first['first']:.3f} s", "1 s", first["peak"])
    print(
        f"  complete after {first['converged']:.0f} s; {first['searches']} searches meanwhile: median"
        f" {1000 * first['median']:.0f} ms, slowest {1000 * first['slowest']:.0f} ms; closed in"
        f" {first['close']:.2f} s"
    )


def show_race(folder: Path, seconds: float) -> None:
    """What processes that share an index saw; each search is to take less than a second."""
    for seen in race(folder, seconds=seconds, pause=2.0):
        line = f"{seen['role']:<11} errors: {len(seen['errors'])}"
        if "rounds" in seen:
            line += f"  rounds: {seen['rounds']:5}  first {seen['first']:.3f} s, then"
            line += f" median {seen['median']:.3f} s, slowest {seen['slowest']:.3f} s"
        print(line, *seen["errors"][:3], sep="\n    ")
        if seen["role"] in {"reader", "host"} and seen["slowest"] >= 1:
            print("    OVER A SECOND")


if __name__ == "__main__":
    main()
