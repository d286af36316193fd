"""Session keys: which kind of conversation a key names, and whether only the owner is in it. Pure.

    agent:<agentId>:<rest>        the prefix may be missing; letter case does not count
    <rest>: main | direct:<peer> | <channel>:direct|dm:<peer> | <channel>:group:<id> | <channel>:channel:<id>
            | …:thread:<id> | subagent:<id> | cron:<id>

What is not one of these is UNKNOWN and shared: a key that we fail to understand must not open private memory.
"""

from __future__ import annotations

import re

from ..values import Session, SessionKind

MAIN_KEY = "main"

_AGENT = re.compile(r"\Aagent:([^:]+):")
_KINDS = {
    "direct": SessionKind.DIRECT,
    "dm": SessionKind.DIRECT,
    "group": SessionKind.GROUP,
    "channel": SessionKind.CHANNEL,
}
_HEARTBEAT = "heartbeat"
_ALONE = {"subagent": SessionKind.SUBAGENT, "cron": SessionKind.CRON}


def normalised_key(key: str) -> str:
    """The key in lower case, without a leading `agent:<id>:`."""
    return _AGENT.sub("", key.lower())


def session_from_key(
    key: str | None, *, agent: str | None = None, owner_is_only_peer: bool = False
) -> Session:
    """The session a key names. None is the owner at this machine: the main session.

    Private are the main session and, with `owner_is_only_peer`, direct ones. A key that names another agent
    than `agent` is UNKNOWN: whoever talks to that one has no business with the memory of this one.
    """
    if key is None:
        return Session(MAIN_KEY, SessionKind.MAIN, private=True)
    named = _AGENT.match(key.lower())
    if agent is not None and named is not None and named[1] != agent.lower():
        return Session(key, SessionKind.UNKNOWN, private=False)
    kind, channel = _kind(normalised_key(key))
    private = kind is SessionKind.MAIN or (kind is SessionKind.DIRECT and owner_is_only_peer)
    return Session(key, kind, private, channel)


def is_housekeeping(key: str) -> bool:
    """Whether nobody talks in the session a key names: a sub-agent's, a scheduled job's, a heartbeat's."""
    names = normalised_key(key).split(":")
    if names[0] in {*_ALONE, _HEARTBEAT}:
        return True
    return names[-1] == _HEARTBEAT and names[-2] not in _KINDS  # a group may bear that name


def _kind(rest: str) -> tuple[SessionKind, str | None]:
    if rest == MAIN_KEY:
        return SessionKind.MAIN, None
    names = rest.split(":")
    if "" in names or len(names) < 2:
        return SessionKind.UNKNOWN, None
    if names[0] in _ALONE:
        return _ALONE[names[0]], None
    channel = names[0] if len(names) > 2 and names[1] in _KINDS else None
    if "thread" in names[1:-1]:
        return SessionKind.THREAD, channel
    if channel is not None:
        return _KINDS[names[1]], channel
    if names[0] in {"direct", "dm"}:
        return SessionKind.DIRECT, None
    return SessionKind.UNKNOWN, None
