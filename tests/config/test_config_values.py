from __future__ import annotations

import pytest

from memlane.config import Secret, parse_duration, parse_size
from memlane.errors import ConfigError

SEARCH = "agents.defaults.memorySearch"
COUNT = "a whole number at least {}, at most 1,000,000,000,000"


def nested(path: str, value: object) -> object:
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


@pytest.mark.parametrize(
    ("key", "value", "shown", "allowed"),
    [
        ("query.minScore", 7, "7", "a number from 0 to 1"),
        ("query.minScore", "high", '"high"', "a number from 0 to 1"),
        ("query.minScore", True, "true", "a number from 0 to 1"),
        ("query.maxResults", 0, "0", COUNT.format(1)),
        ("query.maxResults", 6.5, "6.5", COUNT.format(1)),
        ("query.maxResults", True, "true", COUNT.format(1)),
        ("query.hybrid.candidateMultiplier", 21, "21", "a whole number from 1 to 20"),
        ("query.hybrid.temporalDecay.halfLifeDays", 0, "0", "a number above 0, at most 1,000,000,000,000"),
        ("query.hybrid.fusion", "max", '"max"', '"adaptive", "rrf" or "weighted"'),
        ("chunking.tokens", 31, "31", COUNT.format(32)),
        ("chunking.overlap", -1, "-1", COUNT.format(0)),
        ("remote.batch.timeoutMinutes", 0, "0", "a whole number from 1 to 525,600"),
        ("sync.watch", 1, "1", "true or false"),
        ("sync.watch", "yes", '"yes"', "true or false"),
        ("store.driver", "mysql", '"mysql"', '"postgres" or "sqlite"'),
        ("sources", "memory", '"memory"', 'a list of at least one of "memory" or "sessions"'),
        ("sources", [], "an empty list", 'a list of at least one of "memory" or "sessions"'),
        ("model", 3, "3", "a string"),
        ("provider", "  ", '"  "', "a name"),
        ("extraPaths", "~/notes", '"~/notes"', "a list of paths or {path, pattern, evergreen}"),
        ("store.path", 1, "1", "a path"),
        ("store.path", "a\0b", '"a\\u0000b"', "finite numbers, and text without NUL or broken characters"),
        ("model", "\ud800", '"?"', "finite numbers, and text without NUL or broken characters"),
        ("remote.baseUrl", "example.com", '"example.com"', "an address that starts with http:// or https://"),
        (
            "remote.baseUrl",
            "http://h:99999",
            '"http://h:99999"',
            "an address that starts with http:// or https://",
        ),
        ("remote.baseUrl", "http://[", '"http://["', "an address that starts with http:// or https://"),
        ("remote.headers", ["a"], "•••", "an object of strings"),
        ("query", 3, "3", "an object"),
        ("query.hybrid", None, "null", "an object"),
        ("query.hybrid.mmr", [0.7], "a list", "an object"),
    ],
)
def test_a_wrong_value_names_file_key_value_and_what_is_allowed(
    machine, key: str, value: object, shown: str, allowed: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.search(nested(key, value))
    assert str(caught.value) == f"{machine.file}: {SEARCH}.{key} is {shown}; allowed: {allowed}"
    assert caught.value.exit_code == 2


AGENT_B = {"id": "b", "default": True, "memorySearch": {"extraPaths": [{}]}}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            {"agents": {"defaults": {"memorySearch": {"sources": ["memory", "web"]}}}},
            'agents.defaults.memorySearch.sources[1] is "web"; allowed: "memory" or "sessions"',
        ),
        (
            {"agents": {"list": [{"id": "a"}, AGENT_B]}},
            "agents.list[1].memorySearch.extraPaths[0] is an object, without the path it needs",
        ),
        (
            {"memory": {"search": {"extraPaths": ["a", {"path": "b", "evergreen": "no"}]}}},
            'memory.search.extraPaths[1].evergreen is "no"; allowed: true or false',
        ),
        (
            {"memory": {"search": {"extraPaths": ["a", 3]}}},
            "memory.search.extraPaths[1] is 3; allowed: a string or an object",
        ),
        (
            {"memory": {"search": {"extraPaths": [""]}}},
            'memory.search.extraPaths[0] is ""; allowed: the path of a folder or file',
        ),
        (
            {"memory": {"search": {"extraPaths": ["a", {"path": " "}]}}},
            'memory.search.extraPaths[1].path is " "; allowed: the path of a folder or file',
        ),
        (
            {"memory": {"search": {"extraPaths": ["a", "b\0"]}}},
            'memory.search.extraPaths[1] is "b\\u0000"; '
            "allowed: finite numbers, and text without NUL or broken characters",
        ),
        (
            {"memory": {"search": {"extraPaths": [{"path": "a", "pattern": "b\0"}]}}},
            'memory.search.extraPaths[0].pattern is "b\\u0000"; '
            "allowed: finite numbers, and text without NUL or broken characters",
        ),
        (
            {"memory": {"search": {"remote": {"headers": {"X-Key": "k\0"}}}}},
            "memory.search.remote.headers.X-Key is •••; "
            "allowed: finite numbers, and text without NUL or broken characters",
        ),
        (
            {"memory": {"search": {"extraPaths": [{"path": "a", "b\0": 1}]}}},
            "memory.search.extraPaths[0] is an object; "
            "allowed: finite numbers, and text without NUL or broken characters",
        ),
        (
            {"memory": {"qmd": {"paths": [{"path": "a"}, {"path": " "}]}}},
            'memory.qmd.paths[1].path is " "; allowed: the path of a folder or file',
        ),
        (
            {"memory": {"qmd": {"scope": {"rules": [{"action": "let"}]}}}},
            'memory.qmd.scope.rules[0].action is "let"; allowed: "allow" or "deny"',
        ),
        (
            {"memory": {"qmd": {"scope": {"rules": [{"action": "deny", "match": {"chatType": 1}}]}}}},
            "memory.qmd.scope.rules[0].match.chatType is 1; allowed: a string or null",
        ),
        ({"memory": {"backend": "sqlite"}}, 'memory.backend is "sqlite"; allowed: "builtin" or "qmd"'),
        (
            {"memory": {"qmd": {"command": []}}},
            "memory.qmd.command is an empty list; "
            "allowed: a command, or a list of a command and its arguments",
        ),
        (
            {"memory": {"qmd": {"update": {"interval": "soon"}}}},
            'memory.qmd.update.interval is "soon"; '
            'allowed: a duration such as "30s", "5m" or "1h", or a number of minutes',
        ),
        (
            {
                "agents": {
                    "defaults": {"compaction": {"memoryFlush": {"forceFlushTranscriptBytes": "2 parsecs"}}}
                }
            },
            'agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes is "2 parsecs"; '
            'allowed: a size such as "512kb" or "2mb", or a number of bytes',
        ),
        (
            {"agents": {"defaults": {"userTimezone": "Mars/Olympus"}}},
            'agents.defaults.userTimezone is "Mars/Olympus"; '
            "allowed: an IANA time zone such as Europe/Berlin or Asia/Seoul",
        ),
        (
            {"agents": {"defaults": {"sandbox": {"workspaceAccess": "all"}}}},
            'agents.defaults.sandbox.workspaceAccess is "all"; allowed: "none", "ro" or "rw"',
        ),
        (
            {"plugins": {"slots": {"memory": "other"}}},
            'plugins.slots.memory is "other"; allowed: "memory-core" or "none"',
        ),
        ({"agents": []}, "agents is an empty list; allowed: an object"),
        ({"agents": {"defaults": 1}}, "agents.defaults is 1; allowed: an object"),
        ({"agents": {"list": {}}}, "agents.list is an object; allowed: a list of agents"),
        ({"agents": {"list": ["main"]}}, 'agents.list[0] is "main"; allowed: an object with an id'),
        (
            {"agents": {"list": [{"id": "a", "default": "yes"}]}},
            'agents.list[0].default is "yes"; allowed: true or false',
        ),
        ({"models": {"providers": []}}, "models.providers is an empty list; allowed: an object"),
    ],
)
def test_the_place_is_told_as_the_user_wrote_it(machine, document: object, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.agent(document)
    assert str(caught.value) == f"{machine.file}: {said}"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    "key", ["query: {minScore: %s}", "query: {hybrid: {temporalDecay: {halfLifeDays: %s}}}"]
)
def test_only_finite_numbers_pass(machine, number: str, key: str) -> None:
    text = "{agents: {defaults: {memorySearch: {" + key % number + "}}}}"
    with pytest.raises(ConfigError, match="allowed: finite numbers"):
        machine.agent(text)


@pytest.mark.parametrize("depth", [100, 400, 700, 900])
def test_deep_nesting_is_an_error_like_others(machine, depth: int) -> None:
    text = "{memory: {search: {extraPaths: " + "[" * depth + "]" * depth + "}}}"
    with pytest.raises(ConfigError, match=r"openclaw\.json"):
        machine.agent(text)


def test_a_whole_number_may_be_written_with_a_point(machine) -> None:
    search = machine.agent("{memory: {search: {query: {maxResults: 8.0, minScore: 1}}}}").memory_search
    assert search.query.max_results == 8
    assert isinstance(search.query.max_results, int)
    assert search.query.min_score == 1.0


def test_lists_are_put_in_order(machine) -> None:
    given = {"sources": ["memory", "memory"], "multimodal": {"modalities": ["all", "image"]}}
    search = machine.search(given).memory_search
    assert search.sources == ("memory",)
    assert search.multimodal.modalities == ("image", "audio")


@pytest.mark.parametrize(
    ("given", "normal"),
    [((0.7, 0.3), (0.7, 0.3)), ((1, 1), (0.5, 0.5)), ((0, 0), (0.7, 0.3)), ((0, 0.2), (0, 1))],
)
def test_weights_are_scaled_to_a_sum_of_one(
    machine, given: tuple[float, ...], normal: tuple[float, ...]
) -> None:
    weights = {"vectorWeight": given[0], "textWeight": given[1]}
    hybrid = machine.search({"query": {"hybrid": weights}}).memory_search.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == normal


def test_a_small_chunk_gets_a_fitting_overlap_when_none_is_asked_for(machine) -> None:
    chunking = machine.search({"chunking": {"tokens": 64}}).memory_search.chunking
    assert (chunking.tokens, chunking.overlap) == (64, 12)
    assert machine.search({"chunking": {"tokens": 100}}).memory_search.chunking.overlap == 80


def test_blank_text_counts_as_unset(machine) -> None:
    settings = machine.search({"model": " ", "remote": {"baseUrl": "", "apiKey": ""}, "store": {"path": ""}})
    assert settings.memory_search.model is None
    assert settings.memory_search.remote.base_url is None
    assert settings.memory_search.remote.api_key is None
    assert settings.store_path == machine.state_dir / "memory" / "main.sqlite"


def test_an_address_keeps_its_query(machine) -> None:
    url = "https://x.example/v1?api-version=2024-02-01"
    assert machine.search({"remote": {"baseUrl": url}}).memory_search.remote.base_url == url


def test_a_command_is_not_split(machine) -> None:
    for command in ("C:\\Program Files\\qmd\\qmd.exe", "/opt/my tools/qmd"):
        assert machine.agent({"memory": {"qmd": {"command": command}}}).memory.qmd.command == (command,)
    words = ["npx", "-y", "@tobilu/qmd"]
    assert machine.agent({"memory": {"qmd": {"command": words}}}).memory.qmd.command == tuple(words)


# ---- durations and sizes -----------------------------------------------------------------------------

DURATIONS = {
    "30s": 30,
    "5m": 300,
    "1h": 3600,
    " 2 D ": 172800,
    "500ms": 0.5,
    "1.5h": 5400,
    5: 300,
    "5": 300,
    0.5: 30,
}
SIZES = {
    0: 0,
    1000: 1000,
    2.0: 2,
    "2mb": 2097152,
    "2 MiB": 2097152,
    "512k": 524288,
    "1.5g": 1610612736,
    "10": 10,
}


@pytest.mark.parametrize(("text", "seconds"), [*DURATIONS.items(), (0, 0), ("0s", 0)])
def test_durations(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "-5m", -1, "5 parsecs", "1h30m", True, None, [], float("nan"), 10**400, "٣s"]
)
def test_what_is_not_a_duration(text: object) -> None:
    with pytest.raises(ConfigError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(("text", "size"), [*SIZES.items(), ("10B", 10)])
def test_sizes(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "mb", "-1", -1, 1.5, "1.5", "2tb", True, None, float("inf"), "9" * 400])
def test_what_is_not_a_size(text: object) -> None:
    with pytest.raises(ConfigError, match="is not a size"):
        parse_size(text)


def test_durations_and_sizes_in_the_file(machine) -> None:
    settings = machine.agent(
        {
            "memory": {"qmd": {"update": {"interval": "30s", "embedInterval": 2}}},
            "agents": {"defaults": {"compaction": {"memoryFlush": {"forceFlushTranscriptBytes": "2mb"}}}},
        }
    )
    assert (settings.memory.qmd.update.interval, settings.memory.qmd.update.embed_interval) == (30, 120)
    assert settings.compaction.memory_flush.force_flush_transcript_bytes == 2 * 1024 * 1024


# ---- variables ---------------------------------------------------------------------------------------


def test_variables_are_put_in(machine) -> None:
    environ = {"KEY": "k-1", "HOST": "h.example", "dir": "~/notes", "EMPTY": ""}
    headers = {"X-A": "a ${KEY} b ${KEY}"}
    search = machine.search(
        {
            "remote": {"apiKey": "${KEY}", "baseUrl": "https://${HOST}/${KEY}", "headers": headers},
            "extraPaths": ["${dir}", {"path": "${dir}/x"}],
            "model": "${EMPTY}",
        },
        environ=environ,
    ).memory_search
    assert search.remote.api_key == "k-1"
    assert search.remote.base_url == "https://h.example/k-1"
    assert search.remote.headers == {"X-A": "a k-1 b k-1"}
    notes = machine.home / "notes"
    assert [entry.path for entry in search.extra_paths] == [str(notes), str(notes / "x")]
    assert search.model is None


def test_a_doubled_dollar_means_the_text_itself(machine) -> None:
    flush = {"compaction": {"memoryFlush": {"prompt": "write $${NAME}, $5, ${}, ${a b}, $NAME and ${NAME}"}}}
    settings = machine.agent({"agents": {"defaults": flush}}, environ={"NAME": "${NAME}!"})
    assert settings.compaction.memory_flush.prompt == "write ${NAME}, $5, ${}, ${a b}, $NAME and ${NAME}!"


def test_a_missing_variable_names_the_key(machine) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.search({"remote": {"headers": {"X-A": "${NOT_SET}"}}})
    assert str(caught.value) == (
        f"{machine.file}: {SEARCH}.remote.headers.X-A needs the environment variable NOT_SET, "
        "which is not set"
    )
    assert caught.value.hint == "set NOT_SET, or write $${NOT_SET} where the text itself is meant"
    with pytest.raises(ConfigError, match=r"memorySearch.extraPaths\[1\].path needs .* NOT_SET"):
        machine.search({"extraPaths": ["a", {"path": "${NOT_SET}"}]})


def test_a_variable_that_nobody_uses_need_not_be_set(machine) -> None:
    unset = {"model": "${NOT_SET}", "remote": {"apiKey": "${NOT_SET}"}}
    own = {"model": "m", "remote": {"apiKey": "k"}}
    document = {"agents": {"defaults": {"memorySearch": unset}, "list": [{"id": "a", "memorySearch": own}]}}
    search = machine.agent(document).memory_search
    assert (search.model, search.remote.api_key) == ("m", "k")


def test_a_value_from_the_environment_is_checked_and_not_shown(machine) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.search({"remote": {"baseUrl": "${ADDRESS}"}}, environ={"ADDRESS": "hidden-value"})
    assert "hidden-value" not in str(caught.value)
    assert '"${ADDRESS}"' in str(caught.value)


# ---- secrets -----------------------------------------------------------------------------------------


def test_secrets_are_no_part_of_errors_and_representations(machine) -> None:
    remote: object = {"apiKey": "sk-1", "headers": {"Authorization": "sk-2"}}
    configuration = machine.load(
        {
            "agents": {"defaults": {"memorySearch": {"remote": remote}}},
            "models": {"providers": {"openai": {"apiKey": "sk-3", "headers": {"X-Any": "sk-4"}}}},
        },
        environ={"OTHER": "sk-5"},
    )
    settings = configuration.agent()
    assert str(settings.memory_search.remote.api_key) == "sk-1"
    assert settings.providers["openai"].headers["X-Any"] == "sk-4"
    assert "sk-" not in repr(configuration) + repr(settings) + repr(configuration.source)
    for remote in ({"apiKey": ["sk-1"]}, {"apiKey": "sk-1\nx"}, {"headers": {"a": ["sk-1"]}}, ["sk-1"]):
        with pytest.raises(ConfigError) as caught:
            machine.search({"remote": remote})
        assert "sk-" not in str(caught.value)


def test_a_secret_is_a_text_that_hides_itself() -> None:
    secret = Secret("sk-1")
    assert (secret, f"{secret}", repr(secret)) == ("sk-1", "sk-1", "'•••'")


def test_a_header_cannot_smuggle_in_another_one(machine) -> None:
    with pytest.raises(ConfigError, match="allowed: text without line breaks and control characters"):
        machine.search({"remote": {"headers": {"X-A": "a\r\nX-B: b"}}})
