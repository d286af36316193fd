"""`memlane chat`: at a terminal, in a pipe, for programs, and what it refuses."""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.chat_api import KEY, ChatServer, Failed, Said, served

from memlane.surfaces.cli import main

MODELS = """
from memlane.surfaces.cli import main
from memlane.testing import ScriptedChat

chat = ScriptedChat(lambda messages: "You said: " + messages[-1].text)
"""
DEADLINE = 90.0


def thinking(request: Mapping[str, Any]) -> Any:
    first, last = request["messages"][0], request["messages"][-1]
    system = first["content"] if first["role"] == "system" else ""
    if "summarise conversations" in system:
        return "They spoke of tea."
    if "nearing compaction" in system:
        wrote = last["role"] == "tool"
        return "NO_REPLY" if wrote else Said((), (("memory_write", '{"text": "- the user likes tea"}'),))
    text = last["content"]
    if "wait" in text:
        return Said(("It ", "\0", "was long."))
    if "fail" in text:
        return Failed(500, f"no, {KEY}", headers={"retry-after-ms": "1"})
    return Said(("You said: ", text))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    server = ChatServer(thinking, key=KEY)
    with served(server):
        yield server


@pytest.fixture
def surroundings(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    (tmp_path / "models_of_mine.py").write_text(MODELS)
    return {**environment, "CHAT_KEY": KEY, "MEMLANE_EMBEDDING": "none"}


@pytest.fixture
def chat(
    surroundings: dict[str, str], server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Runs `memlane chat` in this process: the agent library takes two seconds to import in each new one."""

    def run(*options: str, given: str | bytes = "", here: bool = True) -> subprocess.CompletedProcess[str]:
        at = ("--base-url", server.url, "--api-key-env", "CHAT_KEY", "--model", "small") if here else ()
        read, out, err = (
            io.TextIOWrapper(io.BytesIO(said), "utf-8", newline="", write_through=True)
            for said in (given.encode() if isinstance(given, str) else given, b"", b"")
        )
        with monkeypatch.context() as patched, pytest.raises(SystemExit) as ended:
            for name in set(os.environ) - set(surroundings):
                patched.delenv(name)
            for name, value in surroundings.items():
                patched.setenv(name, value)
            patched.chdir(tmp_path)
            patched.syspath_prepend(tmp_path)
            patched.delitem(sys.modules, "models_of_mine", raising=False)
            for name, stream in (("stdin", read), ("stdout", out), ("stderr", err)):
                patched.setattr(sys, name, stream)
            main(["chat", *at, *options])
        told, aside = (stream.buffer.getvalue().decode() for stream in (out, err))
        assert "Traceback" not in aside
        assert KEY not in told + aside
        assert "\x1b" not in told + aside
        return subprocess.CompletedProcess(["chat", *options], ended.value.code, told, aside)

    return run


def sessions(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "state/agents/main/sessions/sessions.json").read_text("utf-8"))


def test_every_line_of_a_pipe_is_a_message(chat: Callable[..., Any], tmp_path: Path) -> None:
    done = chat(given="\ufeffhello\r\n\n//etc is a folder\n/quit\nnever said\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "You said: hello\nYou said: /etc is a folder\n"
    entry = sessions(tmp_path)["agent:main:main"]
    transcript = tmp_path / f"state/agents/main/sessions/{entry['sessionId']}.jsonl"
    lines = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    assert lines[0]["type"] == "session"
    assert [line["message"]["role"] for line in lines[1:]] == ["user", "assistant"] * 2
    assert lines[-1]["message"]["usage"]["totalTokens"] == entry["totalTokens"]


def test_a_process_writes_the_answers_and_nothing_else(
    surroundings: dict[str, str], server: ChatServer, tmp_path: Path
) -> None:
    at = ["--base-url", server.url, "--api-key-env", "CHAT_KEY", "--model", "small"]
    done = subprocess.run(
        [sys.executable, "-m", "memlane", "chat", *at],
        env=surroundings,
        cwd=tmp_path,
        input=b"hello\r\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"You said: hello\n", b"")


def test_one_message_is_answered_once_and_the_session_goes_on(chat: Callable[..., Any], server) -> None:
    assert chat("first").stdout == "You said: first\n"
    done = chat("-", given=b"two\nlines \xff")
    assert done.stdout == "You said: two\nlines \N{REPLACEMENT CHARACTER}\n"
    assert "goes on: agent:main:main" in done.stderr
    said = [message["content"] for message in server.requests[-1]["messages"][1:]]
    assert said[:2] == ["first", "You said: first"]


def test_new_and_compact_flush_once_a_cycle(
    chat: Callable[..., Any], server: ChatServer, notes: Path, tmp_path: Path
) -> None:
    turns = "".join(f"{number} {'tea ' * 120}\n" for number in range(8))
    done = chat("--context-tokens", "4000", given=f"{turns}/compact\n/compact\n/status\n/new\n/new\nhello\n")
    assert done.returncode == 0
    assert done.stderr.count("memory was written") == 1  # what is known already is not written again
    systems = [request["messages"][0]["content"] for request in server.requests]
    summaries = sum("summarise conversations" in system for system in systems)
    looks = sum("nearing compaction" in system for system in systems)
    assert looks == 2 * (summaries + 1)  # two requests a cycle; none for the empty conversation
    (log,) = (notes / "memory").glob("*.md")
    assert log.read_text("utf-8").count("the user likes tea") == 1
    assert "model        small" in done.stdout
    assert "of 4,000 tokens" in done.stdout
    assert [message["content"] for message in server.requests[-1]["messages"][1:]] == ["hello"]
    archived = list((tmp_path / "state/agents/main/sessions").glob("*.jsonl.reset.*"))
    assert len(archived) == 2
    for request in server.requests[-2:]:
        assert "nearing compaction" not in json.dumps(request["messages"][1:])


def test_a_failing_model_is_told_and_the_session_goes_on(chat: Callable[..., Any], tmp_path: Path) -> None:
    done = chat(given="fail please\nhello\n")
    assert done.returncode == 1
    assert done.stdout == "You said: hello\n"
    assert "the server failed (HTTP 500: no, [masked] (error))" in done.stderr


def test_commands_answer_without_the_model(chat: Callable[..., Any], server: ChatServer, notes: Path) -> None:
    (notes / "MEMORY.md").write_text("The boiler is serviced in October.\n", "utf-8")
    done = chat(given="/help\n/memory boiler\n/memory\n/nothing\n/compact\n")
    assert done.returncode == 0
    assert "/compact          summarise older turns now" in done.stdout
    assert done.stdout.count("serviced in October") == 2
    assert "There is no /nothing" in done.stdout
    assert "nothing to summarise yet" in done.stderr
    assert server.requests == []


def test_programs_get_a_line_for_each_event(chat: Callable[..., Any]) -> None:
    done = chat("--json", given="hello\nfail\n")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["type"] for event in events] == ["text", "text", "answer", "answer"]
    assert events[2]["text"] == "You said: hello"
    assert events[2]["ended"] == "answered"
    assert events[2]["usage"]["input"] > 0
    assert events[2]["contextTokens"] == sum(events[2]["usage"].values())
    assert events[3]["error"]["message"].startswith("small: ") or "server failed" in str(events[3]["error"])


def test_a_model_in_python_needs_no_server(chat: Callable[..., Any]) -> None:
    done = chat("--model", "models_of_mine:chat", "hi", here=False)
    assert (done.returncode, done.stdout) == (0, "You said: hi\n")


def test_the_configured_model_is_asked_with_its_key(
    chat: Callable[..., Any], server: ChatServer, surroundings: dict[str, str], tmp_path: Path, notes: Path
) -> None:
    models = [{"id": "team/small", "contextWindow": 9000}]
    config = {
        "agents": {"defaults": {"model": {"primary": "mine/team/small"}}},
        "models": {
            "providers": {
                "mine": {
                    "api": "openai-completions",
                    "baseUrl": server.url,
                    "apiKey": "CHAT_KEY",
                    "headers": {"x-team": "blue"},
                    "models": models,
                }
            }
        },
    }
    (tmp_path / "state").mkdir(exist_ok=True)
    (tmp_path / "state/openclaw.json").write_text(json.dumps(config))
    done = chat(given="hello\n/status\n", here=False)
    assert done.returncode == 0, done.stderr
    assert "of 9,000 tokens" in done.stdout
    assert server.requests[0]["model"] == "team/small"
    assert server.headers[0]["x-team"] == "blue"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "no chat model is named"),
        (("--model", "small"), 2, "it is not known where the model 'small' is to be had"),
        (("--model", "x", "--base-url", "localhost"), 2, "--base-url is no address"),
        (("--model", "x", "--base-url", "http://h/v1", "--api-key-env", "NOPE"), 2, "NOPE is not set"),
        (("--model", "anthropic:claude-x"), 1, "needs a package that is not installed"),
        (("--model", "google-gla:gemini-x"), 1, "google:gemini-x"),
        (("--model", "openai/gpt-x"), 1, "openai:gpt-x cannot be used"),
        (("--model", "nowhere:chat"), 2, "cannot be imported"),
        (("--model", "models_of_mine:chat", "--resume"), 2, "there is no session to go on with"),
        (("--model", "models_of_mine:chat", "--resume", "--session", "main"), 2, "name two sessions"),
    ],
)
def test_what_cannot_be_meant_is_told(
    chat: Callable[..., Any], options: tuple[str, ...], code: int, words: str
) -> None:
    done = chat(*options, "hello", here=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_sessions_are_named_resumed_and_begun_anew(chat: Callable[..., Any], server: ChatServer) -> None:
    chat("--session", "direct:me", "one")
    assert "agent:main:direct:me" in chat("--resume", "two").stderr
    assert len(server.requests[-1]["messages"]) == 4
    chat("--resume", "--new", "three")
    contents = [message["content"] for message in server.requests[-1]["messages"][1:]]
    assert contents == ["three"]
    assert "it is not known who is in this session" in chat("--session", "whatever", "four").stderr


# ---- at a terminal -----------------------------------------------------------------------------------


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, arguments: list[str], environment: dict[str, str], folder: Path) -> None:
        import pty

        leader, follower = pty.openpty()
        self._leader = leader
        self.seen = ""
        self.process = subprocess.Popen(
            arguments,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env={**environment, "TERM": "dumb"},
            cwd=folder,
            start_new_session=True,
        )
        os.close(follower)

    def until(self, text: str) -> str:
        """Read on until `text` is seen; gives what came up to it."""
        end = time.monotonic() + DEADLINE
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} did not come: {self.seen!r}"
            if select.select([self._leader], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self._leader, 65536).decode("utf-8", "replace")
                except OSError as error:
                    raise AssertionError(f"it ended before {text!r}: {self.seen!r}") from error
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self._leader, text.encode())

    def interrupt(self) -> None:
        """Ctrl-C, as a terminal sends it to who runs in its foreground, once it waits for something.

        GNU readline does not notice one that comes between its prompt and its wait, which no hand can hit.
        """
        state = Path(f"/proc/{self.process.pid}/stat")
        asleep, end = 0, time.monotonic() + DEADLINE
        while state.exists() and asleep < 10 and time.monotonic() < end:
            asleep = asleep + 1 if state.read_text().rpartition(")")[2].split()[0] == "S" else 0
            time.sleep(0.02)
        self.process.send_signal(signal.SIGINT)

    def ends(self) -> int:
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it did not end: {self.seen!r}"
            if select.select([self._leader], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._leader, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        return self.process.wait(DEADLINE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._leader)


@pytest.fixture
def terminal(surroundings: dict[str, str], server: ChatServer, tmp_path: Path) -> Iterator[Terminal]:
    at = ["--base-url", server.url, "--api-key-env", "CHAT_KEY", "--model", "small"]
    one = Terminal([sys.executable, "-m", "memlane", "chat", *at], surroundings, tmp_path)
    yield one
    one.close()


needs_terminals = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")


@needs_terminals
def test_ctrl_c_stops_the_answer_and_not_the_session(
    terminal: Terminal, server: ChatServer, tmp_path: Path
) -> None:
    terminal.until("> ")
    terminal.type("wait for it\n")
    terminal.until("It ")
    assert server.waiting.wait(DEADLINE)
    terminal.interrupt()
    terminal.until("[stopped]")
    terminal.until("> ")
    terminal.type("hello\n")
    terminal.until("You said: hello")
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.ends() == 0
    entry = sessions(tmp_path)["agent:main:main"]
    transcript = tmp_path / f"state/agents/main/sessions/{entry['sessionId']}.jsonl"
    lines = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    stopped = [line["message"] for line in lines[1:] if line["message"].get("stopReason") == "aborted"]
    assert [message["content"][0]["text"] for message in stopped] == ["It "]


@needs_terminals
def test_ctrl_c_twice_at_the_prompt_leaves(terminal: Terminal) -> None:
    terminal.until("> ")
    terminal.interrupt()
    terminal.until("Ctrl-C again")
    terminal.until("> ")
    terminal.type("hello\n")
    terminal.until("You said: hello")
    terminal.until("> ")
    terminal.interrupt()
    terminal.until("Ctrl-C again")
    terminal.until("> ")
    terminal.interrupt()
    assert terminal.ends() == 0
