"""Which sessions may search: the rules of `session.sendPolicy`, decided without looking at anything. Pure."""

from __future__ import annotations

from ..config.related import Match, Scope
from ..values import Session, SessionKind, Value
from .keys import MAIN_KEY, normalised_key

_SAME_AS = {
    SessionKind.MAIN: "direct",
    SessionKind.DIRECT: "direct",
    SessionKind.GROUP: "group",
    SessionKind.CHANNEL: "channel",
}


class ScopeDecision(Value, frozen=True):
    """Whether a session may search, and what was made of it."""

    allowed: bool
    channel: str | None
    """The messaging channel as derived, or as given."""
    chat_type: str | None
    """`direct`, `group`, `channel`, or None where the key says nothing."""
    rule: int | None = None
    """Which rule decided, counted from 1; None for the default."""


def scope_decision(
    scope: Scope, session: Session, *, channel: str | None = None, chat_type: str | None = None
) -> ScopeDecision:
    """The first rule that matches decides, else the default.

    `channel` and `chat_type` are what the session store knows, and win over what the key says. Letter case
    does not count. The owner's own searches are those of the main session.
    """
    derived = ScopeDecision(
        scope.default == "allow",
        (channel or session.channel or "").lower() or None,
        (chat_type or _chat_type(session) or "").lower() or None,
    )
    for number, rule in enumerate(scope.rules, start=1):
        if _matches(rule.match, session.key, derived):
            return ScopeDecision(rule.action == "allow", derived.channel, derived.chat_type, number)
    return derived


def _chat_type(session: Session) -> str | None:
    """The kind of chat a key names; a thread is of the kind of what it hangs on."""
    if session.kind is not SessionKind.THREAD:
        return _SAME_AS.get(session.kind)
    names = normalised_key(session.key).split(":")
    if names[0] in {MAIN_KEY, "direct", "dm"} or "direct" in names[1:2] or "dm" in names[1:2]:
        return "direct"
    return names[1] if names[1] in {"group", "channel"} else None


def _matches(match: Match, key: str, derived: ScopeDecision) -> bool:
    """Whether all that a rule names fits."""
    raw = key.lower()
    if match.channel and match.channel.lower() != derived.channel:
        return False
    if match.chat_type and match.chat_type.lower() != derived.chat_type:
        return False
    if match.raw_key_prefix and not raw.startswith(match.raw_key_prefix.lower()):
        return False
    if not match.key_prefix:
        return True
    prefix = match.key_prefix.lower()
    # A prefix that names an agent was written for the raw key, before there was a field for that.
    return (raw if prefix.startswith("agent:") else normalised_key(raw)).startswith(prefix)
