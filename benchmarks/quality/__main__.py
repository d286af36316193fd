"""`python -m benchmarks.quality --eval FOLDER [SET …]`: recall and ranking on outside data sets."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import memlane
from memlane.search.settings import DOUBTFUL

from .configurations import CONFIGURATIONS, MODELS, USUAL, described, model_changes, section
from .report import measure_set
from .runs import Combination
from .sets import QUICK, EvaluationData
from .table import Row, as_markdown, as_tsv


def main() -> None:
    """Measure, and write one table."""
    parser = _parser()
    options = parser.parse_args()
    if options.eval is None:
        parser.error("name the evaluation folder with --eval or MEMLANE_EVAL")
    data = EvaluationData(options.eval)
    known = data.sets()
    sets = options.sets or [name for name in known if not options.quick or name in QUICK]
    if unknown := [name for name in sets if name not in known]:
        parser.error(f"there is no set {unknown[0]!r}; known are {', '.join(known)}")
    configurations = list(CONFIGURATIONS) if options.ablations else options.configuration or list(USUAL)
    models = options.model or ["auto"]
    for model in models:
        model_changes(model)
    rows: list[Row] = []
    header = _header(models, configurations)
    with _folder(options.cache) as cache:
        work = partial(
            measure_set,
            options.eval,
            combinations=_combinations(models, configurations),
            cache=cache,
            folds=options.folds,
            cuts=not options.no_cuts,
            low_confidence=options.low_confidence,
        )
        for name, (found, skipped) in zip(sets, _each(work, sets, options.jobs), strict=True):
            rows += found
            for text in skipped:
                print(f"{name}: passed over: {text}", file=sys.stderr)
            print(f"{name}: done", file=sys.stderr, flush=True)
            if options.out:  # after each set, so that a run that is stopped leaves what it has
                options.out.with_suffix(".md").write_text(as_markdown(header, rows), "utf-8")
                options.out.with_suffix(".tsv").write_text(as_tsv(header, rows), "utf-8")
    if not options.out:
        sys.stdout.write(as_tsv(header, rows))


def _combinations(models: list[str], configurations: list[str]) -> list[Combination]:
    """Every model under every configuration; what comes to the same settings is run once."""
    found: dict[str, Combination] = {}
    for model in models:
        for configuration in configurations:
            found.setdefault(described(section(model, configuration)), (model, configuration))
    return list(found.values())


def _each(
    work: partial[tuple[list[Row], list[str]]], sets: list[str], jobs: int
) -> Iterator[tuple[list[Row], list[str]]]:
    """The sets' results in their order, from as many processes as wanted."""
    if jobs == 1:
        yield from map(work, sets)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, sets)


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    """Where notes, indexes and embeddings go: the folder named, or one that is gone afterwards."""
    if cache is not None:
        yield cache.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="memlane-quality-") as folder:
        yield Path(folder)


def _header(models: list[str], configurations: list[str]) -> list[tuple[str, str]]:
    """What made the table: the command, the settings, the version and the machine."""
    settings = [
        (f"{model}, {configuration}", described(section(model, configuration)))
        for model, configuration in _combinations(models, configurations)
    ]
    return [
        ("command", shlex.join(["python", "-m", "benchmarks.quality", *sys.argv[1:]])),
        ("version", f"memlane {memlane.__version__} {_commit()}".rstrip()),
        ("day", datetime.now(UTC).date().isoformat()),
        (
            "machine",
            f"{platform.platform()}, {_processor()}, Python {platform.python_version()}",
        ),
        *settings,
    ]


def _processor() -> str:
    """How many processors of what kind, as far as the system tells."""
    kind = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    kind = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), kind)
    return f"{os.cpu_count()} × {kind}"


def _commit() -> str:
    """The state of the source, where it is a clone."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return f"({done.stdout.strip()})" if done.returncode == 0 else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    environment = os.environ.get("MEMLANE_EVAL")
    parser.add_argument("sets", nargs="*", help="names of sets; all that have questions unless given")
    parser.add_argument(
        "--eval", type=Path, default=Path(environment) if environment else None, help="evaluation folder"
    )
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument(
        "--configuration", action="append", choices=list(CONFIGURATIONS), help="may be repeated"
    )
    parser.add_argument("--ablations", action="store_true", help="every configuration")
    parser.add_argument(
        "--model", action="append", metavar="NAME", help=f"{', '.join(MODELS)} or provider/model; repeatable"
    )
    parser.add_argument("--cache", type=Path, help="folder for embeddings, kept between runs")
    parser.add_argument("--out", type=Path, help="write FILE.md and FILE.tsv instead of printing TSV")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=1, help="processes")
    parser.add_argument("--folds", action="store_true", help="add the spread over five folds")
    parser.add_argument("--no-cuts", action="store_true", help="no rows for kinds and languages")
    parser.add_argument(
        "--low-confidence", type=float, default=DOUBTFUL, help="below this an answer counts as none"
    )
    return parser


if __name__ == "__main__":
    main()
