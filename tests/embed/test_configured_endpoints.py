"""What configuration makes of a remote provider: address, model, key and to whom it may go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memlane.clock import SystemClock
from memlane.config import AgentSettings, load_config
from memlane.config.auth_profiles import read_auth_profiles
from memlane.config.remote_facts import REMOTE_FACTS
from memlane.embed.base import NoVector, pack
from memlane.embed.configured import endpoint_for
from memlane.embed.endpoint import Endpoint
from memlane.embed.select import choose_provider
from memlane.errors import ProviderUnavailable
from memlane.testing import RecordingObserver

PROXY = "https://proxy.example/v1"
PLACES = "memorySearch.remote.apiKey, auth profiles"


class Machine:
    """A state folder with what the tests put there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ: dict[str, str] = {}
        self.providers: dict[str, Any] = {}

    def profile(self, provider: str, key: str) -> Path:
        file = self.folder / "agents/main/agent/auth-profiles.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        entry = {"type": "api_key", "provider": provider, "key": key}
        file.write_text(json.dumps({"version": 1, "profiles": {f"{provider}:default": entry}}))
        return file

    def settings(self, **search: Any) -> AgentSettings:
        document = {
            "agents": {"defaults": {"memorySearch": search}},
            "models": {"providers": self.providers},
        }
        (self.folder / "openclaw.json").write_text(json.dumps(document))
        environ = {"MEMLANE_STATE_DIR": str(self.folder), **self.environ}
        return load_config(environ=environ, home=self.folder).agent()

    def endpoint(self, provider: str, /, *, is_fallback: bool = False, **search: Any) -> Endpoint:
        settings = self.settings(**search, **{"fallback" if is_fallback else "provider": provider})
        profiles = read_auth_profiles(settings.state_dir, settings.agent_id)
        return endpoint_for(provider, settings, profiles, is_fallback=is_fallback)

    def refusal(self, provider: str, **search: Any) -> str:
        with pytest.raises(ProviderUnavailable) as caught:
            self.endpoint(provider, **search)
        return f"{caught.value} → {caught.value.hint}"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


# ---- addresses and models ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, facts in REMOTE_FACTS.items() if facts.base_url])
def test_a_key_in_the_environment_is_all_a_provider_needs(machine: Machine, name: str) -> None:
    facts = REMOTE_FACTS[name]
    for variable in facts.key_variables:
        machine.environ = {variable: f" sk-{variable} \n"}
        endpoint = machine.endpoint(name)
        assert (endpoint.provider, endpoint.kind) == (name, name)
        assert (endpoint.base_url, endpoint.model) == (facts.base_url, facts.model)
        assert str(endpoint.key) == f"sk-{variable}"
        assert endpoint.key_origin == f"the environment variable {variable}"


def test_the_first_of_two_variables_counts(machine: Machine) -> None:
    machine.environ = {"GOOGLE_API_KEY": "second", "GEMINI_API_KEY": "first"}
    assert machine.endpoint("gemini").key == "first"
    machine.environ["GEMINI_API_KEY"] = " "
    assert machine.endpoint("gemini").key == "second"


@pytest.mark.parametrize(
    ("provider", "written", "sent"),
    [
        ("openai", "openai/text-embedding-3-large", "text-embedding-3-large"),
        ("gemini", "google/gemini-embedding-2", "gemini-embedding-2"),
        ("gemini", "gemini/gemini-embedding-2", "gemini-embedding-2"),
        ("voyage", "voyage/voyage-4", "voyage-4"),
        ("ollama", "ollama/library/bge-m3", "library/bge-m3"),
        ("mistral", "codestral-embed", "codestral-embed"),
        ("openai-compatible", "openai/text-embedding-3-small", "openai/text-embedding-3-small"),
        ("openai-compatible", "openai-compatible/bge-m3", "bge-m3"),
        ("mine", "mine/openai/text-embedding-3-small", "openai/text-embedding-3-small"),
        ("mine", "openai/text-embedding-3-small", "openai/text-embedding-3-small"),
    ],
)
def test_a_models_name_loses_the_providers_prefix_alone(
    machine: Machine, provider: str, written: str, sent: str
) -> None:
    machine.providers = {"mine": {"api": "openai-completions"}}
    remote = {"baseUrl": PROXY, "apiKey": "k"}
    assert machine.endpoint(provider, model=written, remote=remote).model == sent


@pytest.mark.parametrize(
    ("provider", "written", "used"),
    [
        ("openai-compatible", "http://h:8080/v1/", "http://h:8080/v1"),
        ("openai-compatible", "http://h/v1/?api-version=1&x=%2F", "http://h/v1?api-version=1&x=%2F"),
        ("ollama", "http://h:11434/v1/", "http://h:11434"),
        ("ollama", "http://h:11434", "http://h:11434"),
        ("openai-compatible", "http://[::1]:9/v1", "http://[::1]:9/v1"),
        ("openai-compatible", "HTTP://H/v1#part", "http://H/v1"),
    ],
)
def test_an_address_is_tidied_and_keeps_its_query(
    machine: Machine, provider: str, written: str, used: str
) -> None:
    endpoint = machine.endpoint(provider, model="m", remote={"baseUrl": written})
    assert endpoint.base_url == used
    assert endpoint.key is None
    assert str(endpoint) == f"m at {endpoint.host}, without a key"


def test_what_has_no_default_must_be_said(machine: Machine) -> None:
    assert machine.refusal("openai-compatible", model="m") == (
        "openai-compatible has no address of its own → "
        "set memorySearch.remote.baseUrl or models.providers.openai-compatible.baseUrl"
    )
    assert machine.refusal("openai-compatible", remote={"baseUrl": PROXY}) == (
        "openai-compatible has no usual model → set memorySearch.model"
    )


def test_dimensions_and_input_types(machine: Machine) -> None:
    remote = {"baseUrl": PROXY, "apiKey": "k"}
    said = {"model": "m", "remote": remote, "outputDimensionality": 256, "inputType": "both"}
    endpoint = machine.endpoint("openai-compatible", queryInputType="query", **said)
    assert (endpoint.dimensions, endpoint.query_input_type, endpoint.document_input_type) == (
        256,
        "query",
        "both",
    )
    endpoint = machine.endpoint("openai", **said)
    assert (endpoint.query_input_type, endpoint.document_input_type) == (None, None)


# ---- where a key is looked for -----------------------------------------------------------------------


def test_the_order_of_keys(machine: Machine) -> None:
    machine.providers = {"openai": {"apiKey": "from-entry"}}
    assert machine.endpoint("openai").key == "from-entry"
    assert machine.endpoint("openai").key_origin == "models.providers.openai.apiKey"
    machine.environ = {"OPENAI_API_KEY": "from-environment"}
    assert machine.endpoint("openai").key == "from-environment"
    file = machine.profile("openai", "from-profile")
    endpoint = machine.endpoint("openai")
    assert (endpoint.key, endpoint.key_origin) == ("from-profile", f"the profile openai:default in {file}")
    endpoint = machine.endpoint("openai", remote={"apiKey": "from-remote"})
    assert endpoint.key == "from-remote"
    assert endpoint.key_origin == "agents.defaults.memorySearch.remote.apiKey"


def test_gemini_is_google_among_profiles_and_entries(machine: Machine) -> None:
    machine.providers = {"google": {"apiKey": "from-entry"}}
    assert machine.endpoint("gemini").key == "from-entry"
    machine.profile("google", "from-profile")
    assert machine.endpoint("gemini").key == "from-profile"


@pytest.mark.parametrize("written", ["MY_KEY", "${MY_KEY}"])
def test_a_key_may_be_named(machine: Machine, written: str) -> None:
    machine.environ = {"MY_KEY": "sk-named"}
    assert machine.endpoint("openai", remote={"apiKey": written}).key == "sk-named"
    machine.providers = {"voyage": {"apiKey": written}}
    assert machine.endpoint("voyage").key == "sk-named"
    machine.profile("mistral", written)
    endpoint = machine.endpoint("mistral")
    assert endpoint.key == "sk-named"
    assert endpoint.key_origin.startswith("the environment variable MY_KEY, named by the profile mistral:")


def test_a_named_variable_that_is_not_set_is_never_sent_as_a_key(machine: Machine) -> None:
    assert machine.refusal("openai", remote={"apiKey": "OPENAI_API_KEY"}) == (
        "agents.defaults.memorySearch.remote.apiKey names the environment variable OPENAI_API_KEY, "
        "which is not set → set OPENAI_API_KEY, or write the key itself"
    )
    machine.environ = {"OPENAI_API_KEY": "sk-there"}
    machine.profile("openai", "${NOT_SET}")
    assert machine.endpoint("openai").key == "sk-there"


@pytest.mark.parametrize("key", ["sk one", "sk-\u201cquoted\u201d", "ключ", "sk-a\nX-Other: b"])
def test_a_key_that_cannot_be_one_is_refused_unseen(machine: Machine, key: str) -> None:
    machine.environ = {"OPENAI_API_KEY": key}
    said = machine.refusal("openai")
    assert said.startswith("the key from the environment variable OPENAI_API_KEY holds blanks or characters")
    assert key not in said


@pytest.mark.parametrize("name", ["openai", "gemini", "voyage", "mistral"])
def test_without_a_key_every_place_is_named(machine: Machine, name: str) -> None:
    facts = REMOTE_FACTS[name]
    variables = " or ".join(facts.key_variables)
    assert machine.refusal(name) == (
        f"no key in {PLACES}, the environment ({variables}) or models.providers.{facts.entry}.apiKey"
        f" → set {variables}"
    )


def test_a_fallback_without_a_key_is_not_sent_to_what_is_not_its_own(machine: Machine) -> None:
    remote = {"remote": {"apiKey": "sk-first"}}
    with pytest.raises(ProviderUnavailable) as caught:
        machine.endpoint("mistral", is_fallback=True, **remote)
    assert str(caught.value) == (
        "no key in auth profiles, the environment (MISTRAL_API_KEY) or models.providers.mistral.apiKey"
    )


# ---- to whom a key goes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", [PROXY, "http://api.openai.com/v1", "https://api.openai.com:8443/v1", "https://openai.com/v1"]
)
@pytest.mark.parametrize("place", ["environment", "profile", "entry"])
def test_a_providers_key_is_not_sent_elsewhere(machine: Machine, place: str, address: str) -> None:
    if place == "environment":
        machine.environ = {"OPENAI_API_KEY": "sk-own"}
    elif place == "profile":
        machine.profile("openai", "sk-own")
    else:
        machine.providers = {"openai": {"apiKey": "sk-own"}}
    said = machine.refusal("openai", remote={"baseUrl": address})
    assert said.startswith("memorySearch.remote.baseUrl leads to ")
    assert "is not for that host: it was not sent → set memorySearch.remote.apiKey to the key for" in said
    assert "sk-own" not in said
    assert machine.endpoint("openai", remote={"baseUrl": address, "apiKey": "sk-its"}).key == "sk-its"


@pytest.mark.parametrize("address", ["https://api.openai.com/v1/", "https://API.openai.com:443/v2"])
def test_another_way_to_write_the_providers_own_host_is_no_other_host(machine: Machine, address: str) -> None:
    machine.environ = {"OPENAI_API_KEY": "sk-own"}
    assert machine.endpoint("openai", remote={"baseUrl": address}).key == "sk-own"


def test_an_entrys_key_is_for_the_entrys_host(machine: Machine) -> None:
    machine.providers = {"openai": {"baseUrl": PROXY, "apiKey": "sk-proxy"}}
    machine.environ = {"OPENAI_API_KEY": "sk-own"}
    endpoint = machine.endpoint("openai")
    assert (endpoint.base_url, endpoint.key) == (PROXY, "sk-proxy")
    endpoint = machine.endpoint("openai", remote={"baseUrl": "https://api.openai.com/v1"})
    assert endpoint.key == "sk-own"
    machine.providers = {"openai": {"baseUrl": PROXY}}
    assert machine.refusal("openai") == (
        "models.providers.openai.baseUrl leads to proxy.example, and the key from the environment variable"
        " OPENAI_API_KEY is not for that host: it was not sent"
        " → set models.providers.openai.apiKey to the key for proxy.example"
    )


def test_a_compatible_endpoint_inherits_nothing_of_openai(machine: Machine) -> None:
    machine.environ = {"OPENAI_API_KEY": "sk-own"}
    machine.profile("openai", "sk-own")
    machine.providers = {"openai": {"apiKey": "sk-own", "headers": {"x-api-key": "sk-own"}}}
    for address in (PROXY, "https://api.openai.com/v1"):
        endpoint = machine.endpoint("openai-compatible", model="m", remote={"baseUrl": address})
        assert endpoint.key is None
        assert endpoint.headers == {}


def test_ollama_elsewhere_is_reached_without_the_key_of_here(machine: Machine) -> None:
    machine.environ = {"OLLAMA_API_KEY": "sk-own"}
    assert machine.endpoint("ollama").key == "sk-own"
    assert machine.endpoint("ollama", remote={"baseUrl": "http://gpu:11434"}).key is None


def test_custom_providers(machine: Machine) -> None:
    machine.environ = {"OPENAI_API_KEY": "sk-own", "GEMINI_API_KEY": "sk-own"}
    machine.providers = {
        "mine": {
            "api": "openai-completions", "baseUrl": PROXY, "apiKey": "sk-mine", "headers": {"X-Team": "a"}
        },
        "bare": {"baseUrl": "http://localhost:8000/v1"},
        "eu": {"api": "google-generative-ai", "baseUrl": "https://eu.example/v1beta"},
    }  # fmt: skip
    mine = machine.endpoint("mine", model="m")
    assert (mine.provider, mine.kind) == ("mine", "openai-compatible")
    assert (mine.base_url, mine.key, mine.headers) == (PROXY, "sk-mine", {"X-Team": "a"})
    bare = machine.endpoint("bare", model="m")
    assert (bare.kind, bare.key) == ("openai-compatible", None)
    eu = machine.endpoint("eu")
    assert (eu.kind, eu.model, eu.key) == ("gemini", "gemini-embedding-001", None)
    machine.profile("eu", "sk-eu")
    assert machine.endpoint("eu").key == "sk-eu"


def test_headers_merge_and_those_of_remote_win_in_any_case(machine: Machine) -> None:
    machine.environ = {"OPENAI_API_KEY": "sk-own"}
    machine.providers = {"openai": {"headers": {"X-Team": "a", "x-trace": "b"}}}
    endpoint = machine.endpoint("openai", remote={"headers": {"x-team": "c"}})
    assert endpoint.headers == {"x-trace": "b", "x-team": "c"}


def test_an_entrys_secret_headers_stay_with_its_host(machine: Machine) -> None:
    headers = {"X-Team": "a", "Authorization": "Bearer secret"}
    machine.providers = {"mine": {"api": "openai-completions", "baseUrl": PROXY, "headers": headers}}
    assert machine.endpoint("mine", model="m").headers == headers
    elsewhere = machine.endpoint("mine", model="m", remote={"baseUrl": "https://other.example"})
    assert elsewhere.headers == {"X-Team": "a"}


def test_a_header_does_for_a_key(machine: Machine) -> None:
    remote = {"baseUrl": PROXY, "headers": {"api-key": "sk-azure"}}
    endpoint = machine.endpoint("openai", remote=remote)
    assert (endpoint.key, endpoint.key_origin) == (None, "the header api-key")


def test_vectors_of_another_length_than_configured_are_none_whichever_way_they_come(machine: Machine) -> None:
    said = {"provider": "openai", "outputDimensionality": 3, "remote": {"apiKey": "sk-mine-12345"}}
    choice = choose_provider(machine.settings(**said), clock=SystemClock(), observer=RecordingObserver())
    good, other = choice.embedder.checked([pack([1, 0, 0]), pack([1, 0])])
    assert (good, other) == (pack([1, 0, 0]), NoVector("the vector has 2 dimensions, not 3"))
    assert choice.embedder.checked([pack([1, 0])]) == [other]
    choice.close()


def test_a_fallback_has_nothing_of_the_primary(machine: Machine) -> None:
    machine.environ = {"OPENAI_API_KEY": "sk-own"}
    said = {
        "provider": "voyage", "model": "voyage-4", "outputDimensionality": 256, "inputType": "x",
        "remote": {"baseUrl": PROXY, "apiKey": "sk-voyage", "headers": {"X-Team": "a"}},
    }  # fmt: skip
    endpoint = machine.endpoint("openai", is_fallback=True, **said)
    facts = REMOTE_FACTS["openai"]
    assert (endpoint.base_url, endpoint.model, endpoint.key) == (facts.base_url, facts.model, "sk-own")
    assert (endpoint.headers, endpoint.dimensions, endpoint.document_input_type) == ({}, None, None)


def test_an_endpoint_never_shows_its_secrets(machine: Machine) -> None:
    remote = {
        "baseUrl": "https://user:sk-one@h.example/v1?api_key=sk-two",
        "apiKey": "sk-three",
        "headers": {"x-key": "sk-four"},
    }
    endpoint = machine.endpoint("openai-compatible", model="m", remote=remote)
    assert endpoint.base_url == remote["baseUrl"]
    assert "sk-" not in repr(endpoint) + str(endpoint) + repr(endpoint.key) + repr(endpoint.headers)
    assert "sk-" not in repr(machine.settings(provider="openai-compatible", remote=remote))
