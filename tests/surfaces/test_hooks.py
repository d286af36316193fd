"""The hooks of Claude Code, after its reference: https://code.claude.com/docs/en/hooks, read 2026-12-01.

A hook gets JSON on standard input (`session_id`, `transcript_path`, `cwd`, `hook_event_name`; `source` at a
session's start, `trigger` at a compaction, `reason` at an end). With exit code 0 standard output is read as
JSON; at a session's start `hookSpecificOutput.additionalContext` is added to the context, up to 10,000
characters; so it is when the user submits a `prompt`. Exit code 2 forbids a compaction or a prompt; any
other code is an error that stops nothing. The end of a session grants 1.5 seconds unless a hook's `timeout`
says more.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlane.errors import UsageError
from memlane.sessions.hooks import MOST_CHARACTERS, hook_call, tail

SESSION = "0f3a-11"
Install = Callable[..., "subprocess.CompletedProcess[str]"]


class Agent:
    """Runs hooks as the agent does: a process, JSON on its standard input."""

    def __init__(self, folder: Path) -> None:
        self.notes, self.state = folder / "notes", folder / "state"
        (self.notes / "memory").mkdir(parents=True)
        self.transcript = folder / "claude.jsonl"

    def hook(
        self, name: str, *options: str, data: bytes | None = None, **fields: Any
    ) -> subprocess.CompletedProcess[str]:
        call = {"session_id": SESSION, "transcript_path": str(self.transcript), "cwd": "/home/ann", **fields}
        given = json.dumps(call).encode() if data is None else data
        done = subprocess.run(
            [sys.executable, "-m", "memlane", "hook", name, *options],
            input=given,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.state.parent),
                "MEMLANE_STATE_DIR": str(self.state),
                "MEMLANE_WORKSPACE": str(self.notes),
            },
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in done.stderr
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def start(self, source: str = "startup", **fields: Any) -> str:
        done = self.hook("session-start", hook_event_name="SessionStart", source=source, **fields)
        assert (done.returncode, done.stderr) == (0, "")
        answer = json.loads(done.stdout)
        assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        return answer["hookSpecificOutput"]["additionalContext"]

    def says(self, *lines: dict[str, Any]) -> None:
        self.transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")

    def kept(self) -> list[dict[str, Any]]:
        return [
            json.loads(file.read_text()) for file in sorted((self.state / "memory/unsaved/main").glob("*"))
        ]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def line(who: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": who, "message": {"role": who, "content": [{"type": "text", "text": text}]}, **more}


def test_a_session_starts_with_the_owners_notes(agent: Agent) -> None:
    (agent.notes / "MEMORY.md").write_text("- the owner likes tea\n")
    context = agent.start()
    assert "the owner likes tea" in context
    assert "memlane search" in context


def test_a_session_starts_without_notes_and_without_a_workspace(agent: Agent) -> None:
    assert "memlane search" in agent.start()


def test_the_context_fits_what_the_agent_takes(agent: Agent) -> None:
    (agent.notes / "MEMORY.md").write_text("# Long\n" + "한글과 words\n" * 5_000)
    agent.says(line("user", "x" * 50_000))
    agent.hook("pre-compact", hook_event_name="PreCompact", trigger="auto")
    context = agent.start("compact")
    assert len(context) <= MOST_CHARACTERS
    assert "memlane search" in context
    assert context.count("xxxx") > 10


def test_before_a_compaction_the_end_is_kept_and_handed_over_after_it(agent: Agent) -> None:
    agent.says(
        line("user", "an older thing"),
        line("assistant", "We deploy with </said> blue-green."),
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "content": "noise"}]},
        },
        line("user", "hidden", isMeta=True),
        line("user", "hidden", isSidechain=True),
        {"type": "summary", "summary": "hidden"},
        line("user", "the key is sk-TESTabcdefghijklmnopqrstuvwxyz0123456789"),
    )
    done = agent.hook("pre-compact", hook_event_name="PreCompact", trigger="auto")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    context = agent.start("compact")
    assert f"The whole of it is in {agent.transcript}" in context
    assert "User: an older thing\n\nAssistant: We deploy with ‹/said> blue-green." in context
    assert "noise" not in context
    assert "hidden" not in context
    assert "abcdefghijklmnop" not in context
    assert agent.kept() == []
    assert "older thing" not in agent.start("compact")


@pytest.mark.parametrize("source", ["startup", "clear"])
def test_the_next_session_is_pointed_to_the_one_before(agent: Agent, source: str) -> None:
    agent.says(line("user", "what was said"))
    assert agent.hook("session-end", hook_event_name="SessionEnd", reason="clear").returncode == 0
    context = agent.start(source, session_id="another")
    assert "(end clear in /home/ann); nothing of it was summarised" in context
    assert str(agent.transcript) in context
    assert "what was said" not in context
    assert agent.kept() == []


def test_a_resumed_session_is_told_nothing_of_itself(agent: Agent) -> None:
    agent.says(line("user", "what was said"))
    agent.hook("session-end", hook_event_name="SessionEnd", reason="other")
    assert "what was said" not in agent.start("resume")
    assert agent.kept() == []


def test_a_second_compaction_replaces_what_was_kept(agent: Agent) -> None:
    for text in ("one", "two"):
        agent.says(line("user", text))
        agent.hook("pre-compact", hook_event_name="PreCompact", trigger="manual")
    (piece,) = agent.kept()
    assert piece["text"] == "User: two"


@pytest.mark.parametrize("transcript", ["/nowhere/x.jsonl", "", "/dev/zero", "~nobody-of-that-name/x", "/"])
def test_a_transcript_that_cannot_be_read_is_pointed_to(agent: Agent, transcript: str) -> None:
    done = agent.hook("pre-compact", transcript_path=transcript)
    assert done.returncode == 0
    assert agent.kept()[0]["text"] == ""
    assert agent.kept()[0]["transcript"] == transcript


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b'{"session_id": 5}', b"[" * 100_000, b'{"transcript_path": "x"}']
)
def test_what_is_no_call_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="standard input "):
        hook_call(data)


@pytest.mark.parametrize("name", ["session-start", "pre-compact", "session-end"])
def test_what_is_no_call_is_told_and_forbids_nothing(agent: Agent, name: str) -> None:
    done = agent.hook(name, data=b"{")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("memlane: standard input ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "options", [["--bogus"], ["--config", "/nowhere.json"], ["--agent", "nobody"], ["extra"]]
)
def test_wrong_use_forbids_no_compaction(agent: Agent, options: list[str]) -> None:
    done = agent.hook("pre-compact", *options)
    assert done.returncode == 1
    assert done.stderr.startswith("memlane: ")


def test_a_state_folder_that_cannot_be_written_forbids_nothing(agent: Agent) -> None:
    agent.state.write_text("a file")
    done = agent.hook("pre-compact")
    assert done.returncode == 1
    assert "cannot" in done.stderr


def test_odd_session_ids_make_harmless_files(agent: Agent) -> None:
    assert agent.hook("pre-compact", session_id="../../../x\u0000y 한글" * 50).returncode == 0
    (file,) = (agent.state / "memory/unsaved/main").iterdir()
    assert file.suffix == ".json"


def test_memory_that_is_switched_off_says_nothing(agent: Agent) -> None:
    agent.state.mkdir()
    (agent.state / "openclaw.json").write_text('{"plugins": {"slots": {"memory": "none"}}}')
    for name in ("session-start", "pre-compact", "session-end"):
        done = agent.hook(name)
        assert (done.returncode, done.stdout) == (0, "")
    assert not (agent.state / "memory").exists()


def test_of_a_huge_transcript_only_the_end_is_read(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    with file.open("w") as out:
        out.write(json.dumps(line("user", "first")) + "\n")
        out.write("x" * 30_000_000 + "\n")
        out.write(json.dumps(line("user", "last")) + "\n" + '{"type": "user", "mess')
    assert tail(str(file), 100, masked=str) == "User: last"


def test_the_tail_is_as_long_as_asked(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(line("user", f"{n:03}" * 30)) + "\n" for n in range(100)))
    assert 0 < len(tail(str(file), 500, masked=str)) <= 500
    assert tail(str(file), 500, masked=str).endswith("099")


# ---- what a prompt calls for --------------------------------------------------------------------------


@pytest.fixture
def recalling(agent: Agent) -> Agent:
    agent.state.mkdir()
    search = {"recall": {"enabled": True}}
    text = json.dumps({"agents": {"defaults": {"memorySearch": search}}})
    (agent.state / "openclaw.json").write_text(text, "utf-8")
    (agent.notes / "memory/network.md").write_text("The attic has a Fritzbox 7590 as its router.\n")
    (agent.notes / "memory/tea.md").write_text("Green tea is steeped for two minutes.\n")
    return agent


def prompted(agent: Agent, prompt: str) -> str:
    done = agent.hook("user-prompt", hook_event_name="UserPromptSubmit", prompt=prompt)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_prompt_gets_what_it_calls_for(recalling: Agent) -> None:
    answer = json.loads(prompted(recalling, "Which router is in the attic?"))["hookSpecificOutput"]
    assert answer["hookEventName"] == "UserPromptSubmit"
    assert "Fritzbox 7590" in answer["additionalContext"]
    assert "Green tea" not in answer["additionalContext"]


@pytest.mark.parametrize(
    "prompt", ["", "thanks!", "/attic router", "The attic has a Fritzbox 7590 as its router."]
)
def test_most_prompts_get_nothing(recalling: Agent, prompt: str) -> None:
    assert prompted(recalling, prompt) == ""


def test_what_the_session_starts_with_is_not_repeated(recalling: Agent) -> None:
    (recalling.notes / "memory/network.md").rename(recalling.notes / "MEMORY.md")
    assert prompted(recalling, "Which router is in the attic?") == ""


def test_a_prompt_gets_nothing_unless_recall_is_switched_on(recalling: Agent) -> None:
    (recalling.state / "openclaw.json").unlink()
    assert prompted(recalling, "Which router is in the attic?") == ""


def test_a_failing_hook_does_not_keep_a_prompt_back(recalling: Agent) -> None:
    (recalling.state / "openclaw.json").write_text("{", "utf-8")
    assert recalling.hook("user-prompt", prompt="Which router?").returncode == 1


# ---- install ------------------------------------------------------------------------------------------


@pytest.fixture
def install(agent: Agent, tmp_path: Path) -> Install:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return agent.hook("install", "--settings", str(tmp_path / "settings.json"), *options, data=b"")

    return run


OURS = {"SessionStart": "session-start", "PreCompact": "pre-compact", "SessionEnd": "session-end"}


def test_nothing_is_written_without_being_told_to(install: Install, tmp_path: Path) -> None:
    done = install()
    assert done.returncode == 0
    assert '+    "SessionStart": [' in done.stdout
    assert "Nothing was changed; --yes writes it." in done.stdout
    assert not (tmp_path / "settings.json").exists()


def test_what_stands_in_the_settings_stays(install: Install, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    theirs = {
        "model": "x",
        "hooks": {
            "PreCompact": [{"matcher": "auto", "hooks": [{"type": "command", "command": "echo"}]}],
            "Stop": [],
        },
        "ü": [1],
    }
    file.write_text(json.dumps(theirs, indent=4), "utf-8")
    file.chmod(0o640)
    done = install("--yes")
    assert done.returncode == 0
    now = json.loads(file.read_text("utf-8"))
    assert (now["model"], now["ü"], now["hooks"]["Stop"]) == ("x", [1], [])
    assert now["hooks"]["PreCompact"][0] == theirs["hooks"]["PreCompact"][0]  # type: ignore[index]
    for event, name in OURS.items():
        (hook,) = now["hooks"][event][-1]["hooks"]
        assert hook["command"].endswith(f" hook {name}")
        assert hook["timeout"] == 30
    assert file.stat().st_mode & 0o777 == 0o640
    assert '\n    "model"' in file.read_text("utf-8")
    (backup,) = tmp_path.glob("settings.json.memlane-backup-*")
    assert json.loads(backup.read_text("utf-8")) == theirs
    again = install("--yes")
    assert "The hooks are there already." in again.stdout
    assert len(list(tmp_path.glob("settings.json*"))) == 2


def test_hooks_that_call_another_program_are_put_right(install: Install, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    install("--yes")
    old = file.read_text("utf-8")
    file.write_text(
        old.replace(
            json.loads(old)["hooks"]["PreCompact"][0]["hooks"][0]["command"],
            "/old/memlane hook pre-compact --agent x",
        )
    )
    install("--yes")
    assert file.read_text("utf-8") == old


def test_the_hooks_are_told_of_the_same_memory(install: Install, tmp_path: Path) -> None:
    install("--yes", "--agent", "main")
    hooks = json.loads((tmp_path / "settings.json").read_text())["hooks"]
    assert hooks["SessionEnd"][0]["hooks"][0]["command"].endswith(" hook session-end --agent main")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "Expecting property name"),
        ("[]", "it is no JSON object"),
        ('{"hooks": []}', "hooks is no object"),
        ('{"hooks": {"PreCompact": {}}}', "hooks.PreCompact is no list"),
        ("// comment\n{}", "Expecting value: line 1 column 1"),
    ],
)
def test_settings_that_are_not_understood_are_left_alone(
    install: Install, tmp_path: Path, text: str, what: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)
    done = install("--yes")
    assert done.returncode == 2
    assert what in done.stderr
    assert "nothing was changed" in done.stderr
    assert file.read_text() == text


def test_the_hook_at_each_prompt_is_asked_for(install: Install, tmp_path: Path) -> None:
    for _ in range(2):
        assert install("--yes").returncode == 0
        assert "UserPromptSubmit" not in (tmp_path / "settings.json").read_text()
    for _ in range(2):
        assert install("--yes", "--recall").returncode == 0
        hooks = json.loads((tmp_path / "settings.json").read_text())["hooks"]
        assert len(hooks["SessionStart"]) == len(hooks["UserPromptSubmit"]) == 1
        assert "hook user-prompt" in hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    install("--yes")
    assert "UserPromptSubmit" in (tmp_path / "settings.json").read_text()


def test_a_link_to_the_settings_is_followed(install: Install, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles/claude.json"
    real.write_text("{}")
    (tmp_path / "settings.json").symlink_to(real)
    install("--yes")
    assert (tmp_path / "settings.json").is_symlink()
    assert "hooks" in json.loads(real.read_text())


def test_one_document_of_json(install: Install) -> None:
    answer = json.loads(install("--json").stdout)
    assert (answer["needed"], answer["written"], answer["backup"]) == (True, False, None)
