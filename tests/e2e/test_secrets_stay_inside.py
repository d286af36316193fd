"""No key is in anything Memlane writes or says, also where a server hands it back in its errors."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from tests.loopback.embeddings_api import Reply, Service, as_json, served

from memlane import Memory
from memlane.embed.remote.calls import Calls
from memlane.errors import MemlaneError
from memlane.surfaces.cli.run import run
from memlane.testing import RecordingObserver

SHOWN = 8
"""So many first characters of a secret may not be seen either: keys are known by them."""

LITERAL = "Lx7q-literal-in-the-configuration-0001"
VARIABLE = "Vq3m-from-the-environment-0002"
PROFILE = "Pz9w-from-an-auth-profile-0003"
PASSWORD = "Wd5k-password-of-the-address-0004"
QUERY = "Qn2j-key-in-the-query-0005"
HEADER = "Hb8v-value-of-a-header-0006"
OWN = "Oc4t-key-of-openai-itself-0007"
STATUSES = (401, 400, 404, 500, 302, 200, 403, 413)
"""One after another, so that each command meets several."""
SECRETS = (LITERAL, VARIABLE, PROFILE, PASSWORD, QUERY, HEADER, OWN)


class Echo(Service):
    """Refuses everything and hands back all it was sent, cut so that a key may lie across any border."""

    def __init__(self) -> None:
        super().__init__()
        self.statuses = cycle(STATUSES)

    def handle(self, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[Reply, str]:
        sent = " ".join([path, *(f"{name}: {value}" for name, value in headers.items())])
        self.calls.append((path, headers, None))  # type: ignore[arg-type]
        status = next(self.statuses)
        if status == 200:
            return Reply(200, sent.encode()), ""
        keys = " ".join(value.removeprefix("Bearer ") for value in headers.values() if len(value) > 20)
        filling = " ".join(f"{'x' * (number % 7)}{keys}" for number in range(40))
        message = f"Incorrect API key provided: {sent} {filling}"
        return as_json(status, {"error": {"message": message, "code": keys}}, location=path), ""


@pytest.fixture
def echo() -> Iterator[Echo]:
    service = Echo()
    with served(service):
        yield service


def documents(url: str) -> dict[str, dict[str, object]]:
    """Configurations by the place of the key."""
    with_login = url.replace("http://", f"http://user:{PASSWORD}@")
    return {
        "remote": {
            "provider": "openai-compatible",
            "model": "m",
            "remote": {
                "baseUrl": f"{with_login}/v1?api_key={QUERY}",
                "apiKey": LITERAL,
                "headers": {"X-Secret-Token": HEADER},
            },
        },
        "login": {
            "provider": "openai-compatible",
            "model": "m",
            "remote": {"baseUrl": f"{with_login}/v1?key={QUERY}"},
        },
        "entry": {"provider": "voyage", "fallback": "mine"},
        "profile": {"provider": "mine"},
        "withheld": {"provider": "openai", "remote": {"baseUrl": f"{url}/v1"}, "fallback": "mine"},
        "gemini": {
            "provider": "gemini",
            "remote": {"baseUrl": f"{url}/v1beta", "apiKey": "PLANTED_KEY"},
        },
        "ollama": {"provider": "ollama", "remote": {"baseUrl": with_login, "apiKey": LITERAL}},
    }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a configuration and its keys in place; gives the folder of everything."""
    (tmp_path / "notes/memory").mkdir(parents=True)
    for number in range(3):
        (tmp_path / f"notes/memory/{number}.md").write_text(f"note {number} on tea\n")

    def put(name: str, url: str) -> Path:
        providers = {
            "voyage": {"baseUrl": f"{url}/v1", "apiKey": "${PLANTED_KEY}", "headers": {"X-Auth": HEADER}},
            "mine": {"api": "mistral", "baseUrl": f"{url}/v1"},
        }
        state = tmp_path / "state"
        (state / "agents/main/agent").mkdir(parents=True)
        profile = {"type": "api_key", "provider": "mine", "key": PROFILE}
        (state / "agents/main/agent/auth-profiles.json").write_text(
            json.dumps({"profiles": {"mine:default": profile, "openai:x": profile | {"provider": "openai"}}})
        )
        document = {
            "agents": {"defaults": {"memorySearch": documents(url)[name]}},
            "models": {"providers": providers},
        }
        (state / "openclaw.json").write_text(json.dumps(document))
        monkeypatch.setenv("MEMLANE_STATE_DIR", str(state))
        monkeypatch.setenv("MEMLANE_WORKSPACE", str(tmp_path / "notes"))
        monkeypatch.setenv("PLANTED_KEY", VARIABLE)
        monkeypatch.setenv("OPENAI_API_KEY", OWN)
        return tmp_path

    return put


COMMANDS = (
    ("index",),
    ("index", "--force", "--verbose", "--json"),
    ("index", "--plan"),
    ("search", "tea", "--explain"),
    ("search", "tea", "--json"),
    ("status", "--deep"),
    ("status", "--deep", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("config", "check"),
    ("config", "check", "--json"),
)


def seen(text: str) -> set[str]:
    """The secrets of which a text shows something."""
    signs = {secret: secret[:SHOWN] for secret in SECRETS}
    signs["login"] = base64.b64encode(f"user:{PASSWORD}".encode()).decode()[:12]
    return {secret for secret, sign in signs.items() if sign in text}


def told(error: BaseException | None) -> str:
    """All that an exception and those behind it say."""
    text = ""
    while error is not None:
        text += f"{error!r} {error} {getattr(error, 'hint', '')} {vars(error)}"
        text += "".join(traceback.format_exception(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return text


@pytest.mark.parametrize("name", ["remote", "login", "entry", "profile", "withheld", "gemini", "ollama"])
def test_no_secret_is_said_or_written(
    name: str,
    echo: Echo,
    place: Callable[[str, str], Path],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Calls, "_backoff", lambda *_: 0.0)
    caplog.set_level(logging.DEBUG)
    folder = place(name, echo.url)
    for command in COMMANDS:
        run(command)
        output = capfd.readouterr()
        assert seen(output.out + output.err) == set(), command
    assert echo.calls

    observer = RecordingObserver()
    with Memory.open(observer=observer) as memory:
        results = [repr(memory.search("tea", explain=True)), repr(memory.sync()), repr(memory.settings)]
        results += [repr(memory.status(deep=True)), repr(memory.doctor()), repr(memory.tools())]
        choice = memory._choose_provider()
        results.append(repr(choice))
        for embedder in filter(None, (choice.embedder, choice.substitute)):
            for call in (embedder.verify, partial(embedder.embed_query, "tea")):
                with pytest.raises(MemlaneError) as caught:
                    call()
                results.append(told(caught.value))
            results += [repr(embedder.identity), repr(vars(embedder))]
        choice.close()
    assert seen("\n".join([*results, *observer.warnings])) == set()
    records = [f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records]
    assert seen("\n".join(records)) == set()

    given = {"openclaw.json", "auth-profiles.json"}
    for file in folder.rglob("*"):
        if file.is_file() and file.name not in given:
            assert seen(file.read_bytes().decode("latin-1")) == set(), file


@pytest.mark.parametrize("name", ["withheld"])
def test_a_key_is_not_sent_to_another_host(name: str, place: Callable[[str, str], Path]) -> None:
    echo = Echo()
    with served(echo) as url:
        place(name, url)
        run(("index",))
    assert echo.calls
    assert all(OWN not in str(headers) for _, headers, _ in echo.calls)
