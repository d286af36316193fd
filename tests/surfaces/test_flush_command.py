from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memlane import Memory

Run = Callable[..., "subprocess.CompletedProcess[str]"]
MODELS = """
from memlane import ChatError
from memlane.sessions.chat import ToolCall
from memlane.testing import ScriptedChat

note = ToolCall("1", "memory_write", {"text": "- the user likes tea"})
chat = ScriptedChat(note, "NO_REPLY")

def made():
    return ScriptedChat(note, "I wrote it down.")

broken = ScriptedChat(ChatError("500 Internal Server Error"))
number = 5
"""


@pytest.fixture
def flush(environment: dict[str, str], tmp_path: Path) -> Run:
    (tmp_path / "models_of_mine.py").write_text(MODELS)

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "memlane", "flush", *options],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def session(environment: dict[str, str], tmp_path: Path) -> str:
    with Memory.open(environ=environment, state_dir=tmp_path / "state") as memory, memory.life() as life:
        life.before_turn("I like tea")
    return "agent:main:main"


def test_a_session_is_flushed_once(flush: Run, session: str, notes: Path) -> None:
    done = flush("--model", "models_of_mine:chat")
    assert (done.returncode, done.stdout) == (0, "Flushed: 1 new block in the day's log.\n")
    (log,) = (notes / "memory").glob("*.md")
    assert log.read_text().endswith("the user likes tea\n")
    again = flush("--session", session, "--model", "models_of_mine:chat")
    assert again.stdout == "Not flushed: it has been done already since the last compaction.\n"


def test_a_function_may_give_the_model_and_a_real_reply_is_shown(flush: Run, session: str) -> None:
    done = flush("--model", "models_of_mine:made")
    assert done.stdout == "Flushed: 1 new block in the day's log.\nI wrote it down.\n"


def test_a_failure_is_told_and_what_was_said_is_kept(flush: Run, session: str, tmp_path: Path) -> None:
    done = flush("--model", "models_of_mine:broken")
    assert done.returncode == 1
    assert "Memory could not be written (500 Internal Server Error)" in done.stderr
    assert len(list((tmp_path / "state/memory/unsaved/main").iterdir())) == 1


def test_one_document_of_json(flush: Run, session: str) -> None:
    answer = json.loads(flush("--json", "--model", "models_of_mine:chat").stdout)
    assert (answer["done"], answer["blocks"], answer["decision"]["reason"]) == (True, 1, "losing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no chat model is named"),
        (("--model", "models_of_mine"), "it is not known where the model"),
        (("--model", "nowhere:chat"), "cannot be imported: No module named 'nowhere'"),
        (("--model", "models_of_mine:nothing"), "cannot be imported"),
        (("--model", "models_of_mine:number"), "is no chat model"),
        (("--session", "agent:main:nobody"), "there is no session 'agent:main:nobody'"),
    ],
)
def test_wrong_use_says_what_to_do(flush: Run, session: str, options: tuple[str, ...], message: str) -> None:
    done = flush(*options)
    assert done.returncode == 2
    assert message in done.stderr


def test_without_any_session_none_is_begun(flush: Run, tmp_path: Path) -> None:
    done = flush("--model", "models_of_mine:chat")
    assert done.returncode == 2
    assert "none is recorded in" in done.stderr
    assert not (tmp_path / "state/agents").exists()
