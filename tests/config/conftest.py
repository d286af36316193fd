from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlane.config import AgentSettings, Configuration, load_config


class Machine:
    """A home folder with a configuration file in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.state_dir = home / ".openclaw"
        self.file = self.state_dir / "openclaw.json"
        self.state_dir.mkdir(parents=True, exist_ok=True)

    def write(self, document: object) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self.file.write_text(text, encoding="utf-8")

    def load(
        self, document: object = None, environ: dict[str, str] | None = None, **flags: Path
    ) -> Configuration:
        """The configuration as written, or without a file for None."""
        if document is None:
            self.file.unlink(missing_ok=True)
        else:
            self.write(document)
        return load_config(environ=environ or {}, home=self.home, **flags)

    def agent(self, document: object = None, agent_id: str | None = None, **more: object) -> AgentSettings:
        return self.load(document, **more).agent(agent_id)  # type: ignore[arg-type]

    def search(self, memory_search: object, **more: object) -> AgentSettings:
        """The settings when the defaults' `memorySearch` is as given."""
        return self.agent({"agents": {"defaults": {"memorySearch": memory_search}}}, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def shared_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """For generated tests, which would otherwise make a folder for each example."""
    return Machine(tmp_path_factory.mktemp("home"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "home")
