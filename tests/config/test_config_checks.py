from __future__ import annotations

import pytest

from memlane.config import bundled_model, notices, provider_kind
from memlane.errors import ConfigError, UsageError

SEARCH = "agents.defaults.memorySearch"


def refused(machine, document: object, **more: object) -> str:
    with pytest.raises(ConfigError) as caught:
        machine.agent(document, **more)
    return str(caught.value).removeprefix(f"{machine.file}: ")


def refused_search(machine, search: object) -> str:
    return refused(machine, {"agents": {"defaults": {"memorySearch": search}}})


# ---- agents ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agents", "ids", "default"),
    [
        ({}, ("main",), "main"),
        ({"list": []}, ("main",), "main"),
        ({"list": [{"id": "a"}, {"id": "b"}]}, ("a", "b"), "a"),
        ({"list": [{"id": "a"}, {"id": "b", "default": True}]}, ("a", "b"), "b"),
        ({"list": [{"id": "a", "default": False}]}, ("a",), "a"),
        ({"entries": {"a": {}, "b": {"default": True}}}, ("a", "b"), "b"),
        ({"list": [{"id": "a"}], "entries": {"b": {}, "a": {}}}, ("a", "b"), "a"),
        ({"list": [{"id": " Work "}]}, ("work",), "work"),
        ({"list": [{"id": "メモ"}]}, ("メモ",), "メモ"),
    ],
)
def test_agents_and_the_default_one(machine, agents: object, ids: tuple[str, ...], default: str) -> None:
    configuration = machine.load({"agents": agents})
    assert (configuration.agent_ids, configuration.default_agent) == (ids, default)
    assert configuration.agent().agent_id == default
    assert configuration.agent(ids[-1].upper()).agent_id == ids[-1]
    assert configuration.warnings == ()


def test_an_unknown_agent_names_the_known_ones(machine) -> None:
    configuration = machine.load({"agents": {"list": [{"id": "a"}, {"id": "b"}]}})
    with pytest.raises(UsageError) as caught:
        configuration.agent("c")
    assert str(caught.value) == 'there is no agent "c"; known: a, b'
    with pytest.raises(UsageError):
        configuration.agent("")


UNSAFE = [
    "",
    " ",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "a\0b",
    "a:b",
    "a\nb",
    ".hidden",
    "a.",
    "x" * 65,
    "\ud800",
    5,
    None,
]


@pytest.mark.parametrize("agent_id", UNSAFE)
def test_an_id_that_cannot_be_a_file_name_is_refused(machine, agent_id: object) -> None:
    with pytest.raises(
        ConfigError, match=r"agents\.list\[0\]\.id is .*; allowed: a name of at most 64 letters"
    ):
        machine.load({"agents": {"list": [{"id": agent_id}]}})
    if isinstance(agent_id, str):
        with pytest.raises(
            ConfigError, match=r"(?s)agents\.entries\..*; allowed: a name of at most 64 letters"
        ):
            machine.load({"agents": {"entries": {agent_id: {}}}})


def test_a_second_entry_of_one_id_and_a_second_default_are_said(machine) -> None:
    first = {"id": "a", "default": True, "workspace": "/1"}
    listed = [first, {"id": "A", "workspace": "/2"}, {"id": "b", "default": True}]
    configuration = machine.load({"agents": {"list": listed}})
    assert configuration.default_agent == "a"
    assert str(configuration.agent("a").workspace) == "/1"
    assert configuration.warnings == (
        f"{machine.file}: agents.list[1] is ignored, because agents.list[0] has the same id a",
        f"{machine.file}: agents.list[2].default is ignored, because a is the default agent already",
    )


def test_a_fault_of_one_agent_does_not_stop_another(machine) -> None:
    faulty = {"id": "b", "memorySearch": {"query": {"minScore": 2}}}
    configuration = machine.load({"agents": {"list": [{"id": "a"}, faulty]}})
    assert configuration.agent("a").enabled
    with pytest.raises(ConfigError, match=r"agents.list\[1\].memorySearch.query.minScore is 2"):
        configuration.agent("b")


# ---- switched off ------------------------------------------------------------------------------------


def test_memory_is_on_unless_switched_off(machine) -> None:
    settings = machine.agent()
    assert (settings.enabled, settings.disabled_reason) == (True, "")


def test_switched_off_for_one_agent(machine) -> None:
    document = {"agents": {"list": [{"id": "a"}, {"id": "b", "memorySearch": {"enabled": False}}]}}
    assert machine.agent(document, "a").enabled
    settings = machine.agent(document, "b")
    assert not settings.enabled
    assert settings.disabled_reason == f"agents.list[1].memorySearch.enabled is false in {machine.file}"


def test_switched_off_by_the_plugin_slot(machine) -> None:
    settings = machine.agent({"plugins": {"slots": {"memory": "none"}}, "memory": {"backend": "qmd"}})
    assert not settings.enabled
    assert settings.disabled_reason == f'plugins.slots.memory is "none" in {machine.file}'
    assert settings.warnings == ()
    assert machine.agent({"plugins": {"slots": {"memory": "memory-core"}}}).enabled


# ---- cross-checks ------------------------------------------------------------------------------------


def test_overlap_is_below_tokens(machine) -> None:
    assert refused_search(machine, {"chunking": {"overlap": 400}}) == (
        f"{SEARCH}.chunking.overlap is 400; allowed: less than chunking.tokens, which is 400"
    )
    document = {
        "agents": {
            "defaults": {"memorySearch": {"chunking": {"overlap": 100}}},
            "list": [{"id": "a", "memorySearch": {"chunking": {"tokens": 100}}}],
        }
    }
    assert refused(machine, document) == (
        f"{SEARCH}.chunking.overlap is 100; allowed: less than chunking.tokens, which is 100"
    )
    assert machine.search({"chunking": {"tokens": 400, "overlap": 399}}).memory_search.chunking.overlap == 399


def test_multimodal_needs_a_provider_and_model_that_can(machine) -> None:
    on = {"multimodal": {"enabled": True}}
    assert refused_search(machine, on) == (
        f'{SEARCH}.multimodal.enabled is true; allowed: true only with provider "gemini"; it is "auto"'
    )
    assert refused_search(machine, on | {"provider": "openai", "model": "gemini-embedding-2"}).endswith(
        '"openai"'
    )
    needed = "true only with model gemini-embedding-2 or gemini-embedding-2-preview"
    assert refused_search(machine, on | {"provider": "gemini"}).endswith(f"{needed}; it is not set")
    older = on | {"provider": "gemini", "model": "gemini-embedding-001"}
    assert refused_search(machine, older).endswith(f"{needed}; it is gemini-embedding-001")
    able = on | {"provider": "gemini", "model": "gemini/gemini-embedding-2-preview"}
    assert machine.search(able).memory_search.multimodal.enabled
    assert refused_search(machine, able | {"fallback": "openai"}) == (
        f'{SEARCH}.fallback is "openai"; allowed: "none" while multimodal.enabled is true, '
        "since no other provider takes images and audio"
    )


def test_the_index_must_be_a_file(machine, tmp_path) -> None:
    for path, found in (("/dev/null", "a pipe, device or socket"), ("/dev", "a folder")):
        assert refused_search(machine, {"store": {"path": path}}) == (
            f'{SEARCH}.store.path is "{path}"; allowed: a new file or an index made before; {found} is there'
        )
    (tmp_path / "index").write_bytes(b"")
    for name in ("index", "new", "index/below"):
        path = tmp_path / name
        assert machine.search({"store": {"path": str(path)}}).store_path == path


def test_several_agents_must_not_share_an_index(machine) -> None:
    store = {"memorySearch": {"store": {"path": "/s/one.sqlite"}}}
    two = [{"id": "a"}, {"id": "b"}]
    assert refused(machine, {"agents": {"defaults": store, "list": two}}) == (
        f'{SEARCH}.store.path is "/s/one.sqlite"; allowed: a path with {{agentId}} in it, '
        'because agent "b" has the same'
    )
    assert machine.agent({"agents": {"defaults": store, "list": two[:1]}}).store_path.name == "one.sqlite"
    own = [{"id": "a"}, {"id": "b", "memorySearch": {"store": {"path": "/s/two.sqlite"}}}]
    assert machine.agent({"agents": {"defaults": store, "list": own}}, "a").store_path.name == "one.sqlite"
    token = {"memorySearch": {"store": {"path": "/s/{agentId}/i.sqlite"}}}
    paths = [
        str(machine.agent({"agents": {"defaults": token, "list": two}}, name).store_path) for name in "ab"
    ]
    assert paths == ["/s/a/i.sqlite", "/s/b/i.sqlite"]


def sent(machine, own: object, defaults: object) -> None:
    shared = {"memorySearch": {"provider": "openai", "remote": defaults}}
    machine.agent({"agents": {"defaults": shared, "list": [{"id": "a", "memorySearch": {"remote": own}}]}})


def test_a_key_of_the_defaults_is_not_sent_to_an_agents_own_host(machine) -> None:
    here, there = {"baseUrl": "https://a.example/v1"}, {"baseUrl": "https://b.example/v1"}
    for defaults in ({"apiKey": "k"}, here | {"apiKey": "k"}, here | {"headers": {"Authorization": "k"}}):
        with pytest.raises(ConfigError, match=r"agents.list\[0\].memorySearch.remote.baseUrl is .*b.example"):
            sent(machine, there, defaults)
    sent(machine, there | {"apiKey": "own"}, here | {"apiKey": "k"})
    sent(machine, there | {"apiKey": "own"}, {"baseUrl": "${NOT_SET}", "apiKey": "k"})
    sent(machine, there | {"headers": {"authorization": "own"}}, here | {"headers": {"Authorization": "k"}})
    sent(machine, {"baseUrl": "https://a.example/v2"}, here | {"apiKey": "k"})
    sent(machine, there, here | {"headers": {"X-Team": "t"}})
    sent(machine, {"apiKey": "own"}, here | {"apiKey": "k"})


def test_gemini_takes_only_some_numbers_of_dimensions(machine) -> None:
    for count in (127, 3073):
        assert refused_search(machine, {"provider": "gemini", "outputDimensionality": count}) == (
            f"{SEARCH}.outputDimensionality is {count}; allowed: from 128 to 3072 with the provider gemini"
        )
    for count in (128, 3072):
        search = {"provider": "gemini", "outputDimensionality": count}
        assert machine.search(search).memory_search.output_dimensionality == count
    assert machine.search({"provider": "openai", "outputDimensionality": 64}).warnings == ()


# ---- providers ---------------------------------------------------------------------------------------


def test_an_unknown_provider_names_the_known_ones(machine) -> None:
    assert refused_search(machine, {"provider": "opnai"}) == (
        f'{SEARCH}.provider is "opnai"; allowed: auto, local, openai, gemini, voyage, mistral, ollama, '
        "openai-compatible, bundled, none, or the id of an entry added to models.providers"
    )
    assert refused_search(machine, {"fallback": "auto"}).startswith(
        f'{SEARCH}.fallback is "auto"; allowed: local, '
    )


def test_an_unknown_bundled_model_names_the_known_ones(machine) -> None:
    assert refused_search(machine, {"provider": "bundled", "model": "bge-m3"}) == (
        f'{SEARCH}.model is "bge-m3"; allowed: static, multilingual-e5-small, e5 with the provider bundled'
    )
    for name, model in (
        (None, "static"),
        ("static", "static"),
        ("e5", "multilingual-e5-small"),
        ("bundled/multilingual-e5-small", "multilingual-e5-small"),
    ):
        search = machine.search({"provider": "bundled", "model": name}).memory_search
        assert bundled_model(search.model) == model
    assert machine.search({"model": "bge-m3"}).memory_search.model == "bge-m3"


def test_an_entry_of_models_providers_is_a_provider(machine) -> None:
    providers = {
        "mine": {
            "api": "openai-completions",
            "baseUrl": "http://h/v1",
            "apiKey": "${KEY}",
            "headers": {"a": "b"},
        },
        "bare": {"baseUrl": "http://h/v1"},
        "google": {"api": "google-generative-ai"},
        "claude": {"api": "anthropic-messages"},
        "empty": {},
    }
    search = {"provider": "mine", "fallback": "bare"}
    document = {"models": {"providers": providers}, "memory": {"search": search}}
    settings = machine.agent(document, environ={"KEY": "k"})
    assert settings.memory_search.provider == "mine"
    assert settings.providers["mine"].api_key == "k"
    assert (
        str(settings.origin("models.providers.mine.apiKey"))
        == f"{machine.file}: models.providers.mine.apiKey"
    )
    kinds = {name: provider_kind(name, settings.providers) for name in [*providers, "openai", "nobody"]}
    assert kinds == {
        "mine": "openai-compatible",
        "bare": "openai-compatible",
        "google": "gemini",
        "claude": None,
        "empty": None,
        "openai": "openai",
        "nobody": None,
    }
    for name, said in (
        ("claude", 'has api "anthropic-messages", without embeddings'),
        ("empty", "neither api nor"),
    ):
        search["provider"] = name
        message = refused(machine, document, environ={"KEY": "k"})
        assert message.startswith(f"models.providers.{name} cannot be the provider: it ")
        assert said in message


def test_an_entry_that_is_named_is_held_to_its_form(machine) -> None:
    search = {"provider": "mine"}
    entry = {"baseUrl": "http://h", "apiKey": "${NOT_SET}"}
    document = {"models": {"providers": {"mine": entry}}, "memory": {"search": search}}
    assert refused(machine, document) == (
        "models.providers.mine.apiKey needs the environment variable NOT_SET, which is not set"
    )
    search["provider"] = "none"
    settings = machine.agent(document)
    assert settings.providers["mine"].api_key is None
    assert settings.providers["mine"].base_url == "http://h"
    assert settings.warnings == ()


def test_a_candidate_of_the_automatic_choice_that_lacks_its_key_is_said(machine) -> None:
    providers = {
        "google": {"apiKey": "${NOT_SET}"},
        "openai": {"apiKey": {"source": "env"}},
        "x": {"apiKey": 1},
    }
    settings = machine.agent({"models": {"providers": providers}})
    assert settings.warnings == (
        f"{machine.file}: models.providers.google.apiKey needs the environment variable NOT_SET, "
        "which is not set; automatic choice goes on without it",
        f"{machine.file}: models.providers.openai.apiKey is •••; allowed: a string; "
        "automatic choice goes on without it",
    )
    assert settings.providers["openai"].api_key is None


# ---- sources and what is not there yet ---------------------------------------------------------------


def test_sessions_count_only_with_session_memory(machine) -> None:
    for sources in (["memory", "sessions"], ["sessions"]):
        settings = machine.search({"sources": sources})
        assert settings.memory_search.sources == ("memory",)
        assert settings.warnings == (
            f'{machine.file}: {SEARCH}.sources names "sessions", which counts only with '
            "experimental.sessionMemory: true",
        )
    both = machine.search({"sources": ["sessions", "memory"], "experimental": {"sessionMemory": True}})
    assert both.memory_search.sources == ("sessions", "memory")


NOT_YET = "is not available yet in this version"


def test_the_qmd_backend_is_said_to_be_missing(machine) -> None:
    assert machine.agent({"memory": {"backend": "qmd"}}).warnings == (
        f"{machine.file}: memory.backend: the QMD backend {NOT_YET}; the built-in index answers",
    )


def test_what_leaves_the_machine_is_said_where_images_and_audio_are_indexed(machine) -> None:
    media = {"multimodal": {"enabled": True}, "provider": "gemini", "model": "gemini-embedding-2"}
    both = "the images and audio files under the extra paths are uploaded to"
    assert notices(machine.search({})) == ()
    assert notices(machine.search({**media, "multimodal": {"enabled": False}})) == ()
    assert notices(machine.search(media)) == (
        f"multimodal is enabled: {both} Google, whole and with their paths",
    )
    images = {**media, "multimodal": {"enabled": True, "modalities": ["image"]}}
    assert "the images under the extra paths are" in notices(machine.search(images))[0]
    elsewhere = {"baseUrl": "https://me:secret@proxy.example/v1beta?key=abc", "apiKey": "k"}
    (said,) = notices(machine.search({**media, "remote": elsewhere}))
    assert f"{both} https://" in said
    assert "proxy.example/v1beta" in said
    assert "secret" not in said
    assert "abc" not in said


def test_the_postgres_store_is_refused(machine) -> None:
    said = f'{SEARCH}.store.driver: the postgres store {NOT_YET}; use "sqlite"'
    assert refused_search(machine, {"store": {"driver": "postgres"}}) == said


@pytest.mark.parametrize("provider", ["auto", "bundled", "none", "openai", "ollama"])
def test_what_works_is_not_warned_of(machine, provider: str) -> None:
    assert machine.search({"provider": provider, "fallback": "openai"}).warnings == ()
