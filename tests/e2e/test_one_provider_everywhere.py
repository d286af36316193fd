"""Each name of a provider means the same on every surface, and trying it says precisely what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.embeddings_api import (
    KEY,
    CompatibleService,
    MistralService,
    OpenAiService,
    Service,
    VoyageService,
    served,
)
from tests.loopback.gemini_api import GeminiService
from tests.loopback.ollama_api import OllamaService

from memlane import Memory
from memlane.surfaces.cli.run import run
from memlane.surfaces.render import status_text

SERVICES: dict[str, tuple[type[Service], str]] = {
    "openai": (OpenAiService, "/v1"),
    "mistral": (MistralService, "/v1"),
    "voyage": (VoyageService, "/v1"),
    "gemini": (GeminiService, "/v1beta"),
    "ollama": (OllamaService, "/v1"),
    "openai-compatible": (CompatibleService, "/openai?api-version=2026-01"),
    "mine": (OpenAiService, "/v1"),
}
LOCAL = ("auto", "bundled", "none")


class World:
    """A configured provider with a server behind it, and all surfaces to ask."""

    def __init__(self, folder: Path, name: str, service: Service | None) -> None:
        self.folder = folder
        self.name = name
        self.service = service

    def configure(self, **search: Any) -> None:
        address = f"{self.service.url}{SERVICES[self.name][1]}" if self.service else ""
        section: dict[str, Any] = {"provider": self.name} | search
        providers: dict[str, Any] = {}
        if self.name == "mine":
            providers = {"mine": {"api": "openai", "baseUrl": address, "apiKey": KEY}}
        elif self.service:
            section["remote"] = {"baseUrl": address, "apiKey": KEY} | section.get("remote", {})
            if self.name == "openai-compatible":
                section.setdefault("model", self.service.model)
        document = {"agents": {"defaults": {"memorySearch": section}}, "models": {"providers": providers}}
        (self.folder / "state").mkdir(exist_ok=True)
        (self.folder / "state/openclaw.json").write_text(json.dumps(document))

    def open(self) -> Memory:
        return Memory.open(state_dir=self.folder / "state", workspace=self.folder / "notes", environ={})


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "notes/memory/tea.md").write_text("green tea\n")
    monkeypatch.setenv("MEMLANE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MEMLANE_WORKSPACE", str(tmp_path / "notes"))
    for variable in ("OPENAI", "GEMINI", "GOOGLE", "VOYAGE", "MISTRAL", "OLLAMA"):
        monkeypatch.delenv(f"{variable}_API_KEY", raising=False)
    if request.param in LOCAL:
        yield World(tmp_path, request.param, None)
        return
    service = SERVICES[request.param][0]()
    with served(service):
        yield World(tmp_path, request.param, service)


@pytest.mark.parametrize("world", [*SERVICES, *LOCAL], indirect=True)
def test_every_surface_names_the_same_provider(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.configure()

    def printed(*command: str) -> Any:
        run([*command, "--json"])
        return json.loads(capsys.readouterr().out)

    expected = "bundled" if world.name == "auto" else world.name
    assert printed("index")["agents"][0]["complete"]
    [status], [deep] = printed("status")["agents"], printed("status", "--deep")["agents"]
    for document in (printed("search", "tea"), status, deep):
        assert document["provider"] == expected
    checked = printed("config", "check")["provider"]
    assert (checked["id"], checked["model"]) == (expected, status["model"])
    host = world.service.url.removeprefix("http://") if world.service else ""
    assert {checked["endpoint"], status["endpoint"], deep["endpoint"]} == {host}
    assert checked["keyOrigin"] == status["keyOrigin"] == deep["keyOrigin"]
    assert checked["reasons"] == status["providerReasons"] == deep["providerReasons"]
    findings = [one for one in printed("doctor")["agents"][0]["findings"] if one["check"] == "provider"]
    assert findings[-1]["message"].startswith(
        "no provider is configured" if expected == "none" else f"{expected}: "
        if host else f"{expected} ("
    )  # fmt: skip
    assert findings[-1]["severity"] == ("advice" if expected == "none" else "fine")
    if expected == "none":
        assert (deep["probed"], deep["warnings"]) == ("", [])
    else:
        assert deep["probed"].startswith(f"{expected} ({status['model']}) answered in ")
        assert deep["probed"].endswith(f" with a vector of {deep['dimensions']} dimensions")


def test_a_deep_status_says_plainly_that_all_is_well(
    write: Callable[[str, str], Path], open_memory: Callable[..., Memory]
) -> None:
    write("memory/tea.md", "green tea\n")
    memory = open_memory()
    memory.sync()
    lines = status_text(memory.status(deep=True)).splitlines()
    [line] = [line for line in lines if line.startswith("Tried")]
    assert line.endswith(" ms with a vector of 384 dimensions: all is well")
    assert not any("warning" in line for line in lines)
    assert "Tried" not in status_text(memory.status())


REMOTE = [name for name in SERVICES if name != "mine"]


@pytest.mark.parametrize("world", REMOTE, indirect=True)
@pytest.mark.parametrize("wrong", ["key", "host", "model", "path"])
def test_what_is_wrong_is_named(world: World, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from memlane.embed.remote.calls import Calls

    monkeypatch.setattr(Calls, "_backoff", lambda *_: 0.0)
    assert world.service is not None
    changes: dict[str, dict[str, Any]] = {
        "key": {"remote": {"apiKey": "sk-a-wrong-one"}},
        "host": {"remote": {"baseUrl": "http://127.0.0.1:9"}},
        "model": {"model": "no-such-model"},
        "path": {"remote": {"baseUrl": f"{world.service.url}/elsewhere"}},
    }
    if world.name == "ollama" and wrong == "key":
        pytest.skip("its server asks for no key")
    world.configure(**changes[wrong])
    words = {
        "key": "refuses the key",
        "host": "127.0.0.1:9 cannot be reached",
        "model": "does not have this model",
        "path": "has no embeddings at this address",
    }[wrong]
    with world.open() as memory:
        memory.sync()
        status = memory.status(deep=True)
        findings = [one for one in memory.doctor().findings if one.check == "provider"]
    assert status.probed == ""
    assert any(words in warning for warning in status.warnings), status.warnings
    assert findings[-1].severity == "broken"
    assert words in findings[-1].message
    assert findings[-1].remedy
    assert "sk-a-wrong-one" not in str(status) + str(findings)


@pytest.mark.parametrize("world", ["openai"], indirect=True)
def test_another_number_of_dimensions_is_named(world: World) -> None:
    world.configure()
    assert world.service is not None
    with world.open() as memory:
        memory.sync()
        world.service.dimensions = 12
        warnings = memory.status(deep=True).warnings
    assert any("12" in warning and "8" in warning and "dimensions" in warning for warning in warnings)


def test_a_key_elsewhere_is_named_and_the_notes_are_found_by_keyword(tmp_path: Path) -> None:
    world = World(tmp_path, "openai", None)
    world.configure(remote={"baseUrl": "http://127.0.0.1:9/v1"})
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "notes/memory/tea.md").write_text("green tea\n")
    environ = {"OPENAI_API_KEY": "sk-own"}
    with Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes", environ=environ) as memory:
        result = memory.search("tea")
        warnings = memory.status(deep=True).warnings
    assert [hit.path for hit in result] == ["memory/tea.md"]
    said = (
        "the provider openai cannot be used: memorySearch.remote.baseUrl leads to 127.0.0.1:9, and the key"
        " from the environment variable OPENAI_API_KEY is not for that host: it was not sent"
        " (set memorySearch.remote.apiKey to the key for 127.0.0.1:9); keyword search only"
    )
    assert result.warning == said
    assert warnings == (said,)
