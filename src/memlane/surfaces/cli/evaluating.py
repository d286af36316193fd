"""`memlane eval`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...errors import UsageError
from ...search.settings import DOUBTFUL
from ...tools import value_json
from ...wiring import read_configuration
from .options import Place, harmless, memory_options, print_json, print_text

if TYPE_CHECKING:
    from ...evaluate import Evaluation, Question
    from ...memory import Memory


@click.command("eval")
@click.argument("file", type=click.Path())
@click.option(
    "--against",
    multiple=True,
    metavar="KEY=VALUE|FILE",
    help="Compare with other settings: a key of memorySearch such as provider=none (may be repeated), or"
    " another configuration file.",
)
@click.option(
    "--keep",
    type=click.Path(),
    help="With --against: keep the other settings' index in this folder for the next time.",
)
@click.option(
    "--low-confidence",
    type=click.FloatRange(0, 1),
    default=DOUBTFUL,
    show_default=True,
    help="An answer less sure than this counts as having found nothing.",
)
@click.option("--no-sync", is_flag=True, help="Do not look for changed notes first.")
@click.option(
    "--verbose", is_flag=True, help="List further expected places of questions that were answered, too."
)
@memory_options
def eval_command(
    place: Place,
    file: str,
    against: tuple[str, ...],
    keep: str | None,
    low_confidence: float,
    no_sync: bool,
    verbose: bool,
) -> None:
    """Ask your own questions and tell which are answered, and why not.

    FILE holds a question a line: {"question": "who feeds the cat?", "path": "memory/bori.md#L3-L9"}. In place
    of path, expected may list several places; an empty list says that nothing should be found. A JSON array,
    CSV and TSV with such columns are read too.
    """
    from ...evaluate import compare, read_questions
    from ..evaluation_text import comparison_text, evaluation_text

    if keep and not against:
        raise UsageError("--keep goes with --against")
    questions = read_questions(Path(file))
    with place.open() as memory:
        if not memory.settings.enabled:
            _tell_disabled(place, memory)
            return
        first = memory.evaluate(questions, low_confidence=low_confidence, sync=not no_sync)
        second = _second(place, memory, questions, against, keep, low_confidence) if against else None
    if second is None:
        document, text = value_json(first), evaluation_text(first, verbose=verbose)
    else:
        comparison = compare(first, second, names=("as configured", " ".join(against)))
        document, text = value_json(comparison), comparison_text(comparison)
    if place.as_json:
        print_json(document)
    else:
        print_text(harmless(text))


def _tell_disabled(place: Place, memory: Memory) -> None:
    message = f"Memory search disabled. {memory.settings.disabled_reason}".rstrip()
    if place.as_json:
        print_json({"disabled": True, "reason": memory.settings.disabled_reason})
    else:
        click.echo(message)


def _second(
    place: Place,
    first: Memory,
    questions: Sequence[Question],
    against: tuple[str, ...],
    keep: str | None,
    low_confidence: float,
) -> Evaluation:
    """The same questions under the other settings, on an index of their own where the first cannot serve."""
    from ...evaluate.variants import is_change, section_from, share_index

    files = [text for text in against if not is_change(text)]
    if len(files) > 1:
        raise UsageError(f"--against names two configuration files: {files[0]} and {files[1]}")
    section = section_from([text for text in against if is_change(text)])
    config = files[0] if files else None
    if config and not Path(config).is_file():
        raise UsageError(f"--against {config!r} is neither KEY=VALUE nor a file")
    notes = first.settings.workspace if config else None
    settings = read_configuration(
        workspace=notes or place.workspace,
        config=config or place.config,
        state_dir=place.state_dir,
        memory_search=section,
    ).agent(place.agent)
    if not settings.enabled:
        raise UsageError("memory search is disabled under the other settings")
    if share_index(first.settings, settings):
        with place.open(workspace=notes, config=config, memory_search=section) as other:
            return other.evaluate(questions, low_confidence=low_confidence, sync=False)
    with tempfile.TemporaryDirectory(prefix="memlane-eval-") as temporary:
        index = str(Path(keep or temporary).absolute() / "{agentId}.sqlite")
        apart = {**section, "store": {**section.get("store", {}), "path": index}}
        with place.open(workspace=notes, config=config, memory_search=apart) as other:
            return other.evaluate(questions, low_confidence=low_confidence)
