from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlane.transcripts.keys import normalised_key, session_from_key
from memlane.values import Session, SessionKind

CASES = [
    ("main", SessionKind.MAIN, None),
    ("direct:+49123", SessionKind.DIRECT, None),
    ("dm:7", SessionKind.DIRECT, None),
    ("telegram:direct:7", SessionKind.DIRECT, "telegram"),
    ("telegram:dm:7", SessionKind.DIRECT, "telegram"),
    ("whatsapp:group:1@g.us", SessionKind.GROUP, "whatsapp"),
    ("matrix:channel:!room:example.org", SessionKind.CHANNEL, "matrix"),
    ("discord:channel:1:thread:2", SessionKind.THREAD, "discord"),
    ("telegram:group:-100:thread:42", SessionKind.THREAD, "telegram"),
    ("telegram:direct:7:thread:42", SessionKind.THREAD, "telegram"),
    ("main:thread:5", SessionKind.THREAD, None),
    ("subagent:9f", SessionKind.SUBAGENT, None),
    ("cron:daily", SessionKind.CRON, None),
    ("cron:daily:run:1", SessionKind.CRON, None),
    ("", SessionKind.UNKNOWN, None),
    (" main", SessionKind.UNKNOWN, None),
    ("main\n", SessionKind.UNKNOWN, None),
    ("mains", SessionKind.UNKNOWN, None),
    ("ｍａｉｎ", SessionKind.UNKNOWN, None),
    ("main:", SessionKind.UNKNOWN, None),
    ("direct", SessionKind.UNKNOWN, None),
    ("direct:", SessionKind.UNKNOWN, None),
    (":direct:7", SessionKind.UNKNOWN, None),
    ("telegram:direct:", SessionKind.UNKNOWN, None),
    ("telegram:7", SessionKind.UNKNOWN, None),
    ("group:7", SessionKind.UNKNOWN, None),
    ("thread:7", SessionKind.UNKNOWN, None),
    ("subagent", SessionKind.UNKNOWN, None),
    ("agent:main", SessionKind.UNKNOWN, None),
    ("agent:a:agent:b:main", SessionKind.UNKNOWN, None),
    ("agent::main", SessionKind.UNKNOWN, None),
    ("hook:mail", SessionKind.UNKNOWN, None),
    ("a:b:c:direct:7", SessionKind.UNKNOWN, None),
]


@pytest.mark.parametrize(("rest", "kind", "channel"), CASES)
def test_kinds_in_any_case(rest, kind, channel):
    for key in (rest, rest.upper()):
        session = session_from_key(key)
        assert (session.key, session.kind, session.channel) == (key, kind, channel)
        assert session.private == (kind is SessionKind.MAIN)


@pytest.mark.parametrize(
    ("rest", "kind", "channel"), [case for case in CASES if not case[0].startswith("agent:")]
)
def test_kinds_behind_the_agents_prefix(rest, kind, channel):
    for prefix in ("agent:main:", "AGENT:Ops-2:"):
        session = session_from_key(prefix + rest)
        assert (session.kind, session.channel) == (kind, channel)


@pytest.mark.parametrize(("rest", "kind", "channel"), CASES)
def test_direct_ones_are_private_where_the_owner_is_the_only_peer(rest, kind, channel):
    private = kind in {SessionKind.MAIN, SessionKind.DIRECT}
    assert session_from_key(rest, owner_is_only_peer=True).private is private


def test_no_key_is_the_owner_at_this_machine():
    assert session_from_key(None) == Session("main", SessionKind.MAIN, private=True)


@pytest.mark.parametrize("rest", ["main", "direct:7", "discord:group:1", "telegram:dm:7:thread:1"])
def test_a_key_of_another_agent_is_unknown(rest):
    for agent in ("work", "mai", ""):
        session = session_from_key(f"agent:main:{rest}", agent=agent, owner_is_only_peer=True)
        assert session == Session(f"agent:main:{rest}", SessionKind.UNKNOWN, private=False)


@pytest.mark.parametrize(("rest", "kind", "channel"), CASES)
def test_a_key_of_the_agent_itself_or_of_none_is_understood(rest, kind, channel):
    if rest.startswith("agent:"):
        return
    for key in (rest, f"agent:main:{rest}", f"AGENT:Main:{rest}"):
        for agent in ("main", "MAIN", None):
            assert session_from_key(key, agent=agent) == session_from_key(key)
            assert session_from_key(key, agent=agent).kind is kind


def test_no_key_is_the_owner_whatever_the_agent():
    assert session_from_key(None, agent="work").private


def test_normalised_keys():
    assert normalised_key("Agent:Main:Discord:GROUP:1") == "discord:group:1"
    assert normalised_key("Discord:group:1") == "discord:group:1"
    assert normalised_key("agent:a:agent:b:main") == "agent:b:main"


WORDS = st.sampled_from(
    ["agent", "main", "direct", "dm", "group", "channel", "thread", "subagent", "cron", "x", ""]
)


@given(st.lists(WORDS | st.text(max_size=3), max_size=7).map(":".join))
@example("agent:x:main")
def test_only_the_main_session_is_private_by_default(key):
    session = session_from_key(key)
    rest = (
        key.lower().split(":", 2)[2]
        if key.lower().startswith("agent:") and key.count(":") > 1
        else key.lower()
    )
    assert session.private == (rest == "main" and not key.lower().startswith("agent::"))


@given(st.lists(WORDS, min_size=1, max_size=7), st.sampled_from(["", "agent:x:"]))
def test_shared_kinds_are_never_private(words, prefix):
    session = session_from_key(prefix + ":".join(words), owner_is_only_peer=True)
    assert session.private == (session.kind in {SessionKind.MAIN, SessionKind.DIRECT})
    if words[0] != "agent" and "thread" in words[1:-1]:
        assert not session.private
