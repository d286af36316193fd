from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from memlane.config import load_config
from memlane.config.locate import Surroundings, cache_folder
from memlane.errors import ConfigError, UsageError


def load(home: Path, **more: object):
    environ = more.pop("environ", {})
    return load_config(environ=environ, home=home, **more)  # type: ignore[arg-type]


def test_state_dir_flag_then_variables_then_default(tmp_path: Path) -> None:
    both = {"MEMLANE_STATE_DIR": str(tmp_path / "ours"), "OPENCLAW_STATE_DIR": str(tmp_path / "theirs")}
    assert load(tmp_path, environ=both, state_dir=tmp_path / "flag").state_dir == tmp_path / "flag"
    assert load(tmp_path, environ=both).state_dir == tmp_path / "ours"
    del both["MEMLANE_STATE_DIR"]
    assert load(tmp_path, environ=both).state_dir == tmp_path / "theirs"
    assert load(tmp_path).state_dir == tmp_path / ".openclaw"


def test_a_blank_variable_counts_as_unset(tmp_path: Path) -> None:
    environ = {"MEMLANE_STATE_DIR": "  ", "MEMLANE_CONFIG": "", "MEMLANE_WORKSPACE": ""}
    configuration = load(tmp_path, environ=environ)
    assert configuration.state_dir == tmp_path / ".openclaw"
    assert configuration.file == tmp_path / ".openclaw" / "openclaw.json"
    assert configuration.agent().workspace == tmp_path / ".openclaw" / "workspace"


def test_the_former_state_dir_counts_only_when_it_is_the_only_one(tmp_path: Path) -> None:
    (tmp_path / ".moltbot").mkdir()
    assert load(tmp_path).state_dir == tmp_path / ".moltbot"
    (tmp_path / ".openclaw").mkdir()
    assert load(tmp_path).state_dir == tmp_path / ".openclaw"


def test_config_file_flag_then_variables_then_state_dir(tmp_path: Path) -> None:
    both = {"MEMLANE_CONFIG": str(tmp_path / "a.json"), "OPENCLAW_CONFIG_PATH": str(tmp_path / "b.json")}
    for name in ("a.json", "b.json", "flag.json"):
        (tmp_path / name).write_text("{}")
    assert load(tmp_path, environ=both, config_file=tmp_path / "flag.json").file == tmp_path / "flag.json"
    assert load(tmp_path, environ=both).file == tmp_path / "a.json"
    del both["MEMLANE_CONFIG"]
    assert load(tmp_path, environ=both).file == tmp_path / "b.json"
    state_dir = tmp_path / "state"
    assert load(tmp_path, state_dir=state_dir).file == state_dir / "openclaw.json"


def test_an_absent_file_means_defaults(tmp_path: Path) -> None:
    configuration = load(tmp_path)
    assert not configuration.exists
    assert configuration.warnings == ()
    assert configuration.agent().memory_search.query.max_results == 6


@pytest.mark.parametrize(
    ("giver", "remedy"),
    [("--config", "leave it out"), ("MEMLANE_CONFIG", "unset it"), ("OPENCLAW_CONFIG_PATH", "unset it")],
)
def test_an_absent_file_that_was_named_is_an_error(tmp_path: Path, giver: str, remedy: str) -> None:
    named = tmp_path / "openclaw.jsn"
    asked = {"config_file": named} if giver == "--config" else {"environ": {giver: str(named)}}
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, state_dir=tmp_path / "state", **asked)
    assert str(caught.value) == f"{named}: there is no such file, though {giver} names it"
    assert caught.value.hint == (
        f"correct {giver}, or {remedy} to have {tmp_path}/state/openclaw.json or built-in defaults"
    )


def test_home_is_expanded_everywhere(machine) -> None:
    home = machine.home
    environ = {"MEMLANE_STATE_DIR": "~/state"}
    assert load(home, environ=environ).state_dir == home / "state"
    assert load(home, state_dir=Path("~/flag")).state_dir == home / "flag"
    settings = machine.agent(
        {
            "agents": {
                "defaults": {
                    "workspace": "~",
                    "memorySearch": {
                        "extraPaths": ["~/notes", {"path": " ~/more "}],
                        "local": {"modelPath": "~/m.gguf", "modelCacheDir": "~/models"},
                        "store": {"path": "~/{agentId}.db", "vector": {"extensionPath": "~/vec0.so"}},
                    },
                }
            },
            "memory": {
                "qmd": {
                    "command": "~/bin/my qmd",
                    "paths": [{"path": "~/docs"}],
                    "sessions": {"exportDir": "~/out"},
                }
            },
        }
    )
    search = settings.memory_search
    assert settings.workspace == home
    assert [entry.path for entry in search.extra_paths] == [str(home / "notes"), str(home / "more")]
    assert search.local.model_path == str(home / "m.gguf")
    assert search.local.model_cache_dir == str(home / "models")
    assert settings.store_path == home / "main.db"
    assert search.store.vector.extension_path == str(home / "vec0.so")
    assert settings.memory.qmd.command == (str(home / "bin" / "my qmd"),)
    assert settings.memory.qmd.paths[0].path == str(home / "docs")
    assert settings.memory.qmd.sessions.export_dir == str(home / "out")


def test_relative_paths_start_at_the_file_and_extra_paths_at_the_workspace(machine) -> None:
    settings = machine.agent(
        {
            "agents": {
                "defaults": {
                    "workspace": "notes",
                    "memorySearch": {"extraPaths": ["../team", "./a"], "local": {"modelPath": "m.gguf"}},
                }
            },
            "memory": {"qmd": {"paths": [{"path": "docs"}]}},
        }
    )
    assert settings.workspace == machine.state_dir / "notes"
    assert settings.memory_search.local.model_path == str(machine.state_dir / "m.gguf")
    assert [entry.path for entry in settings.memory_search.extra_paths] == [
        str(machine.state_dir / "team"),
        str(machine.state_dir / "notes" / "a"),
    ]
    assert settings.memory.qmd.paths[0].path == str(machine.state_dir / "notes" / "docs")


def test_relative_flags_start_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load(tmp_path, state_dir=Path("state"), environ={"MEMLANE_WORKSPACE": "./notes"}).agent()
    assert settings.state_dir == tmp_path / "state"
    assert settings.workspace == tmp_path / "notes"


def test_a_model_uri_is_not_a_path(machine) -> None:
    uri = "hf:org/repo/file.gguf"
    assert machine.search({"local": {"modelPath": uri}}).memory_search.local.model_path == uri


def test_workspace_flag_variable_agent_defaults_state_dir(machine, tmp_path: Path) -> None:
    document = {
        "agents": {"defaults": {"workspace": "/all"}, "list": [{"id": "a", "workspace": "/own"}, {"id": "b"}]}
    }
    environ = {"MEMLANE_WORKSPACE": str(tmp_path / "env")}
    flagged = machine.agent(document, "a", environ=environ, workspace=tmp_path / "flag")
    assert flagged.workspace == tmp_path / "flag"
    assert str(flagged.origin("workspace")) == "--workspace"
    from_environment = machine.agent(document, "a", environ=environ)
    assert from_environment.workspace == tmp_path / "env"
    assert str(from_environment.origin("workspace")) == "environment variable MEMLANE_WORKSPACE"
    assert machine.agent(document, "a").workspace == Path("/own")
    assert machine.agent(document, "b").workspace == Path("/all")
    assert machine.agent({}).workspace == machine.state_dir / "workspace"


def test_the_index_lies_in_the_state_dir_under_the_agents_name(machine) -> None:
    assert machine.agent().store_path == machine.state_dir / "memory" / "main.sqlite"
    document = {"agents": {"list": [{"id": "Work"}]}}
    assert machine.agent(document).store_path == machine.state_dir / "memory" / "work.sqlite"


def test_another_workspace_has_its_own_index(machine, tmp_path: Path) -> None:
    other = tmp_path / "other"
    mark = hashlib.sha256(str(other).encode()).hexdigest()[:8]
    memory = machine.state_dir / "memory"
    assert machine.agent(None, workspace=other).store_path == memory / f"main-{mark}.sqlite"
    environ = {"MEMLANE_WORKSPACE": str(other)}
    assert machine.agent(None, environ=environ).store_path == memory / f"main-{mark}.sqlite"


def test_the_configured_workspace_by_flag_keeps_its_index(machine, tmp_path: Path) -> None:
    own = machine.state_dir / "workspace"
    own.mkdir()
    link = tmp_path / "link"
    link.symlink_to(own)
    for path in (own, own / ".." / "workspace", link):
        assert machine.agent(None, workspace=path).store_path.name == "main.sqlite"


def test_a_link_and_its_target_share_the_index_of_a_foreign_workspace(machine, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    paths = {machine.agent(None, workspace=tmp_path / name).store_path for name in ("target", "link")}
    assert len(paths) == 1


def test_a_configured_index_stays_where_it_was_put(machine, tmp_path: Path) -> None:
    document = {"agents": {"defaults": {"memorySearch": {"store": {"path": "/fast/{agentId}.db"}}}}}
    assert machine.agent(document).store_path == Path("/fast/main.db")
    foreign = machine.agent(document, workspace=tmp_path / "other").store_path
    assert foreign.parent == Path("/fast")
    assert foreign.name.startswith("main-")
    document["agents"]["defaults"]["memorySearch"]["store"]["path"] = "/fast/one.db"
    foreign = machine.agent(document, workspace=tmp_path / "other").store_path
    assert foreign.name.startswith("one-")
    assert foreign.suffix == ".db"


def test_a_flag_with_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--workspace contains a NUL"):
        load(tmp_path, workspace=Path("a\0b"))


def test_the_cache_folder_is_the_platforms(tmp_path: Path) -> None:
    bare = Surroundings({}, tmp_path)
    assert cache_folder(bare, "linux") == tmp_path / ".cache" / "memlane"
    assert cache_folder(bare, "darwin") == tmp_path / "Library" / "Caches" / "memlane"
    assert cache_folder(bare, "win32") == tmp_path / "AppData" / "Local" / "memlane"
    assert cache_folder(Surroundings({"LOCALAPPDATA": "/l"}, tmp_path), "win32") == Path("/l/memlane")
    assert cache_folder(Surroundings({"XDG_CACHE_HOME": "/c"}, tmp_path), "linux") == Path("/c/memlane")
    assert (
        cache_folder(Surroundings({"XDG_CACHE_HOME": "c"}, tmp_path), "linux")
        == tmp_path / ".cache" / "memlane"
    )
