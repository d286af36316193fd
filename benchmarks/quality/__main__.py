"""`python -m benchmarks.quality --eval FOLDER [SET …]`: recall and ranking on outside data sets."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .runs import EvaluationData, run_set

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "keyword": {"provider": "none"},
    "vector": {"query": {"hybrid": {"enabled": False}}},
    "keyword, no threshold": {"provider": "none", "query": {"minScore": 0}},
    "default, no threshold": {"query": {"minScore": 0}},
    "rrf": {"query": {"hybrid": {"fusion": "rrf"}}},
}
MEASURES = ("recall@5", "recall@10", "mrr", "ndcg@10")


def main() -> None:
    """Print one line a set, configuration and level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help="names of sets; all that have questions unless given")
    parser.add_argument("--eval", type=Path, default=os.environ.get("MEMLANE_EVAL"), help="evaluation folder")
    parser.add_argument("--configuration", action="append", choices=list(CONFIGURATIONS))
    options = parser.parse_args()
    if options.eval is None:
        parser.error("name the evaluation folder with --eval or MEMLANE_EVAL")
    data = EvaluationData(options.eval)
    print("\t".join(["set", "configuration", "level", "n", *MEASURES, "chars", "chunks", "ms/query", "MB"]))
    for name in options.sets or data.sets():
        for configuration in options.configuration or ["default", "keyword"]:
            run = run_set(data, name, CONFIGURATIONS[configuration])
            for level, measures in data.scores(name, run).items():
                figures = [f"{measures[measure]:.3f}" for measure in MEASURES]
                costs = [
                    f"{measures['chars']:.0f}",
                    str(run.chunks),
                    f"{run.median_milliseconds:.1f}",
                    f"{run.index_bytes / 1e6:.1f}",
                ]
                print(
                    "\t".join([name, configuration, level, str(measures["n"]), *figures, *costs]), flush=True
                )


if __name__ == "__main__":
    main()
